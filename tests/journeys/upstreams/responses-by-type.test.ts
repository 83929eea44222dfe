import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  callItem,
  codeItem,
  eventsOf,
  lastEventOf,
  messageItem,
  reasoningItem,
  reportedUsage,
  responseOf,
  streamOf,
} from '../../support/upstreams/responses-answers.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Every type that has the Responses API, called by Responses and by a chat, and what its failures are charged. */

const types = [1, 3, 8, 39, 48] as const;
/** Asked by Responses where the channel's settings say that they have it. */
const typesBySetting = [4, 17, 20, 42, 45] as const;
const allTypes = [...types, ...typesBySetting];
const text = 'Every charge can be proved.';
const answer = responseOf([messageItem(text)], { usage: reportedUsage(20, 10, { cached: 8, reasoning: 4 }) });
const quota = 10_000_000;

interface Scripted {
  readonly status?: number;
  readonly text: string;
  /** What becomes of the connection behind the text. */
  readonly then?: 'cut' | 'open';
}

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let user: TestUser;
let caller: Caller;
let scripted: Scripted;
const channels = new Map<number, ChannelId>();
let received: { readonly url: string; readonly body: JsonObject }[] = [];

const model = (type: number, more = '') => `by-${type}${more}`;
const refusal = (status: number): Scripted => ({
  status,
  text: JSON.stringify({ error: { message: 'Not now.', type: 'some_error', code: `code_${status}` } }),
});

beforeAll(async () => {
  gateway = await startTestGateway({ STREAM_IDLE_SECONDS: '30', CALLER_GONE_SECONDS: '1' });
  callers = openCallers(gateway.url);
  upstream = await startUpstream(({ url, body }, response) => {
    received.push({ url, body: JSON.parse(body) as JsonObject });
    const { status = 200, text, then } = scripted;
    response.writeHead(status, { 'content-type': text.startsWith('{') ? 'application/json' : 'text/event-stream' });
    if (then === undefined) response.end(text);
    else response.write(text, () => (then === 'cut' ? response.destroy() : undefined));
  });
  const names = [
    ...allTypes.map((type) => model(type)),
    ...typesBySetting.flatMap((type) => [model(type, '-usual'), model(type, '-set')]),
  ];
  const ones = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])));
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, ones);
  await gateway.setOption('CacheRatio', ones.replaceAll(':1', ':0.5'));
  await gateway.setOption('RetryTimes', '0');
  for (const type of allTypes) {
    const id = await gateway.addChannel({
      type,
      models: [model(type)],
      baseUrl: upstream.url + (type === 8 ? '/v1/responses' : ''),
      other: type === 39 ? 'account' : '',
      autoBan: false,
      // A custom channel's address says it by itself.
      setting: type === 8 ? null : '{"responses_only":true}',
    });
    channels.set(type, id);
  }
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  received = [];
  user = await gateway.addUser(quota);
  caller = callers.with(await gateway.addApiKey(user));
});

const ways = [
  ['Responses', '/v1/responses', { input: 'What is a ledger?' }],
  ['a chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'What is a ledger?' }] }],
] as const;

const left = (expected: number) => until(async () => ((await gateway.available(user)) === expected ? true : null));

/** Chats reach those by setting as they reach the others. */
const tried = [
  ...types.flatMap((type) => ways.map((way) => [type, ...way] as const)),
  ...typesBySetting.map((type) => [type, ...ways[0]] as const),
];

const ask = (type: number, path: string, more: JsonObject) =>
  caller.send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model: model(type), ...more },
  });

const failure = { type: 'error', code: 'server_error', message: 'it broke inside', param: null };
const withError = `${eventsOf(answer).slice(0, 7).join('')}data: ${JSON.stringify(failure)}\n\n`;

