import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import { type Answer, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import {
  expectLedgersToAgree,
  type LedgerSnapshot,
  ledgerAtRest,
  ownedBy,
} from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* What parallel and greedy calls can take from a balance: what there is, and nothing more. */

let gateway: TestGateway;
let callers: Callers;
let stubborn: Upstream;

/** What the stubborn upstream says it has put out, whatever limit it is given. */
let putOut = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  stubborn = await startUpstream(({ body }, response) => {
    const { stream } = JSON.parse(body) as { stream?: boolean };
    const text = 'word '.repeat(putOut);
    const usage = { prompt_tokens: 10, completion_tokens: putOut, total_tokens: 10 + putOut };
    const choice = { index: 0, finish_reason: 'stop' };
    const head = { id: 'c', object: 'chat.completion', created: 1, model: 'stubborn' };
    if (stream !== true) {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ ...head, choices: [{ ...choice, message: { role: 'assistant', content: text } }], usage }),
      );
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    response.end(`data: ${JSON.stringify({ ...head, choices: [{ ...choice, delta: { content: text } }], usage })}\n\n`);
  });
  await gateway.addChannel({ models: ['gpt-4o', 'gpt-3.5-turbo-instruct', 'o3', 'unheard-of', 'o3-mini'] });
  await gateway.addChannel({ models: ['stubborn'], baseUrl: stubborn.url });
  await gateway.setOption('ModelMaxOutputTokens', '{"stubborn":100,"o3-mini":4000}');
  await gateway.setOption(
    'ModelRatio',
    '{"gpt-4o":1.25,"gpt-3.5-turbo-instruct":1,"o3":1,"o3-mini":1,"unheard-of":1,"stubborn":1}',
  );
  await gateway.setOption('CompletionRatio', '{"unheard-of":1,"stubborn":1}');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await stubborn?.stop();
});
beforeEach(() => gateway.provider.reset());

/** The books at rest; every settlement recomputed from its event alone, and the user not below zero. */
const books = <Result>(user: TestUser, work: (books: LedgerSnapshot, charged: number) => Result): Promise<Result> =>
  withDatabase(gateway.config, quietLog, async (database) => {
    const read = await ledgerAtRest(database);
    await expectLedgersToAgree(database, read);
    let charged = 0;
    for (const { settled } of read.calls.values())
      for (const event of settled) {
        const cost = chargeOf(event.usage, event.price);
        expect(event.charged + event.uncovered).toBe(cost);
        if (event.facts.userId === user.actor.id) charged += event.charged;
      }
    expect(ownedBy(read, user.actor.id)).toBeGreaterThanOrEqual(0);
    return work(read, charged);
  });

const statuses = (answers: readonly Answer[]) => new Set(answers.map(({ status }) => status));
const finishOf = ({ text }: Answer): string =>
  (JSON.parse(text) as { choices: { finish_reason: string }[] }).choices[0]?.finish_reason ?? '';
const suspenseIn = ({ calls }: LedgerSnapshot): number =>
  [...calls.values()].flatMap(({ settled }) => settled).reduce((sum, { uncovered }) => sum + uncovered, 0);

describe('200 concurrent calls without a limit', () => {
  test('spend no more than the balance, though each answer is of the model’s maximum length', async () => {
    gateway.provider.script('gpt-4o', { tokens: { completion: 16_000 } });
    const balance = 500_000;
    const user = await gateway.addUser(balance);
    const caller = callers.with(await gateway.addApiKey(user));

    const answers = await Promise.all(Array.from({ length: 200 }, () => caller.chat({ model: 'gpt-4o' })));

    expect(statuses(answers)).toEqual(new Set([200, 403]));
    for (const answer of answers)
      if (answer.status === 403) expect(errorIn(answer).code).toBe('insufficient_user_quota');
    await books(user, (read, charged) => {
      expect(charged).toBeLessThanOrEqual(balance);
      // Six such answers fit, and what is left is worth a part of a seventh.
      expect(charged).toBeGreaterThan(400_000);
      expect(suspenseIn(read)).toBe(0);
    });
  });

  test('reserve for every requested choice', async () => {
    gateway.provider.script('gpt-4o', { tokens: { completion: 16_000 } });
    const balance = 500_000;
    const user = await gateway.addUser(balance);
    const caller = callers.with(await gateway.addApiKey(user));
    const answers = await Promise.all(Array.from({ length: 50 }, () => caller.chat({ model: 'gpt-4o', n: 4 })));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    await books(user, (read, charged) => {
      expect(charged).toBeLessThanOrEqual(balance);
      expect(suspenseIn(read)).toBe(0);
    });
  });
});

