import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { type Caller, type Callers, errorIn, isWholeStream, openCallers } from '../../support/callers/callers.js';
import { newestCall } from '../../support/gateway/ledger-snapshot.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  httpAnswer,
  startWebSocketUpstream,
  type WebSocketUpstream,
} from '../../support/upstreams/websocket-upstream.js';

/* A provider behind a WebSocket, seen by callers who know nothing of it: answers, failures, and what is charged. */

const model = 'SparkDesk-v3.5';
const key = { app: 'a1b2c3d4', secret: 'PlantedSecret0123456789', key: 'planted0123456789abcdefKey' };
const sid = 'cht000704fa@dx16ade44e4d87a1c802';

let gateway: TestGateway;
let upstream: WebSocketUpstream;
let channel: ChannelId;
let callers: Callers;
let user: TestUser;
let apiKey: string;
let caller: Caller;
let serve: (socket: WebSocket, message: string) => void;
let refuse: (socket: Duplex) => boolean;
let asked: IncomingMessage[] = [];

beforeAll(async () => {
  gateway = await startTestGateway({
    RELAY_TIMEOUT: '4',
    STREAMING_TIMEOUT: '2',
    CALLER_STALL_SECONDS: '1',
    CALLER_GONE_SECONDS: '1',
  });
  callers = openCallers(gateway.url);
  upstream = await startWebSocketUpstream({
    serve(message, socket, request) {
      asked.push(request);
      serve(socket, message);
    },
    refuse: (_, socket) => refuse(socket),
  });
  const settings = { type: 18, models: [model], baseUrl: upstream.url, autoBan: false };
  channel = await gateway.addChannel({ ...settings, key: `${key.app}|${key.secret}|${key.key}` });
  await gateway.setOption('ModelRatio', JSON.stringify({ [model]: 2 }));
  await gateway.setOption('CompletionRatio', JSON.stringify({ [model]: 3 }));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  asked = [];
  refuse = () => false;
  user = await gateway.addUser(10_000_000);
  apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
});

const frame = (status: number, seq: number, text: object | null, usage?: readonly [number, number]): string =>
  JSON.stringify({
    header: { code: 0, message: 'Success', sid, status },
    payload: {
      choices: { status, seq, text: text === null ? [] : [{ role: 'assistant', index: 0, content: '', ...text }] },
      ...(usage && {
        usage: { text: { prompt_tokens: usage[0], completion_tokens: usage[1], total_tokens: usage[0] + usage[1] } },
      }),
    },
  });
const failure = (code: number, message: string): string =>
  JSON.stringify({ header: { code, message, sid, status: 2 } });

/** All of an answer. The connection stays open, as that of the real one does. */
const answers = (socket: WebSocket): void => {
  socket.send(frame(0, 0, { content: 'A list ' }));
  socket.send(frame(1, 1, { content: 'of debts' }));
  socket.send(frame(2, 2, { content: '.' }, [10, 5]));
};
const charged = 2 * (10 + 3 * 5);

const closedAgain = () => until(async () => (upstream.open() === 0 ? true : null));

const newest = () => newestCall(gateway.config);

