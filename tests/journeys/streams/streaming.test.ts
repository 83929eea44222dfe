import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isObject, type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import {
  type Answer,
  type Caller,
  type Callers,
  chunksIn,
  errorIn,
  framesIn,
  isWholeStream,
  openCallers,
} from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Streams on the wire, frame by frame. */

let gateway: TestGateway;
let upstream: Upstream;
let callers: Callers;
let user: TestUser;
let caller: Caller;

/** What the untidy upstream sends, by model. */
const untidy: Readonly<Record<string, readonly object[]>> = {
  mute: [],
  'thinking-alone': [{ id: 'x', choices: [{ index: 0, delta: { reasoning_content: 'Hm.' } }] }],
  'without-end': [{ id: 'x', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] }],
  strict: [
    { id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'a', mood: 'good' }, why: 1 }], vendor: 'v' },
    { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { id: 'x', choices: [], usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } },
  ],
  'usage-inside': [
    { id: 'x', choices: [{ index: 0, delta: { content: 'a' } }], usage: { prompt_tokens: 7, completion_tokens: 1 } },
    {
      id: 'x',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 2 },
    },
  ],
};

beforeAll(async () => {
  gateway = await startTestGateway({ STREAMING_TIMEOUT: '2' });
  callers = openCallers(gateway.url);
  upstream = await startUpstream(({ body }, response) => {
    const { model } = JSON.parse(body) as { model: string };
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    for (const chunk of untidy[model] ?? []) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    if (model !== 'mute') response.end(model === 'without-end' ? '' : 'data: [DONE]\n\n');
  });
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.addChannel({ models: ['plain', 'silent'] });
  await gateway.addChannel({ models: ['usage-inside', 'mute', 'without-end'], baseUrl: upstream.url });
  await gateway.addChannel({ models: ['strict'], baseUrl: upstream.url, setting: '{"force_format":true}' });
  const thinking = { setting: '{"thinking_to_content":true}' };
  await gateway.addChannel({ models: ['thinking-alone'], baseUrl: upstream.url, ...thinking });
  await gateway.addChannel({ models: ['thinking'], setting: '{"thinking_to_content":true}' });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});

const withUsage = { stream: true, stream_options: { include_usage: true } };

const contentOf = (answer: Answer): string =>
  chunksIn(answer)
    .flatMap(({ choices }) => objectsIn(choices))
    .map(({ delta }) => (isObject(delta) && typeof delta.content === 'string' ? delta.content : ''))
    .join('');

const usagesIn = (answer: Answer): JsonObject[] =>
  chunksIn(answer)
    .map(({ usage }) => usage)
    .filter(isObject);

describe('a stream through the gateway', () => {
  test('has headers that forbid caching and buffering on the way', async () => {
    const { headers, text } = await caller.chat({ model: 'plain', stream: true });
    expect(headers['content-type']).toMatch(/^text\/event-stream/);
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['x-accel-buffering']).toBe('no');
    expect(headers['content-encoding']).toBeUndefined();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('has usage for a caller that requests it, once, before the end mark, and for no other', async () => {
    gateway.provider.script('plain', { tokens: { prompt: 11, completion: 22 } });
    const plain = await caller.chat({ model: 'plain', stream: true });
    expect(usagesIn(plain)).toEqual([]);
    expect(plain.text).not.toContain('prompt_tokens');
    const answering = await caller.chat({ model: 'plain', ...withUsage });
    expect(usagesIn(answering)).toMatchObject([{ prompt_tokens: 11, completion_tokens: 22 }]);
    expect(chunksIn(answering).at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 11 } });
    // The upstream is asked for it in either case: the charge depends on it.
    for (const { body } of gateway.provider.tally().requests)
      expect(body).toMatchObject({ stream_options: { include_usage: true } });
  });

  test('with usage inside its chunks has the last of it, once, on request, and is charged by it', async () => {
    const plain = await caller.chat({ model: 'usage-inside', stream: true });
    expect(usagesIn(plain)).toEqual([]);
    expect(contentOf(plain)).toBe('a');
    const answering = await caller.chat({ model: 'usage-inside', ...withUsage });
    expect(usagesIn(answering)).toMatchObject([{ prompt_tokens: 7, completion_tokens: 2 }]);
    expect(await lineOf(gateway, user, answering)).toMatchObject({ prompt_tokens: 7, completion_tokens: 2 });
  });

  test('has the gateway’s usage when the upstream reports none', async () => {
    gateway.provider.script('plain', { text: 'one two three', usage: 'never' });
    const answering = await caller.chat({ model: 'plain', ...withUsage });
    const line = await lineOf(gateway, user, answering);
    expect(usagesIn(answering)).toMatchObject([
      { prompt_tokens: line.prompt_tokens, completion_tokens: line.completion_tokens },
    ]);
    expect(line).toMatchObject({ usage_source: 'estimated', completion_tokens: 3 });
  });

  test('of a channel with a strict format has only members of the dialect', async () => {
    const answer = await caller.chat({ model: 'strict', ...withUsage });
    expect(answer.text).not.toMatch(/vendor|mood|why/);
    expect(chunksIn(answer)[0]).toEqual({
      id: 'x',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }],
    });
    expect(usagesIn(answer)).toHaveLength(1);
    expect(isWholeStream(answer)).toBe(true);
  });
});

