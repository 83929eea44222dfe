import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* The usage a caller gets is the usage that is charged, whatever the upstream reports. */

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let user: TestUser;
let caller: Caller;

/** What the upstream reports of its next answer, one after the other in a stream. */
let reported: readonly (JsonObject | null)[] = [];
let toolCalls: readonly JsonObject[] | null = null;
/** It answers as a whole, whatever was asked for. */
let knowsNoStreams = false;

const text = 'Every charge can be proved.';
const head = { id: 'c', created: 1, model: 'm' };

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startUpstream(({ body }, response) => {
    const { stream } = JSON.parse(body) as { stream?: boolean };
    const usages = reported.filter((usage) => usage !== null);
    if (stream !== true || knowsNoStreams) {
      const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json');
      const usage = usages.at(-1);
      response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, ...(usage && { usage }) }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const frame = (rest: JsonObject) =>
      response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...rest })}\n\n`);
    const delta = (delta: JsonObject, finish: string | null = null) =>
      frame({ choices: [{ index: 0, delta, finish_reason: finish }] });
    delta({ role: 'assistant', content: '' });
    for (const call of toolCalls ?? []) delta({ tool_calls: [call] });
    if (toolCalls === null) delta({ content: text });
    delta({}, toolCalls === null ? 'stop' : 'tool_calls');
    for (const usage of usages) frame({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  });
  await gateway.setOption('ModelRatio', '{"m":1}');
  await gateway.setOption('CompletionRatio', '{"m":1}');
  await gateway.setOption('CacheRatio', '{"m":0.5}');
  await gateway.addChannel({ type: 25, models: ['m'], baseUrl: upstream.url });
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});

const usageIn = (answer: string, stream: boolean): JsonObject => {
  if (!stream) return (JSON.parse(answer) as { usage: JsonObject }).usage;
  const usages = answer
    .split('\n\n')
    .filter((frame) => frame.includes('"usage":{'))
    .map((frame) => (JSON.parse(frame.slice('data: '.length)) as { usage: JsonObject }).usage);
  expect(usages).toHaveLength(1);
  return usages[0] ?? {};
};

describe.each([
  ['a whole answer', false, false],
  ['a stream', true, false],
  ['a stream made of a whole answer', true, true],
])('the upstream’s usage in %s', (_kind, stream, whole) => {
  beforeAll(() => {
    knowsNoStreams = whole;
  });
  afterAll(() => {
    knowsNoStreams = false;
  });

  test.each([
    ['as it is', [{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }], 'upstream', 15],
    ['with a wrong sum', [{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 999 }], 'upstream', 15],
    [
      'with cached tokens beside it',
      [{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cached_tokens: 8 }],
      'upstream',
      11,
    ],
    ['with more cached than prompt', [{ prompt_tokens: 10, completion_tokens: 5, cached_tokens: 80 }], 'upstream', 10],
    [
      'with more reasoning than completion',
      [{ prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 50 } }],
      'upstream',
      15,
    ],
    ['in fractions', [{ prompt_tokens: 10.7, completion_tokens: 5.2, total_tokens: 15.9 }], 'upstream', 15],
    ['with no prompt but its sum', [{ prompt_tokens: null, completion_tokens: 5, total_tokens: 15 }], 'upstream', 15],
    [
      'with more from a cache than prompt, by another name',
      [{ prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 9e15, prompt_cache_miss_tokens: -3 }],
      'upstream',
      10,
    ],
    ['of nothing', [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }], 'estimated', null],
    ['below nothing', [{ prompt_tokens: -10, completion_tokens: -5, total_tokens: -15 }], 'estimated', null],
    [
      'of more than there can be',
      [{ prompt_tokens: 8e15, completion_tokens: 1, total_tokens: 8e15 }],
      'disbelieved',
      null,
    ],
    [
      'of an answer longer than any',
      [{ prompt_tokens: 1, completion_tokens: 9e15, total_tokens: 9e15 }],
      'disbelieved',
      null,
    ],
    ['not at all', [null], 'estimated', null],
  ] as const)('reported as %s is returned and charged alike', async (_how, usages, source, charge) => {
    reported = usages as unknown as (JsonObject | null)[];
    const answer = await caller.chat({
      model: 'm',
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
    });
    const usage = usageIn(answer.text, stream);
    const line = await lineOf(gateway, user, answer);
    expect(line.usage_source).toBe(source);
    const details = (name: string): JsonObject => (usage[name] ?? {}) as JsonObject;
    expect({
      prompt_tokens: usage.prompt_tokens,
      completion_tokens: usage.completion_tokens,
      total: usage.total_tokens ?? line.prompt_tokens + line.completion_tokens,
      cached_tokens: details('prompt_tokens_details').cached_tokens ?? 0,
      reasoning_tokens: details('completion_tokens_details').reasoning_tokens ?? 0,
    }).toEqual({
      prompt_tokens: line.prompt_tokens,
      completion_tokens: line.completion_tokens,
      total: line.prompt_tokens + line.completion_tokens,
      cached_tokens: line.cached_tokens,
      reasoning_tokens: line.reasoning_tokens,
    });
    if ('prompt_cache_hit_tokens' in usage)
      expect([usage.prompt_cache_hit_tokens, usage.prompt_cache_miss_tokens]).toEqual([line.cached_tokens, 0]);
    if (charge !== null) expect(line.quota).toBe(charge);
    expect(line.quota).toBeLessThan(1_000);
  });
});

test('usage reported twice in a stream is returned once, the last of it, and charged', async () => {
  reported = [
    { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  ];
  const answer = await caller.chat({ model: 'm', stream: true, stream_options: { include_usage: true } });
  expect(usageIn(answer.text, true)).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
  expect(await lineOf(gateway, user, answer)).toMatchObject({ quota: 15, completion_tokens: 5 });
});

test('a large picture is charged as reported by a model of an unknown family', async () => {
  const header = Buffer.from(`89504e470d0a1a0a0000000d49484452${'00'.repeat(17)}`, 'hex');
  header.writeUInt32BE(6_000, 16);
  header.writeUInt32BE(4_000, 20);
  const url = `data:image/png;base64,${header.toString('base64')}`;
  reported = [{ prompt_tokens: 28_212, completion_tokens: 5, total_tokens: 28_217 }];
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  const line = await lineOf(gateway, user, await caller.chat({ model: 'm', messages }));
  expect(line).toMatchObject({ usage_source: 'upstream', quota: 28_217 });
});

test('a channel that reports impossible usage is shown as failing, and the log names it', async () => {
  reported = [{ prompt_tokens: 8e15, completion_tokens: 1 }];
  const answer = await caller.chat({ model: 'm' });
  await lineOf(gateway, user, answer);
  expect(gateway.logged.some((line) => line.includes('reported more usage') && line.includes(answer.requestId))).toBe(
    true,
  );
});

test('tool calls of a stream without a type reach the official client with one', async () => {
  reported = [];
  toolCalls = [
    { index: 0, id: 'aaaaaaaaa', function: { name: 'weather', arguments: '' } },
    { index: 0, function: { name: '', arguments: '{"city":"Oslo"}' } },
  ];
  const client = new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const stream = client.chat.completions.stream({
    model: 'm',
    messages: [{ role: 'user', content: 'How is the weather?' }],
    tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
  });
  const completion = await stream.finalChatCompletion();
  expect(completion.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    id: 'aaaaaaaaa',
    type: 'function',
    function: { name: 'weather', arguments: '{"city":"Oslo"}' },
  });
  toolCalls = null;
});