describe.each(tried)('type %i by %s', (type, _name, path, asked) => {
  const send = (more: JsonObject = {}) => ask(type, path, { ...asked, ...more });

  test.each([false, true])('is charged by the usage of its answer (streamed: %s)', async (stream) => {
    scripted = { text: stream ? streamOf(answer) : JSON.stringify(answer) };
    const got = await send({ stream });
    expect(got.status).toBe(200);
    expect(received[0]?.body).toMatchObject({ model: model(type), ...(stream && { stream }) });
    // 8 of 20 input tokens came from a cache, at half the price.
    expect(await lineOf(gateway, user, got)).toMatchObject({ quota: 26, usage_source: 'upstream' });
    await left(quota - 26);
  });

  test.each([401, 429, 500])('answers a refusal with %i, free of charge', async (status) => {
    scripted = refusal(status);
    for (const stream of [false, true]) {
      const got = await send({ stream });
      expect(got.status).toBeGreaterThanOrEqual(400);
      expect(errorIn(got).message).not.toContain('sk-upstream-key');
    }
    await left(quota);
  });

  test('that is cut in the middle of a stream ends with an error, and is charged what was sent', async () => {
    scripted = { text: eventsOf(answer).slice(0, 7).join(''), then: 'cut' };
    const got = await send({ stream: true });
    expect(got.text).toContain('broke off');
    const line = await lineOf(gateway, user, got);
    expect(line).toMatchObject({ usage_source: 'estimated', quota: line.prompt_tokens + line.completion_tokens });
    await left(quota - line.quota);
  });

  test('reports an error of a stream that is cut after it', async () => {
    scripted = { text: withError, then: 'cut' };
    expect((await send({ stream: true })).text).toContain('it broke inside');
  });
});

test('errors of streams that stay silent after them are reported long before the silence is over', async () => {
  scripted = { text: withError, then: 'open' };
  const begun = performance.now();
  const answers = await Promise.all(tried.map(([type, , path, asked]) => ask(type, path, { ...asked, stream: true })));
  for (const { text } of answers) expect(text).toContain('it broke inside');
  expect(performance.now() - begun).toBeLessThan(25_000);
});

describe.each(typesBySetting)('type %i', (type) => {
  const asked = { input: 'What is a ledger?', instructions: 'Be brief.', previous_response_id: null };
  const paths: Readonly<Record<number, string>> = {
    17: '/compatible-mode/v1/responses',
    45: '/api/v3/responses',
  };
  const send = async (setting: string | null) => {
    const name = model(type, setting === null ? '-usual' : '-set');
    await gateway.addChannel({ type, models: [name], baseUrl: upstream.url, autoBan: false, setting });
    await caller.send('/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { model: name, ...asked },
    });
    return received[0];
  };

  test('is sent a response in the words of chat, unless its settings say that it has Responses', async () => {
    scripted = { text: JSON.stringify(answer) };
    expect((await send(null))?.body).toHaveProperty('messages');
    received = [];
    const sent = await send('{"responses":true}');
    expect(sent?.url).toBe(paths[type] ?? '/v1/responses');
    expect(sent?.body).toMatchObject(asked);
  });
});

