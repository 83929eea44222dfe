import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';

/* Silence on the way to callers of streams is filled, from before the first byte of an upstream on. */

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let user: TestUser;
let caller: Caller;
let apiKey: string;
let asked = 0;
/** Answers wait for it: the caller has heard something by then, and could not before. */
let heard: () => void = () => {};
let hearing: Promise<void>;
let serve: (response: ServerResponse, call: UpstreamCall) => void;

const listen = (): void => {
  hearing = new Promise((resolve) => {
    heard = resolve;
  });
};

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const answers = (response: ServerResponse): void =>
  void response
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .end(`${chunk({ role: 'assistant', content: 'A list.' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
const fails = (response: ServerResponse): void =>
  void response
    .writeHead(500, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { message: 'Not today.', type: 'server_error', code: 'broken' } }));

beforeAll(async () => {
  gateway = await startTestGateway({ STREAMING_TIMEOUT: '20', RELAY_TIMEOUT: '30' });
  callers = openCallers(gateway.url);
  listen();
  upstream = await startUpstream((call, response) => {
    asked++;
    void hearing.then(() => serve(response, call));
  });
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.setOption('general_setting.ping_interval_enabled', 'true');
  await gateway.setOption('general_setting.ping_interval_seconds', '1');
  await gateway.addChannel({ models: ['m', 'alone'], baseUrl: upstream.url, priority: 1, autoBan: false });
  await gateway.addChannel({ models: ['m'], baseUrl: upstream.url, autoBan: false });
  user = await gateway.addUser(100_000_000);
  apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
afterEach(() => {
  vi.unstubAllGlobals();
  asked = 0;
  listen();
});

const headers = { 'content-type': 'application/json' };
const messages = [{ role: 'user' as const, content: 'What is a ledger?' }];
const contents = [{ role: 'user', parts: [{ text: 'What is a ledger?' }] }];

const once = (text: string): boolean => {
  if (text !== '') heard();
  return false;
};

type Ask = (model: string, sending?: { onHeaders?: () => void }) => Promise<Answer>;
const post = (path: string, body: object, sending = {}): Promise<Answer> =>
  caller.send(path, { method: 'POST', headers, body: body as never, enough: once, ...sending });
const dialects: readonly (readonly [name: string, ask: Ask, beat: RegExp, error: RegExp])[] = [
  [
    'OpenAI',
    (model, sending) => post('/v1/chat/completions', { model, messages, stream: true, max_tokens: 9 }, sending),
    /^: PING\n\n/,
    /^(: PING\n\n)+data: \{"error":\{"message":"Not today.*\}\n\ndata: \[DONE\]\n\n$/,
  ],
  [
    'Anthropic',
    (model, sending) => post('/v1/messages', { model, messages, stream: true, max_tokens: 9 }, sending),
    /^event: ping\ndata: \{"type":"ping"\}\n\n/,
    /^(event: ping\ndata: .*\n\n)+event: error\ndata: \{"type":"error","error":\{.*Not today.*\}\n\n$/,
  ],
  [
    'Gemini',
    (model, sending) => post(`/v1beta/models/${model}:streamGenerateContent?alt=sse`, { contents }, sending),
    /^\n/,
    /^\n+data: \{"error":\{"code":500,"message":"Not today.*\}\n\n$/,
  ],
  [
    'Gemini, as an array',
    (model, sending) => post(`/v1beta/models/${model}:streamGenerateContent`, { contents }, sending),
    /^\n/,
    /^\n+\[\{"error":\{"code":500,"message":"Not today.*\}\]$/,
  ],
];

describe.each(dialects)('a caller of %s', (_, ask, beat, error) => {
  test('receives a heartbeat within the interval while its upstream is silent, then the answer, and pays once', async () => {
    serve = answers;
    const answer = await ask('m');
    expect(answer.text).toMatch(beat);
    expect(answer.text).toContain('A list.');
    expect(answer.text).not.toContain('error');
    expect(await lineOf(gateway, user, answer)).toMatchObject({ outcome: 'completed', completion_tokens: 3 });
  });

  test('receives a later failure in its stream, and pays nothing', async () => {
    serve = fails;
    const before = await gateway.available(user);
    const answer = await ask('alone');
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(error);
    expect(await gateway.available(user)).toBe(before);
  });

  test('receives the answer of another channel when the first fails after a heartbeat', async () => {
    await gateway.setOption('RetryTimes', '1');
    serve = (response) => (asked === 1 ? fails(response) : answers(response));
    const answer = await ask('m');
    await gateway.setOption('RetryTimes', '0');
    expect(asked).toBe(2);
    expect(answer.text).toContain('A list.');
    expect(answer.text).not.toContain('Not today');
  });
});

describe('an official client', () => {
  /** Lets the upstream answer once a client has an answer's headers: till then nothing but heartbeats has come. */
  const listening = (): void => {
    const real = globalThis.fetch;
    vi.stubGlobal('fetch', async (...asked: Parameters<typeof fetch>) => {
      const response = await real(...asked);
      heard();
      return response;
    });
  };

  const byOpenAi = async (): Promise<string> => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
    let words = '';
    for await (const { choices } of await client.chat.completions.create({ model: 'm', messages, stream: true }))
      words += choices[0]?.delta.content ?? '';
    return words;
  };
  const byAnthropic = async (): Promise<string> => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 });
    const message = await client.messages.stream({ model: 'm', messages, max_tokens: 9 }).finalMessage();
    return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  };
  const byGoogle = async (): Promise<string> => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } });
    let words = '';
    for await (const { text } of await client.models.generateContentStream({ model: 'm', contents }))
      words += text ?? '';
    return words;
  };

  const clients: readonly (readonly [string, () => Promise<string>])[] = [
    ['OpenAI', byOpenAi],
    ['Anthropic', byAnthropic],
    ['Google', byGoogle],
  ];

  test.each(clients)('of %s skips heartbeats before the answer', async (_, words) => {
    listening();
    serve = answers;
    expect(await words()).toBe('A list.');
    expect(asked).toBe(1);
  });

  test.each(clients)('of %s throws for a failure after heartbeats', async (_, words) => {
    listening();
    serve = fails;
    await expect(words()).rejects.toThrow(/Not today/);
    expect(asked).toBe(1);
  });
});

describe('the headers of a stream', () => {
  afterEach(() => gateway.setOption('general_setting.stream_open_seconds', '0'));

  test('are sent after the configured time, even without heartbeats', async () => {
    await gateway.setOption('general_setting.ping_interval_enabled', 'false');
    await gateway.setOption('general_setting.stream_open_seconds', '1');
    serve = answers;
    const [, ask] = dialects[0] as (typeof dialects)[number];
    const answer = await ask('m', { onHeaders: () => heard() });
    await gateway.setOption('general_setting.ping_interval_enabled', 'true');
    expect([answer.status, answer.text.startsWith('data: ')]).toEqual([200, true]);
  });

  test('are not sent before that time: an earlier failure has its own status', async () => {
    await gateway.setOption('general_setting.stream_open_seconds', '3600');
    heard();
    serve = fails;
    const [, ask] = dialects[0] as (typeof dialects)[number];
    expect((await ask('alone')).status).toBe(500);
  });
});

test('a caller without streaming gets the real status, however long it takes', async () => {
  heard();
  serve = fails;
  expect((await caller.chat({ model: 'alone', max_tokens: 9 })).status).toBe(500);
});
