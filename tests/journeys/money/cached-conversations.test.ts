import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import { isObject, type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import { ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import {
  type AnthropicUpstream,
  eventsOf,
  eventText,
  messageOf,
  startAnthropicUpstream,
} from '../../support/upstreams/anthropic-upstream.js';

/* A conversation that a client of OpenAI's interfaces has with Anthropic, whose cache keeps what is marked, and nothing else. */

const model = 'claude-sonnet-4-5';

let gateway: TestGateway;
let upstream: AnthropicUpstream;
let user: TestUser;
let openai: OpenAI;
/** Beginnings of prompts that have been written. */
let cached = new Set<string>();

beforeAll(async () => {
  gateway = await startTestGateway();
  upstream = await startAnthropicUpstream();
  await gateway.addChannel({ type: 14, models: [model], baseUrl: upstream.url });
  upstream.respondWith((call, response) => {
    const message = messageOf([{ type: 'text', text: 'Noted.' }], usageOf(call.json));
    if (call.json.stream !== true)
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(eventsOf(message).map(eventText).join(''));
  });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  cached = new Set();
  upstream.calls.length = 0;
  user = await gateway.addUser(100_000_000);
  openai = new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});

const tokensOf = (text: string): number => Math.ceil(text.length / 4);

/** As Anthropic counts: a prompt is its tools, instructions and messages, block by block. */
function usageOf({ tools, system, messages }: JsonObject): JsonObject {
  const blocks = [...objectsIn(tools), ...objectsIn(system)];
  const asBlocks = (content: unknown): JsonObject[] =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content as JsonObject[]);
  for (const { content } of objectsIn(messages)) blocks.push(...asBlocks(content));
  if (typeof system === 'string') blocks.unshift({ type: 'text', text: system });
  let prompt = '';
  let [read, written] = [0, 0];
  for (const { cache_control: control, ...block } of blocks) {
    prompt += JSON.stringify(block);
    if (!isObject(control)) continue;
    written = tokensOf(prompt);
    if (cached.has(prompt)) read = written;
    cached.add(prompt);
  }
  return {
    input_tokens: tokensOf(prompt) - written,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written - read,
  };
}

const instructions = 'Keep the ledger in the style of this repository. '.repeat(200);
const tools = Array.from({ length: 20 }, (_, at) => ({
  type: 'function' as const,
  function: {
    name: `tool_${at}`,
    description: 'Looks up what was booked.',
    parameters: { type: 'object', properties: { account: { type: 'string' } } },
  },
}));

/** What was reserved and charged for each call, in their order. */
const booked = () =>
  withDatabase(gateway.config, quietLog, async (database) => {
    const { calls } = await ledgerAtRest(database);
    return [...calls.values()].flatMap(({ reserved: [reserved], settled: [settled] }) =>
      reserved !== undefined && settled?.facts.userId === user.actor.id
        ? [{ reserved: reserved.reserved, charged: settled.charged, settled }]
        : [],
    );
  });

test('a chat of several turns reads from the cache what its last turn wrote, is charged so, and never more than is reserved', async () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: instructions }];
  const details: (number | undefined)[] = [];
  for (const words of ['What was booked?', 'And before?', 'And before that?', 'By whom?']) {
    messages.push({ role: 'user', content: `${words} ${'Look closely. '.repeat(100)}` });
    const { choices, usage } = await openai.chat.completions.create({ model, max_tokens: 100, messages, tools });
    details.push(usage?.prompt_tokens_details?.cached_tokens);
    messages.push({ role: 'assistant', content: choices[0]?.message.content ?? '' });
  }
  // The first turn is nobody's second, the second one writes, those behind it read.
  expect(details.map((tokens) => (tokens ?? 0) > 3_000)).toEqual([false, false, true, true]);

  const calls = await booked();
  expect(calls.map(({ settled: { usage } }) => [(usage.cacheWrite ?? 0) > 0, (usage.cachedInput ?? 0) > 0])).toEqual([
    [false, false],
    [true, false],
    [true, true],
    [true, true],
  ]);
  for (const { reserved, charged, settled } of calls) {
    expect(charged).toBe(chargeOf(settled.usage, settled.price));
    expect(charged).toBeLessThanOrEqual(reserved);
  }
  const uncached = ({ settled: { usage, price } }: (typeof calls)[number]) => {
    const { cachedInput = 0, cacheWrite = 0, input = 0, ...rest } = usage;
    return chargeOf({ ...rest, input: input + cachedInput + cacheWrite }, price);
  };
  const [first, second, ...others] = calls;
  if (first === undefined || second === undefined) throw new Error('calls are missing');
  expect(first.charged).toBe(uncached(first));
  expect(second.charged).toBeLessThanOrEqual(Math.ceil(uncached(second) * 1.25));
  for (const call of others) expect(call.charged).toBeLessThan(uncached(call) / 3);
});

test('the same conversation by Responses, streamed, reads from the cache', async () => {
  const input: OpenAI.Responses.ResponseInputItem[] = [];
  const read: number[] = [];
  for (const words of ['What was booked?', 'And before?', 'And before that?']) {
    input.push({ role: 'user', content: words });
    const stream = openai.responses.stream({ model, instructions, input, prompt_cache_key: 'session-1' });
    const { output_text: text, usage } = await stream.finalResponse();
    read.push(usage?.input_tokens_details.cached_tokens ?? 0);
    input.push({ role: 'assistant', content: text });
  }
  // Its key has the instructions kept from the first turn on.
  expect(read.map((tokens) => tokens > 2_000)).toEqual([false, true, true]);
  for (const { reserved, charged } of await booked()) expect(charged).toBeLessThanOrEqual(reserved);
});

test('a single question costs what its tokens do as input, however long it is', async () => {
  await openai.chat.completions.create({ model, messages: [{ role: 'user', content: instructions.repeat(5) }] });
  const [call] = await booked();
  expect(call?.settled.usage).toMatchObject({ input: expect.any(Number), output: 10 });
  expect(call?.settled.usage.cacheWrite ?? 0).toBe(0);
});

test('a conversation is sent without marks, and charged as input, once the option is off', async () => {
  await gateway.setOption('claude.prompt_caching_enabled', 'false');
  try {
    const messages: OpenAI.ChatCompletionMessageParam[] = ['user', 'assistant', 'user'].map((role) => ({
      role: role as 'user',
      content: instructions,
    }));
    await openai.chat.completions.create({ model, messages });
    expect(JSON.stringify(upstream.calls[0]?.json)).not.toContain('cache_control');
    expect((await booked())[0]?.settled.usage.cacheWrite ?? 0).toBe(0);
  } finally {
    await gateway.setOption('claude.prompt_caching_enabled', 'true');
  }
});