describe('an answer over an upstream WebSocket', () => {
  const client = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'What is a ledger?' }];

  test('is collected for a caller without streaming, and charged by the usage of its last frame', async () => {
    const sent: string[] = [];
    serve = (socket, message) => {
      sent.push(message);
      answers(socket);
    };
    const { data, response } = await client()
      .chat.completions.create({ model, messages, max_tokens: 20 })
      .withResponse();
    expect(data).toMatchObject({
      id: sid,
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'A list of debts.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
    expect(JSON.parse(sent[0] ?? '')).toEqual({
      header: { app_id: key.app },
      parameter: { chat: { domain: 'generalv3.5', max_tokens: 20 } },
      payload: { message: { text: messages } },
    });
    const requestId = response.headers.get('x-request-id') ?? '';
    expect(await lineOf(gateway, user, { requestId })).toMatchObject({ quota: charged });
    expect(asked[0]?.url).toMatch(/^\/v3\.5\/chat\?authorization=.+&date=.+GMT&host=127\.0\.0\.1%3A\d+$/);
    await closedAgain();
  });

  test('is streamed, and ends at its last frame though the connection stays open', async () => {
    serve = answers;
    const stream = await client().chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('A list of debts.');
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } });
    expect((await newest()).settled[0]).toMatchObject({ outcome: 'completed', charged, usageSource: 'upstream' });
    await closedAgain();
  });

  test('may contain thinking, and a tool call', async () => {
    serve = (socket) => {
      socket.send(frame(0, 0, { reasoning_content: 'The weather ' }));
      socket.send(frame(1, 1, { reasoning_content: 'is asked for.' }));
      socket.send(frame(2, 2, { function_call: { name: 'weather', arguments: '{"city":"Oslo"}' } }, [10, 5]));
    };
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];
    const { choices } = await client().chat.completions.create({ model, messages, tools });
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        reasoning_content: 'The weather is asked for.',
        tool_calls: [{ type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
      },
    });
    expect(choices[0]?.message.tool_calls?.[0]?.id).toMatch(/^call_./);
  });

  test('proves that the channel works', async () => {
    serve = answers;
    expect(await gateway.application.channels.test(gateway.root, channel, '')).toMatchObject({ ok: true });
  });
});

describe('a failure of an upstream WebSocket', () => {
  test.each([
    ['in the first frame', false, 10013, 400],
    ['in the first frame of a stream', true, 10013, 400],
    ['of the license', true, 11200, 403],
  ])('%s has a status, and costs nothing', async (_where, stream, code, status) => {
    serve = (socket) => socket.send(failure(code, `refused for ${key.key}`));
    const answer = await caller.chat({ model, stream });
    expect(answer.status).toBe(status);
    expect(errorIn(answer)).toMatchObject({ code: String(code), message: expect.stringContaining('refused for ***') });
    expect((await lineOf(gateway, user, answer)).quota).toBe(0);
    expect((await newest()).released[0]).toMatchObject({ suspense: 0 });
    await closedAgain();
  });

  test('in the middle of a stream is reported in it, and the delivered part is charged', async () => {
    let fail = (): void => {};
    serve = (socket) => {
      fail = () => socket.send(failure(10014, 'the answer is not fit to be shown'));
      socket.send(frame(0, 0, { content: 'one two three' }));
    };
    const answer = await caller.chat({ model, stream: true }, { onHeaders: () => fail() });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('the answer is not fit to be shown');
    expect((await newest()).settled[0]).toMatchObject({
      outcome: 'upstream-broke',
      usage: { output: 3 },
      usageSource: 'estimated',
    });
    await closedAgain();
  });

  test.each([
    ['which asking again does not mend is final', 10014, 400, 1],
    ['of another kind is asked for again', 10012, 502, 2],
  ])(
    'in the middle of an answer that is not streamed charges nothing, its cost is unknown, and one %s',
    async (...of) => {
      const [, code, status, times] = of;
      await gateway.setOption('RetryTimes', '1');
      serve = (socket) => {
        socket.send(frame(0, 0, { content: 'one two three' }));
        socket.send(failure(code, 'this went wrong'));
      };
      const answer = await caller.chat({ model });
      await gateway.setOption('RetryTimes', '0');
      expect([answer.status, errorIn(answer).code]).toEqual([status, String(code)]);
      expect(errorIn(answer).message).toContain('this went wrong');
      expect(asked).toHaveLength(times);
      expect((await newest()).released[0]?.suspense).toBeGreaterThan(0);
    },
  );

  test.each([401, 403])(
    'of the handshake with %d is the gateway’s own failure, and does not disclose the key',
    async (status) => {
      refuse = (socket) => {
        socket.end(httpAnswer(status, `{"message":"HMAC signature does not match: ${key.key} ${key.secret}"}`));
        return true;
      };
      for (const stream of [false, true]) {
        const answer = await caller.chat({ model, stream });
        expect([answer.status, errorIn(answer).code]).toEqual([502, 'upstream_account_unavailable']);
        expect(errorIn(answer).message).not.toContain('HMAC');
        expect((await newest()).released[0]).toMatchObject({ suspense: 0 });
      }
    },
  );

  test.each([
    ['nothing', false, () => {}],
    ['nothing of a stream', true, () => {}],
    ['empty frames', true, (socket: WebSocket) => socket.send('{}')],
  ])('to answer with more than %s is detected at the timeout', async (_what, stream, begin) => {
    serve = begin;
    const answer = await caller.chat({ model, stream });
    expect(answer.status).toBe(500);
    // A stream is given up as soon as it is silent, whatever it has said.
    expect(errorIn(answer).message).toMatch(/did not answer in time|broke off/);
    await closedAgain();
  });

  test('to continue leaves a partial answer, which is reported as broken off and charged', async () => {
    serve = (socket) => socket.send(frame(0, 0, { content: 'one two three' }));
    const answer = await caller.chat({ model, stream: true });
    expect(isWholeStream(answer)).toBe(false);
    expect(answer.text).toContain('stream_response_error');
    expect((await newest()).settled[0]).toMatchObject({ outcome: 'upstream-broke', usage: { output: 3 } });
    await closedAgain();
  });

  test.each([
    ['sends a close frame', (socket: WebSocket) => socket.close()],
    ['breaks', (socket: WebSocket) => socket.terminate()],
  ])('to reach the end is detected on a connection that %s in the middle', async (_how, end) => {
    let stop = (): void => {};
    serve = (socket) => {
      stop = () => end(socket);
      socket.send(frame(0, 0, { content: 'one two three' }));
    };
    const streamed = await caller.chat({ model, stream: true }, { onHeaders: () => stop() });
    expect(isWholeStream(streamed)).toBe(false);
    expect((await newest()).settled[0]).toMatchObject({ outcome: 'upstream-broke', usage: { output: 3 } });
    serve = (socket) => socket.send(frame(0, 0, { content: 'one two three' }), () => end(socket));
    const whole = await caller.chat({ model });
    expect([whole.status, errorIn(whole).code]).toEqual([500, 'read_response_body_failed']);
    expect((await lineOf(gateway, user, whole)).quota).toBe(0);
    expect((await newest()).released[0]?.suspense).toBeGreaterThan(0);
  });

  test('to keep messages within the limit is reported as an unreadable answer', async () => {
    serve = (socket) => socket.send(frame(0, 0, { content: 'x'.repeat(17 * 1024 * 1024) }));
    const answer = await caller.chat({ model });
    expect([answer.status, errorIn(answer).code]).toEqual([502, 'bad_response_body']);
    await closedAgain();
  });
});

