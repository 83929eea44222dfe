import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import {
  type AnthropicUpstream,
  messageOf,
  startAnthropicUpstream,
} from '../../support/upstreams/anthropic-upstream.js';
import { type KeepingUpstream, startKeepingUpstream } from '../../support/upstreams/keeping-upstream.js';
import { messageItem, reportedUsage, responseOf } from '../../support/upstreams/responses-answers.js';

/* Ids that answers bring and later requests name, other than those of responses, belong to their user. */

let gateway: TestGateway;
let callers: Callers;
let upstreams: KeepingUpstream[];
let owner: Caller;
let other: Caller;

const post = (caller: Caller, path: string, body: JsonObject) =>
  caller.send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
const requests = () => upstreams.flatMap(({ received }) => received);
const json = (body: object) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const events = (chunks: readonly object[]) => (response: ServerResponse) =>
  void response
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`);

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstreams = await Promise.all([startKeepingUpstream(), startKeepingUpstream()]);
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, '{"m":1,"claude":1}');
  for (const { url } of upstreams) await gateway.addChannel({ type: 1, models: ['m'], baseUrl: url });
  owner = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000_000)));
  other = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000_000)));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams ?? []) await upstream.stop();
});
beforeEach(() => {
  for (const { received } of upstreams) received.length = 0;
});

describe('an answer in sound', () => {
  const chat = '/v1/chat/completions';
  const messages = [{ role: 'user', content: 'Say it.' }];
  const ask = { model: 'm', messages, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'pcm16' } };
  const naming = (id: string) => ({
    model: 'm',
    messages: [...messages, { role: 'assistant', audio: { id } }, { role: 'user', content: 'And?' }],
  });
  const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' };
  const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
  const answer = (id: string) => ({
    ...{ ...head, usage },
    choices: [
      {
        ...{ index: 0, finish_reason: 'stop' },
        message: { role: 'assistant', content: null, audio: { id, data: 'AAAA', expires_at: 9, transcript: 'Hi.' } },
      },
    ],
  });
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...{ ...head, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, finish_reason }],
  });
  const stream = (id: string) => [
    chunk({ role: 'assistant', content: null }),
    chunk({ audio: { id, transcript: 'Hi.' } }),
    chunk({ audio: { id, data: 'AAAA' } }),
    chunk({}, 'stop'),
    { ...head, object: 'chat.completion.chunk', choices: [], usage },
  ];

  test.each([false, true])('is named again by its user alone, at its channel (streamed: %s)', async (streams) => {
    const id = `audio_0123456789abcdef0123456789abcde${Number(streams)}`;
    for (const upstream of upstreams) upstream.next(`POST ${chat}`, streams ? events(stream(id)) : json(answer(id)));
    expect((await post(owner, chat, { ...ask, stream: streams })).status).toBe(200);
    const at = upstreams.findIndex(({ received }) => received.length > 0);
    // The other has its answer left.
    const idle = upstreams[1 - at];
    await fetch(`${idle?.url}${chat}`, { method: 'POST', body: '{}' });
    for (const { received } of upstreams) received.length = 0;
    const refused = await post(other, chat, naming(id));
    const unknown = await post(other, chat, naming(`${id}9`));
    expect([refused.status, errorIn(refused).param]).toEqual([404, 'messages[1].audio.id']);
    expect(refused.text.replaceAll(id, 'ID').replaceAll(refused.requestId, '')).toBe(
      unknown.text.replaceAll(`${id}9`, 'ID').replaceAll(unknown.requestId, ''),
    );
    expect(requests()).toEqual([]);
    for (let turn = 0; turn < 3; turn++) {
      upstreams[at]?.next(`POST ${chat}`, json(answer(`audio_later_${Number(streams)}_${turn}`)));
      expect((await post(owner, chat, naming(id))).status).toBe(200);
    }
    expect(upstreams[at]?.received.map(({ body }) => body)).toEqual(Array(3).fill(naming(id)));
    expect(idle?.received).toEqual([]);
  });

  test('belongs to its user though nothing else is to be kept', async () => {
    await gateway.setOption('general_setting.keep_upstream', 'false');
    const got = await post(other, chat, naming('audio_0123456789abcdef0123456789abcdef'));
    await gateway.setOption('general_setting.keep_upstream', 'true');
    expect([got.status, errorIn(got).param]).toEqual([404, 'messages[1].audio.id']);
  });
});

describe('thinking that comes with its words and without a seal', () => {
  const thought = {
    ...{ type: 'reasoning', id: 'rs_of_another_user_0123456789', summary: [] },
    content: [{ type: 'reasoning_text', text: 'Let me see.' }],
  };
  const input = [{ role: 'user', content: 'And?' }, thought, { role: 'user', content: 'So?' }];
  const sentThoughts = () => objectsIn(requests()[0]?.body.input).filter(({ type }) => type === 'reasoning');

  test.each(['true', 'false'])(
    'goes upstream with its words under an id that names nothing there (kept upstream: %s)',
    async (keeps) => {
      await gateway.setOption('general_setting.keep_upstream', keeps);
      const got = await post(owner, '/v1/responses', { model: 'm', input, store: false });
      await gateway.setOption('general_setting.keep_upstream', 'true');
      expect(got.status).toBe(200);
      const [{ id, ...rest } = {}] = sentThoughts();
      expect({ ...rest, id: thought.id }).toEqual(thought);
      expect(id).toMatch(/^rs_[0-9a-f]{48}$/);
    },
  );

  test('has the same id in the next turn, so that a cache finds it', async () => {
    await post(owner, '/v1/responses', { model: 'm', input, store: false });
    const [{ id } = {}] = sentThoughts();
    for (const { received } of upstreams) received.length = 0;
    await post(owner, '/v1/responses', { model: 'm', input: [...input, thought], store: false });
    expect(sentThoughts()).toMatchObject([{ id }, { id }]);
  });

  test.each([[[]], [[{ type: 'reasoning_text', text: '' }]], ['words'], [null]])(
    'is an id alone where its content is %j',
    async (content) => {
      const got = await post(owner, '/v1/responses', { model: 'm', input: [{ ...thought, content }] as JsonObject[] });
      expect([got.status, errorIn(got).param]).toEqual([404, 'input[0].id']);
      expect(requests()).toEqual([]);
    },
  );
});

test('an approval of a call belongs to the user whose response requested approval', async () => {
  const asks = { type: 'mcp_approval_request', id: 'mcpr_0123456789', name: 'f', arguments: '{}', server_label: 's' };
  const made = responseOf([messageItem('May I?'), asks], { id: 'resp_asks_0123456789', usage: reportedUsage(5, 5) });
  for (const upstream of upstreams) upstream.next('POST /v1/responses', json(made));
  expect((await post(owner, '/v1/responses', { model: 'm', input: 'Go.' })).status).toBe(200);
  const approval = { type: 'mcp_approval_response', approval_request_id: asks.id, approve: true };
  const refused = await post(other, '/v1/responses', { model: 'm', input: [approval] });
  expect([refused.status, errorIn(refused).param]).toEqual([404, 'input[0].approval_request_id']);
  for (const input of [[approval], [asks, approval]])
    expect((await post(owner, '/v1/responses', { model: 'm', input })).status).toBe(200);
  // Who sends the call along names nothing.
  expect((await post(other, '/v1/responses', { model: 'm', input: [asks, approval] })).status).toBe(200);
});

describe('the message that Anthropic compares a cache with', () => {
  let anthropic: AnthropicUpstream;
  const ask = async (caller: Caller, diagnostics: JsonObject | null, stream = false) => {
    const body = { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], stream };
    const got = await post(caller, '/v1/messages', diagnostics === null ? body : { ...body, diagnostics });
    expect(got.status).toBe(200);
    return anthropic.calls.pop()?.json.diagnostics;
  };

  beforeAll(async () => {
    anthropic = await startAnthropicUpstream();
    await gateway.addChannel({ type: 14, models: ['claude'], baseUrl: anthropic.url });
  });
  afterAll(() => anthropic?.stop());

  test.each([false, true])('is the user’s own, and none in place of another’s (streamed: %s)', async (stream) => {
    const id = `msg_0123456789abcdef${Number(stream)}`;
    anthropic.respondWith(messageOf([{ type: 'text', text: 'Hi.' }], {}, { id }));
    expect(await ask(owner, { previous_message_id: id }, stream)).toEqual({ previous_message_id: null });
    expect(await ask(owner, { previous_message_id: id }, stream)).toEqual({ previous_message_id: id });
    expect(await ask(other, { previous_message_id: id }, stream)).toEqual({ previous_message_id: null });
    expect(await ask(owner, null, stream)).toBeUndefined();
  });

  test('is not remembered of answers without diagnostics', async () => {
    anthropic.respondWith(messageOf([{ type: 'text', text: 'Hi.' }], {}, { id: 'msg_unasked' }));
    await ask(owner, null);
    expect(await ask(owner, { previous_message_id: 'msg_unasked' })).toEqual({ previous_message_id: null });
  });
});

describe('a conversation that Anthropic keeps', () => {
  let anthropics: AnthropicUpstream[];
  const body = { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
  const create = { type: 'create' };
  const goingOnAfter = (id: string) => ({ type: 'continue', previous_message_id: id });
  const betas = 'message-threads-2026-08-12';
  const ask = (caller: Caller, more: JsonObject) =>
    caller.send('/v1/messages', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json', 'anthropic-beta': betas } },
      body: { ...body, ...more },
    });
  const calls = () => anthropics.flatMap(({ calls }) => calls);
  const answerWith = (id: string, usage: JsonObject = {}) => {
    for (const one of anthropics) one.respondWith(messageOf([{ type: 'text', text: 'Hi.' }], usage, { id }));
  };

  beforeAll(async () => {
    anthropics = await Promise.all([startAnthropicUpstream(), startAnthropicUpstream()]);
    await gateway.setOption('ModelRatio', '{"m":1,"claude":1,"thread":1,"elsewhere":1}');
    await gateway.setOption('CompletionRatio', '{"m":1,"claude":1,"thread":1,"elsewhere":1}');
    for (const { url } of anthropics) await gateway.addChannel({ type: 14, models: ['thread'], baseUrl: url });
    await gateway.addChannel({ type: 1, models: ['elsewhere'], baseUrl: upstreams[0]?.url ?? '' });
  });
  afterAll(async () => {
    for (const one of anthropics ?? []) await one.stop();
  });
  beforeEach(() => {
    for (const { calls } of anthropics) calls.length = 0;
  });

  test.each([false, true])(
    'continues at the channel that has it, for its user alone (streamed: %s)',
    async (stream) => {
      const more = { model: 'thread', stream };
      const [first, second] = [`msg_thread_first_${Number(stream)}`, `msg_thread_second_${Number(stream)}`];
      answerWith(first);
      expect((await ask(owner, { ...more, thread: create })).status).toBe(200);
      expect(calls()[0]?.json.thread).toEqual(create);
      expect(calls()[0]?.headers['anthropic-beta']).toBe(betas);
      const at = anthropics.findIndex(({ calls }) => calls.length > 0);
      answerWith(second);
      for (const id of [first, second, first])
        expect((await ask(owner, { ...more, thread: goingOnAfter(id) })).status).toBe(200);
      expect(anthropics[at]?.calls.slice(1).map(({ json }) => json.thread)).toEqual(
        [first, second, first].map(goingOnAfter),
      );
      expect(anthropics[1 - at]?.calls).toEqual([]);
      const strangers = await ask(other, { ...more, thread: goingOnAfter(first) });
      const unknown = await ask(other, { ...more, thread: goingOnAfter(`${first}9`) });
      expect([strangers.status, JSON.parse(strangers.text).error]).toMatchObject([
        404,
        { type: 'not_found_error', details: { error_code: 'thread_not_found' } },
      ]);
      expect(strangers.text.replaceAll(first, 'ID').replaceAll(strangers.requestId, '')).toBe(
        unknown.text.replaceAll(`${first}9`, 'ID').replaceAll(unknown.requestId, ''),
      );
      expect(calls()).toHaveLength(4);
    },
  );

  test('is charged by the usage of the whole conversation', async () => {
    const spender = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000_000)));
    answerWith('msg_long_thread', { input_tokens: 90_000 });
    await ask(spender, { model: 'thread', thread: create });
    answerWith('msg_longer_thread', { input_tokens: 95_000 });
    const got = await ask(spender, { model: 'thread', thread: goingOnAfter('msg_long_thread') });
    expect(got.status).toBe(200);
    expect(JSON.parse(got.text).usage.input_tokens).toBe(95_000);
  });

  test('is refused for a balance that is smaller than the price of the kept turns', async () => {
    const spender = callers.with(await gateway.addApiKey(await gateway.addUser(150_000)));
    answerWith('msg_costly_thread', { input_tokens: 90_000 });
    await ask(spender, { model: 'thread', thread: create });
    const got = await ask(spender, { model: 'thread', thread: goingOnAfter('msg_costly_thread') });
    expect(got.status).toBe(402);
    expect(calls()).toHaveLength(1);
  });

  test.each<[string, JsonObject]>([
    ['thread', { thread: 'create' }],
    ['thread.type', { thread: { type: 'fork' } }],
    ['thread.previous_message_id', { thread: { type: 'continue' } }],
    ['thread.previous_message_id', { thread: { ...goingOnAfter('msg_1'), type: 'create' } }],
    ['thread.until', { thread: { type: 'create', until: 'noon' } }],
  ])('is not begun by what is wrong with it, which is named: %s', async (param, wrong) => {
    const got = await ask(owner, { model: 'thread', ...wrong });
    expect([got.status, JSON.parse(got.text).error.message]).toEqual([400, expect.stringContaining(param)]);
    expect(calls()).toEqual([]);
  });

  test('is refused by name where the upstream speaks another dialect', async () => {
    const got = await ask(owner, { model: 'elsewhere', thread: create });
    expect([got.status, JSON.parse(got.text).error.message]).toEqual([400, expect.stringMatching(/^thread: Extra/)]);
  });

  test('is refused by name where nothing is to be kept, and its beginning with it', async () => {
    await gateway.setOption('general_setting.keep_upstream', 'false');
    const got = [create, goingOnAfter('msg_thread_first_0')].map((thread) => ask(owner, { model: 'thread', thread }));
    for (const { status, text } of await Promise.all(got))
      expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringMatching(/^thread/)]);
    await gateway.setOption('general_setting.keep_upstream', 'true');
    expect(calls()).toEqual([]);
  });

  test('gives errors of upstream with their error_code', async () => {
    const error = {
      ...{ type: 'invalid_request_error', message: 'Already continued.' },
      details: { error_code: 'thread_already_continued' },
    };
    const refuse = (_: unknown, response: ServerResponse) =>
      void response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ type: 'error', error }));
    for (const one of anthropics) one.respondWith(refuse);
    const got = await ask(owner, { model: 'thread', thread: create });
    expect(JSON.parse(got.text).error.details).toEqual({ error_code: 'thread_already_continued' });
  });
});