describe('an upstream that lies', () => {
  const asked = (path: string, more: JsonObject) => ask(1, path, more);

  test.each(ways.flatMap(([name, path, body]) => [false, true].map((stream) => [name, path, body, stream] as const)))(
    'about its usage takes no more than the reservation, by %s (%s, %j, streamed: %s)',
    async (_name, path, body, stream) => {
      const lied = { ...answer, usage: reportedUsage(10 ** 12, 10 ** 12) };
      scripted = { text: stream ? streamOf(lied) : JSON.stringify(lied) };
      const limit = path === '/v1/responses' ? { max_output_tokens: 50 } : { max_tokens: 50 };
      const got = await asked(path, { ...body, ...limit, stream });
      expect(got.status).toBe(200);
      const line = await lineOf(gateway, user, got);
      expect(line.completion_tokens).toBeLessThanOrEqual(50);
      expect(line.prompt_tokens).toBeLessThan(10_000);
      await left(quota - line.quota);
    },
  );

  test.each(ways)('and completes twice is charged once, by %s', async (_name, path, body) => {
    const dearer = { ...answer, usage: reportedUsage(400, 400) };
    scripted = { text: streamOf(answer) + lastEventOf(dearer) };
    const got = await asked(path, { ...body, stream: true });
    expect(await lineOf(gateway, user, got)).toMatchObject({ quota: 26 });
  });

  test.each([...ways, ['a summary', '/v1/responses/compact', { input: 'What is a ledger?' }] as const])(
    'serves 40 whole answers at once on a small balance for no more than there is, by %s',
    async (_name, path, body) => {
      const poor = await gateway.addUser(3_000);
      const many = callers.with(await gateway.addApiKey(poor));
      scripted = { text: JSON.stringify(responseOf([messageItem(text)], { usage: reportedUsage(20, 400) })) };
      const headers = { 'content-type': 'application/json' };
      const got = await Promise.all(
        Array.from({ length: 40 }, () =>
          many.send(path, { method: 'POST', headers, body: { model: model(1), ...body } }),
        ),
      );
      const served = got.filter(({ status }) => status === 200);
      expect(served.length).toBeGreaterThan(0);
      for (const { status } of got) expect([200, 403]).toContain(status);
      const lines = await Promise.all(served.map((one) => lineOf(gateway, poor, one)));
      const spent = lines.reduce((sum, line) => sum + line.quota, 0);
      expect(spent).toBeLessThanOrEqual(3_000);
      await until(async () => ((await gateway.available(poor)) === 3_000 - spent ? true : null));
    },
  );

  test.each(ways)(
    'serves 40 calls at once on a small balance for no more than there is, by %s',
    async (_name, path, body) => {
      const poor = await gateway.addUser(3_000);
      const many = callers.with(await gateway.addApiKey(poor));
      const costly = responseOf([messageItem(text)], { usage: reportedUsage(20, 400) });
      scripted = { text: streamOf(costly) };
      const got = await Promise.all(
        Array.from({ length: 40 }, () =>
          many.send(path, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: { model: model(1), ...body, stream: true },
          }),
        ),
      );
      const served = got.filter(({ status }) => status === 200);
      expect(served.length).toBeGreaterThan(0);
      for (const { status } of got) expect([200, 403]).toContain(status);
      const lines = await Promise.all(served.map((one) => lineOf(gateway, poor, one)));
      const spent = lines.reduce((sum, line) => sum + line.quota, 0);
      expect(spent).toBeLessThanOrEqual(3_000);
      await until(async () => ((await gateway.available(poor)) === 3_000 - spent ? true : null));
    },
  );
});

describe('the official SDK', () => {
  const client = async () =>
    new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const format = {
    ...{ type: 'json_schema' as const, name: 'answer', strict: true },
    schema: {
      type: 'object',
      properties: { word: { type: 'string' } },
      required: ['word'],
      additionalProperties: false,
    },
  };
  const formed = responseOf([messageItem('{"word":"ledger"}')]);

  test('parses an answer in the form of a schema, of a response and of a chat', async () => {
    scripted = { text: JSON.stringify(formed) };
    const sdk = await client();
    const parsed = await sdk.responses.parse({ model: model(1), input: 'A word?', text: { format } });
    expect(parsed.output_text).toBe('{"word":"ledger"}');
    const { type: _, ...json_schema } = format;
    const completion = await sdk.chat.completions.parse({
      model: model(1),
      messages: [{ role: 'user', content: 'A word?' }],
      response_format: { type: 'json_schema', json_schema },
    });
    expect(completion.choices[0]?.message.content).toBe('{"word":"ledger"}');
    expect(received.map(({ url, body }) => [url, body.text])).toEqual([
      ['/v1/responses', { format }],
      ['/v1/responses', { format }],
    ]);
  });

  test('runs a tool in a streamed chat, whose reasoning goes back with the result', async () => {
    const sdk = await client();
    const call = callItem('{"word":"ledger"}');
    scripted = { text: streamOf(responseOf([reasoningItem('Let me see.'), call])) };
    const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: { type: 'object' } } }];
    const question = { role: 'user' as const, content: 'What is a ledger?' };
    const first = sdk.chat.completions.stream({ model: model(1), messages: [question], tools });
    const message = (await first.finalChatCompletion()).choices[0]?.message;
    expect(message?.tool_calls).toMatchObject([{ id: 'call_1', function: { name: 'look_up' } }]);
    scripted = { text: streamOf(answer) };
    const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'a book' };
    const next = sdk.chat.completions.stream({
      model: model(1),
      messages: [question, message as OpenAI.Chat.ChatCompletionMessageParam, result],
      tools,
    });
    expect(await next.finalContent()).toBe(text);
    const input = received.at(-1)?.body.input as JsonObject[];
    expect(input.map(({ type }) => type).filter((type) => type !== 'reasoning')).toEqual([
      'message',
      'function_call',
      'function_call_output',
    ]);
  });
});

