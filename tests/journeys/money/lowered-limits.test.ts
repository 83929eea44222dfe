import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { type Answer, type Callers, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { messageOf } from '../../support/upstreams/anthropic-upstream.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/*
 * Limits to the output that cannot be paid in full: they are lowered on their way upstream, in every dialect and for
 * every wire. One quota per token in and out.
 */

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
/** What was sent upstream last. */
let sent: JsonObject = {};
let usage: JsonObject = {};

const chatAnswer = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
};
const geminiAnswer = {
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 },
};

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startUpstream(({ url: path, body }, response) => {
    const parsed = parseJson(body);
    sent = isObject(parsed) ? parsed : {};
    const answer = path.includes('/messages')
      ? messageOf([{ type: 'text', text: 'Hello.' }], usage)
      : path.includes('generateContent')
        ? geminiAnswer
        : chatAnswer;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const channel = (type: number, models: string[]) => gateway.addChannel({ type, models, baseUrl: upstream.url });
  await channel(1, ['open']);
  await channel(14, ['claude-sonnet-4-5']);
  await channel(24, ['gemini-2.5-pro']);
  const ones = '{"open":1,"claude-sonnet-4-5":1,"gemini-2.5-pro":1}';
  for (const option of ['ModelRatio', 'CompletionRatio', 'CacheRatio', 'CreateCacheRatio'])
    await gateway.setOption(option, ones);
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(() => {
  usage = {};
});

type Dialect = 'openai' | 'anthropic' | 'gemini';
const models = ['open', 'claude-sonnet-4-5', 'gemini-2.5-pro'] as const;
type Model = (typeof models)[number];

const budget = 20_000;
const limit = 128_000;
const messages = [{ role: 'user', content: 'Hello' }];

/** A call of an agent: a huge limit, a large budget to think. */
async function ask(dialect: Dialect, model: Model, balance: number): Promise<Answer> {
  const caller = callers.with(await gateway.addApiKey(await gateway.addUser(balance)));
  const thinking = { type: 'enabled', budget_tokens: budget };
  switch (dialect) {
    case 'openai':
      return caller.send('/v1/chat/completions', {
        method: 'POST',
        body: { model, messages, max_tokens: limit, thinking },
      });
    case 'anthropic':
      return caller.send('/v1/messages', { method: 'POST', body: { model, messages, max_tokens: limit, thinking } });
    case 'gemini':
      return caller.send(`/v1beta/models/${model}:generateContent`, {
        method: 'POST',
        body: {
          contents: [{ parts: [{ text: 'Hello' }] }],
          generationConfig: { maxOutputTokens: limit, thinkingConfig: { thinkingBudget: budget } },
        },
      });
  }
}

/** The limit and the budget that went upstream, whatever the wire. */
function sentLimits(): { limit: unknown; budget: unknown } {
  const { generationConfig: config, thinking, max_tokens: max } = sent;
  if (isObject(config)) {
    const { thinkingConfig: thought, maxOutputTokens } = config;
    return { limit: maxOutputTokens, budget: isObject(thought) ? thought.thinkingBudget : undefined };
  }
  return { limit: max, budget: isObject(thinking) ? thinking.budget_tokens : undefined };
}

const everyWay = (['openai', 'anthropic', 'gemini'] as const).flatMap((dialect) =>
  models.map((model) => [dialect, model] as const),
);

describe('a limit that the balance does not cover', () => {
  test.each(everyWay)(
    'requested by %s of %s is lowered upstream, above its thinking budget, and reported',
    async (dialect, model) => {
      const answer = await ask(dialect, model, 10_000);
      expect(answer.status).toBe(200);
      const stated = Number(answer.headers['x-output-limit']);
      expect(stated).toBeGreaterThan(1_900);
      expect(stated).toBeLessThan(10_000);
      const { limit: lowered, budget: thought } = sentLimits();
      expect(lowered).toBe(stated);
      if (thought !== undefined) {
        expect(thought).toBeLessThan(stated);
        expect(thought).toBeGreaterThanOrEqual(1_024);
      }
    },
  );

  test.each(everyWay)('requested by %s of %s is unchanged where the balance covers it', async (dialect, model) => {
    const answer = await ask(dialect, model, 50_000_000);
    expect(answer.status).toBe(200);
    expect(answer.headers['x-output-limit']).toBeUndefined();
    expect(sentLimits().limit).toBe(limit);
  });

  test.each(everyWay)(
    'requested by %s of %s is refused where the balance does not cover a short answer',
    async (dialect, model) => {
      expect((await ask(dialect, model, 200)).status).not.toBe(200);
    },
  );

  test('is refused where the operator forbids lower limits', async () => {
    await gateway.setOption('LowerOutputLimitEnabled', 'false');
    try {
      for (const dialect of ['openai', 'anthropic', 'gemini'] as const)
        expect((await ask(dialect, 'claude-sonnet-4-5', 10_000)).status).not.toBe(200);
    } finally {
      await gateway.setOption('LowerOutputLimitEnabled', 'true');
    }
  });
});

describe('a conversation that is summarised before the answer', () => {
  const rounds = [
    { type: 'compaction', input_tokens: 60_000, output_tokens: 3_500 },
    { type: 'message', input_tokens: 50, output_tokens: 100 },
  ];
  const long = [{ role: 'user', content: 'word '.repeat(14_000) }];

  test.each<[string, JsonObject]>([
    ['context_management', { context_management: { edits: [{ type: 'compact_20260112' }] } }],
    ['compaction', { compaction: { trigger: { type: 'input_tokens', value: 50_000 } } }],
  ])('by %s is charged for tokens beyond prompt and limit', async (_what, request) => {
    usage = { input_tokens: 50, output_tokens: 100, iterations: rounds };
    const user = await gateway.addUser(5_000_000);
    const caller = callers.with(await gateway.addApiKey(user));
    const body = { model: 'claude-sonnet-4-5', messages: long, max_tokens: 100, ...request };
    expect((await caller.send('/v1/messages', { method: 'POST', body })).status).toBe(200);
    await withDatabase(gateway.config, quietLog, async (database) => {
      const read = await ledgerAtRest(database);
      await expectLedgersToAgree(database, read);
      const settled = [...read.calls.values()].flatMap((story) => story.settled);
      const [event] = settled.filter(({ facts }) => facts.userId === user.actor.id);
      const used = { input: 60_050, output: 3_600 };
      // Output of this family costs five times its input, whatever an operator says.
      expect(event).toMatchObject({ usage: used, charged: 78_050, uncovered: 0, usageSource: 'upstream' });
      expect(event?.reserved).toBeGreaterThanOrEqual(78_050);
    });
  });
});