describe('a caller of an upstream WebSocket', () => {
  test('that disconnects ends the connection, and pays for what arrived', async () => {
    serve = (socket) => socket.send(frame(0, 0, { content: 'one two three' }));
    await caller.chat({ model, stream: true }, { enough: (text) => text.includes('content') });
    await closedAgain();
    expect((await newest()).settled[0]).toMatchObject({ outcome: 'caller-left', usage: { output: 3 } });
  });

  test('that does not read a flood is disconnected, and the flood stopped', async () => {
    serve = (socket) => {
      let seq = 0;
      const flow = (): void =>
        socket.send(frame(1, seq++, { content: 'word '.repeat(1000) }), (gone) => gone || flow());
      flow();
    };
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname).on('error', () => {});
    socket.pause();
    const text = JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }], stream: true });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${apiKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    await until(async () => (upstream.open() > 0 ? true : null));
    await until(async () => (upstream.open() === 0 ? true : null), 60_000);
    expect((await newest()).settled[0]).toMatchObject({ outcome: 'caller-stalled' });
    socket.destroy();
  });
});

test('the log output contains neither a key nor a signature', () => {
  const logged = gateway.logged.join('\n');
  expect(logged).not.toBe('');
  for (const secret of [key.secret, key.key, 'authorization=', Buffer.from(`api_key="${key.key}`).toString('base64')])
    expect(logged).not.toContain(secret);
});