describe('thinking put into the text', () => {
  test('of a stream is opened once and closed before the answer', async () => {
    gateway.provider.script('thinking', { reasoning: 'Hm. Let me see.', text: 'It is so.' });
    const answer = await caller.chat({ model: 'thinking', stream: true });
    expect(contentOf(answer)).toBe('<think>\nHm. Let me see.\n</think>\nIt is so.');
    expect(answer.text).not.toContain('reasoning_content');
  });

  test('of a JSON answer precedes the answer', async () => {
    gateway.provider.script('thinking', { reasoning: 'Hm.', text: 'It is so.' });
    const { text } = await caller.chat({ model: 'thinking' });
    const { choices } = JSON.parse(text) as { choices: { message: JsonObject }[] };
    expect(choices[0]?.message.content).toBe('<think>\nHm.\n</think>\nIt is so.');
    expect(choices[0]?.message).not.toHaveProperty('reasoning_content');
  });

  test('without an answer after it is closed all the same', async () => {
    const answer = await caller.chat({ model: 'thinking-alone', stream: true });
    expect(contentOf(answer)).toBe('<think>\nHm.\n</think>\n');
    expect(isWholeStream(answer)).toBe(true);
  });

  test('that is empty leaves the text unchanged', async () => {
    gateway.provider.script('thinking', { reasoning: '', text: 'It is so.' });
    expect(contentOf(await caller.chat({ model: 'thinking', stream: true }))).toBe('It is so.');
  });
});

describe('an upstream that falls silent', () => {
  beforeAll(async () => {
    await gateway.setOption('general_setting.ping_interval_enabled', 'true');
    await gateway.setOption('general_setting.ping_interval_seconds', '1');
  });
  afterAll(() => gateway.setOption('general_setting.ping_interval_enabled', 'false'));

  test('is bridged by heartbeats, and in the end the stream is reported as broken off and charged', async () => {
    gateway.provider.script('silent', { chunks: 20, after: { frames: 4, then: 'hang' } });
    const answer = await caller.chat({ model: 'silent', ...withUsage });
    expect(answer.text).toContain('\n\n: PING\n\n');
    // A comment never stands inside a frame: each frame can be read.
    expect(chunksIn(answer)).toHaveLength(5);
    expect(isWholeStream(answer)).toBe(false);
    expect(errorIn({ text: framesIn(answer).at(-2) ?? '' }).code).toBe('stream_response_error');
    const line = await lineOf(gateway, user, answer);
    expect(line).toMatchObject({ outcome: 'upstream-broke', usage_source: 'estimated', is_stream: true });
    expect(line.quota).toBeGreaterThan(0);
    await until(async () => (gateway.provider.tally().abandoned === 1 ? true : null));
  });

  test('costs nothing when it has sent no text', async () => {
    const answer = await caller.chat({ model: 'mute', stream: true });
    // The heartbeats before it have opened the stream.
    expect(answer.text).toMatch(/^: PING\n\n/);
    expect(errorIn({ text: framesIn(answer).at(-2) ?? '' }).code).toBe('stream_response_error');
    expect(await gateway.available(user)).toBe(100_000_000);
  });
});

describe('a failure after the first frame', () => {
  test('is reported inside the stream, with the request id, and the delivered part is charged', async () => {
    gateway.provider.script('plain', { chunks: 20, chunkDelayMs: 2, after: { frames: 6, then: 'error' } });
    const answer = await caller.chat({ model: 'plain', stream: true });
    expect(answer.status).toBe(200);
    const [error] = chunksIn(answer).filter(({ error }) => error !== undefined);
    expect(error).toMatchObject({ error: { type: 'server_error', code: 'simulated_failure' } });
    expect(JSON.stringify(error)).toContain(`(request id: ${answer.requestId})`);
    expect(framesIn(answer).at(-1)).toBe('[DONE]');
    const line = await lineOf(gateway, user, answer);
    expect(line).toMatchObject({ outcome: 'upstream-broke', usage_source: 'estimated' });
    expect(line.quota).toBeGreaterThan(0);
  });

  test('includes a connection that closes without a finish reason; with a finish reason it is an end', async () => {
    gateway.provider.script('plain', { chunks: 3, after: { frames: 3, then: 'close' } });
    const torn = await caller.chat({ model: 'plain', stream: true });
    expect(isWholeStream(torn)).toBe(false);
    expect(torn.text).toContain('stream_response_error');
    const short = await caller.chat({ model: 'without-end', stream: true });
    expect(isWholeStream(short)).toBe(true);
    expect(contentOf(short)).toBe('a');
    expect(await lineOf(gateway, user, short)).toMatchObject({ outcome: 'completed' });
  });
});

test('a caller that disconnects after ten words aborts the upstream and pays for the text so far', async () => {
  gateway.provider.script('plain', { endless: true, chunkDelayMs: 2 });
  const { requestId } = await caller.chat(
    { model: 'plain', stream: true },
    { enough: (text) => chunksIn({ text: text.slice(0, text.lastIndexOf('\n\n')) }).length > 10 },
  );
  const line = await lineOf(gateway, user, { requestId });
  expect(line).toMatchObject({ outcome: 'caller-left', usage_source: 'estimated' });
  expect(line.quota).toBeGreaterThan(0);
  await until(async () => (gateway.provider.tally().abandoned === 1 ? true : null));
});