describe('a completion of 100 prompts', () => {
  const prompts = Array.from({ length: 100 }, (_, index) => `Prompt ${index}`);

  test('with a possible output beyond the balance is refused', async () => {
    const user = await gateway.addUser(5_000);
    const caller = callers.with(await gateway.addApiKey(user));
    const answer = await caller.send('/v1/completions', {
      method: 'POST',
      body: { model: 'gpt-3.5-turbo-instruct', prompt: prompts, max_tokens: 1000 },
    });
    expect([answer.status, errorIn(answer).code]).toEqual([403, 'insufficient_user_quota']);
    expect(gateway.provider.tally().calls).toBe(0);
  });

  test('without a limit shares the balance among its answers', async () => {
    gateway.provider.script('gpt-3.5-turbo-instruct', { tokens: { completion: 4_000 } });
    const balance = 200_000;
    const user = await gateway.addUser(balance);
    const caller = callers.with(await gateway.addApiKey(user));
    const answer = await caller.send('/v1/completions', {
      method: 'POST',
      body: { model: 'gpt-3.5-turbo-instruct', prompt: prompts },
    });
    expect(answer.status).toBe(200);
    expect(finishOf(answer)).toBe('length');
    await books(user, (read, charged) => {
      expect(charged).toBeLessThanOrEqual(balance);
      expect(charged).toBeGreaterThan(balance / 2);
      expect(suspenseIn(read)).toBe(0);
    });
  });
});