describe('a caller who leaves', () => {
  test.each(ways)('at any event pays for what was sent till then, by %s', async (_name, path, body) => {
    const events = eventsOf(answer);
    for (let after = 5; after <= events.length; after += 2) {
      const before = await gateway.available(user);
      scripted = { text: events.slice(0, after).join(''), then: 'open' };
      const leaving = new AbortController();
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await gateway.addApiKey(user)}` },
        body: JSON.stringify({ model: model(1), ...body, stream: true }),
        signal: leaving.signal,
      }).catch(() => null);
      await response?.body?.getReader().read();
      leaving.abort();
      if (response === null) continue;
      const line = await lineOf(gateway, user, { requestId: response.headers.get('x-request-id') ?? '' });
      expect(line.quota).toBe(line.prompt_tokens + line.completion_tokens);
      await left(before - line.quota);
    }
  });
});

test('10,000 items of input reach the upstream, and are charged', async () => {
  scripted = { text: JSON.stringify(answer) };
  const items = Array.from({ length: 10_000 }, (_, at) => ({ role: at % 2 ? 'assistant' : 'user', content: `${at}` }));
  for (const [path, body] of [
    ['/v1/responses', { input: items }],
    ['/v1/chat/completions', { messages: items }],
  ] as const) {
    const got = await caller.send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { model: model(1), ...body },
    });
    expect(got.status).toBe(200);
    expect(received.at(-1)?.body.input).toHaveLength(10_000);
  }
});

test('xAI’s code that ran several times is charged as one container', async () => {
  await gateway.setOption('ToolPrice', '{"code_interpreter":20}');
  const ran = responseOf([codeItem, { ...codeItem, id: 'ci_2' }, messageItem(text)], { usage: reportedUsage(200, 40) });
  scripted = { text: JSON.stringify(ran) };
  const got = await caller.send('/v1/responses', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model: model(48), input: 'Count.', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
  });
  expect(await lineOf(gateway, user, got)).toMatchObject({ quota: 240 + 10_000 });
});

test('a test of a channel uses Responses, by its setting or its address, with a limit that OpenAI accepts', async () => {
  scripted = { text: JSON.stringify(answer) };
  const admin = await new GraphqlClient(gateway.url).signIn('root', gateway.rootPassword);
  for (const type of [1, 8]) {
    received = [];
    const id = channels.get(type);
    const tested = await admin.ask('mutation ($id: ID!) { testChannel(id: $id) { ok message } }', { id });
    expect(tested.testChannel).toEqual({ ok: true, message: '' });
    expect(received[0]).toMatchObject({ url: '/v1/responses', body: { max_output_tokens: 16, store: false } });
  }
});

test('a setting that says more than true or false, or lists no names, is refused by its name', async () => {
  const admin = await new GraphqlClient(gateway.url).signIn('root', gateway.rootPassword);
  const edit = 'mutation ($id: ID!, $patch: ChannelPatchInput!) { editChannel(id: $id, patch: $patch) { name } }';
  for (const setting of [
    '{"responses_only":"yes"}',
    '{"responses_only_models":"gpt-5-pro"}',
    '{"responses_only_models":[5]}',
  ])
    expect(await admin.refusal(edit, { id: channels.get(1), patch: { setting } })).toMatchObject({
      code: 'invalid-field',
      details: { field: 'setting' },
    });
  const plain = await gateway.addChannel({ type: 25, models: ['plain'], baseUrl: upstream.url });
  expect(await admin.refusal(edit, { id: plain, patch: { setting: '{"responses_only":true}' } })).toMatchObject({
    details: { field: 'setting' },
  });
});