describe('a caller whose balance covers part of the maximum answer', () => {
  const balance = 20_000;
  const clientOf = async (user: TestUser) =>
    new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });

  test('gets that part, and learns that the limit was reached', async () => {
    gateway.provider.script('gpt-4o', { tokens: { completion: 16_000 } });
    const user = await gateway.addUser(balance);
    const client = await clientOf(user);
    const messages = [{ role: 'user' as const, content: 'Count to a million' }];
    const answer = await client.chat.completions.create({ model: 'gpt-4o', messages });
    expect(answer.choices[0]?.finish_reason).toBe('length');
    expect(answer.usage?.completion_tokens).toBeGreaterThan(1_000);
    expect(await gateway.available(user)).toBeGreaterThanOrEqual(0);
    await books(user, (_, charged) => expect(charged).toBeLessThanOrEqual(balance));
  });

  test.each([
    ['gpt-4o', 'max_tokens'],
    ['o3', 'max_completion_tokens'],
  ])('in %s sees the limit reported as %s', async (model, member) => {
    const user = await gateway.addUser(balance);
    const answer = await callers.with(await gateway.addApiKey(user)).chat({ model, stream: true });
    expect(answer.status).toBe(200);
    const [seen] = gateway.provider.tally().requests;
    expect(seen?.body[member]).toBeGreaterThan(1_000);
    expect(Object.keys(seen?.body ?? {}).filter((name) => /max/.test(name))).toEqual([member]);
  });

  test('of a model with unknown limits gets a limit that every upstream accepts', async () => {
    const user = await gateway.addUser(balance);
    await callers.with(await gateway.addApiKey(user)).chat({ model: 'unheard-of' });
    expect(gateway.provider.tally().requests[0]?.body.max_tokens).toBe(8_192);
  });

  test('of a model with limits set by the operator gets these', async () => {
    const user = await gateway.addUser(balance);
    await callers.with(await gateway.addApiKey(user)).chat({ model: 'o3-mini' });
    expect(gateway.provider.tally().requests[0]?.body.max_completion_tokens).toBeUndefined();
  });

  test('is refused where the balance does not cover a short answer', async () => {
    const user = await gateway.addUser(1_000);
    const answer = await callers.with(await gateway.addApiKey(user)).chat({ model: 'gpt-4o' });
    expect([answer.status, errorIn(answer).code]).toEqual([403, 'insufficient_user_quota']);
  });

  test('is limited to the allowance of the API key as well', async () => {
    gateway.provider.script('gpt-4o', { tokens: { completion: 16_000 } });
    const user = await gateway.addUser(10_000_000);
    const caller = callers.with(await gateway.addApiKey(user, { quota: balance }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => caller.chat({ model: 'gpt-4o' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    await books(user, (_, charged) => expect(charged).toBeLessThanOrEqual(balance));
  });
});

test('a request is sent unchanged where the balance covers the maximum answer', async () => {
  const user = await gateway.addUser(10_000_000);
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
  await callers.with(await gateway.addApiKey(user)).chat(body);
  expect(gateway.provider.tally().requests[0]?.body).toEqual(body);
});

describe('an upstream that ignores limits', () => {
  test('is paid from the rest of the balance; the remainder is in suspense, and not a debt', async () => {
    putOut = 20_000;
    const balance = 5_000;
    const user = await gateway.addUser(balance);
    const caller = callers.with(await gateway.addApiKey(user));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => caller.chat({ model: 'stubborn', max_tokens: 300 })),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(1);
    await books(user, (read, charged) => {
      expect(charged).toBe(balance);
      expect(suspenseIn(read)).toBeGreaterThan(0);
    });
    expect(await gateway.available(user)).toBe(0);
  });

  test('has its stream ended where the balance ends', async () => {
    putOut = 20_000;
    const balance = 5_000;
    const user = await gateway.addUser(balance);
    const answer = await callers.with(await gateway.addApiKey(user)).chat({ model: 'stubborn', stream: true });
    expect(answer.status).toBe(200);
    await books(user, (_, charged) => expect(charged).toBeLessThanOrEqual(balance));
  });
});

describe('a model whose vendor does not count thinking against max_tokens', () => {
  const thought = { prompt_tokens: 10, completion_tokens: 20_100, total_tokens: 20_110 };
  const usage = { ...thought, completion_tokens_details: { reasoning_tokens: 20_000 } };
  const body = { model: 'qwen-plus', enable_thinking: true, max_tokens: 100 };
  let vendor: Upstream;

  beforeAll(async () => {
    vendor = await startUpstream((_, response) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: '42' }, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'q', choices, usage }));
    });
    await gateway.addChannel({ type: 17, models: ['qwen-plus'], baseUrl: vendor.url });
    await gateway.setOption('ModelRatio', '{"qwen-plus":1}');
    await gateway.setOption('CompletionRatio', '{"qwen-plus":1}');
  });
  afterAll(() => vendor?.stop());

  test('is believed about its thinking, which the caller pays for from the reservation', async () => {
    const user = await gateway.addUser(1_000_000);
    expect((await callers.with(await gateway.addApiKey(user)).chat(body)).status).toBe(200);
    await books(user, (read, charged) => {
      const [story] = [...read.calls.values()].slice(-1);
      expect(story?.settled[0]).toMatchObject({
        usageSource: 'upstream',
        usage: { output: 100, reasoning: 20_000 },
        uncovered: 0,
      });
      expect(charged).toBe(20_110);
      expect(story?.reserved[0]?.reserved).toBeGreaterThanOrEqual(charged);
    });
  });

  test('is not called for a caller whose balance covers the answer only', async () => {
    const caller = callers.with(await gateway.addApiKey(await gateway.addUser(5_000)));
    const answer = await caller.chat(body);
    expect([answer.status, errorIn(answer).code]).toEqual([403, 'insufficient_user_quota']);
    expect((await caller.chat({ ...body, enable_thinking: false })).status).toBe(200);
  });
});

describe('a model that a channel maps to one with a higher count of pictures', () => {
  test('is believed about that count, which the caller pays for', async () => {
    const reported = { prompt_tokens: 36_800, completion_tokens: 1, total_tokens: 36_801 };
    const vendor = await startUpstream((_, response) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'A cat' }, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, choices, usage: reported }));
    });
    try {
      await gateway.addChannel({
        models: ['gpt-4.1'],
        modelMapping: '{"gpt-4.1":"gpt-4o-mini"}',
        baseUrl: vendor.url,
      });
      await gateway.setOption('ModelRatio', '{"gpt-4.1":1}');
      const user = await gateway.addUser(1_000_000);
      const image_url = { url: 'https://pictures.example/cat.png' };
      const messages = [{ role: 'user', content: [{ type: 'image_url', image_url }] }];
      const caller = callers.with(await gateway.addApiKey(user));
      expect((await caller.chat({ model: 'gpt-4.1', messages, max_tokens: 10 })).status).toBe(200);
      await books(user, (read) => {
        const [story] = [...read.calls.values()].slice(-1);
        expect(story?.settled[0]).toMatchObject({ usageSource: 'upstream', usage: { input: 36_800 }, uncovered: 0 });
      });
    } finally {
      await vendor.stop();
    }
  });
});
