import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sender, WebSocket } from 'ws';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { NotUpgraded, openSocket, type SocketClient } from '../../support/callers/websocket-client.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  callItem,
  eventsOf,
  messageItem,
  reasoningItem,
  reportedUsage,
  responseOf,
  streamOf,
} from '../../support/upstreams/responses-answers.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* The Responses interface over a WebSocket: by the official SDK and by plain clients. Each response is a call of its own. */

let gateway: TestGateway;
let upstream: Upstream;
let user: TestUser;
let apiKey: string;
let scripted: string[] = [];
let received: JsonObject[] = [];
let cut = 0;
/** Ends the answer that upstream has begun. */
let endAnswer = (_rest: string): void => {};
let stopped: Promise<void> | null = null;
const clients: SocketClient[] = [];

const told = responseOf([messageItem('Every charge can be proved.')], { usage: reportedUsage(20, 10) });
const forgotten = (output: readonly JsonObject[], id: string): string =>
  streamOf(responseOf(output, { id, store: false, usage: reportedUsage(20, 10) }));

async function connected(key = apiKey): Promise<SocketClient> {
  const client = await openSocket(gateway.url, key);
  clients.push(client);
  return client;
}

const asked = (more: JsonObject = {}): JsonObject => ({
  model: 'm',
  input: 'What is a ledger?',
  store: false,
  ...more,
});
const said = (text: string): JsonObject => ({ type: 'message', role: 'user', content: text });
const lastOf = (events: readonly JsonObject[]): JsonObject => events.at(-1) ?? {};
/** Lines of calls alone: there is one of the user's first quota, too. */
const logged = async () =>
  (await gateway.application.queries.logBefore(user.actor, {}, { limit: 100 }, true)).filter(
    ({ usage_source }) => (usage_source ?? null) !== null,
  );
const refusalOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => 'opened',
    (error: unknown) => error,
  );

beforeAll(async () => {
  gateway = await startTestGateway({ MAX_REQUEST_BODY_MB: '2', MAX_BODIES_IN_MEMORY_MB: '16' });
  upstream = await startUpstream(({ body }, response) => {
    received.push(JSON.parse(body) as JsonObject);
    response.once('close', () => {
      if (!response.writableFinished) cut++;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const text = scripted.shift() ?? streamOf(told);
    if (text.endsWith('\n\n') && !text.includes('response.completed')) {
      response.write(text);
      endAnswer = (rest) => response.end(rest);
    } else response.end(text);
  });
  await gateway.setOption('ModelRatio', '{"m":1,"c":1}');
  await gateway.setOption('CompletionRatio', '{"m":1,"c":1}');
  await gateway.addChannel({ type: 1, models: ['m'], baseUrl: upstream.url });
  await gateway.addChannel({ type: 14, models: ['c'], baseUrl: gateway.provider.url });
});
afterAll(async () => {
  await (stopped ?? gateway?.stop());
  await upstream?.stop();
});
beforeEach(async () => {
  scripted = [];
  received = [];
  cut = 0;
  user = await gateway.addUser(100_000_000);
  apiKey = await gateway.addApiKey(user);
});
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
});

describe('a response over a WebSocket', () => {
  test('reaches the official SDK event by event, and is charged by its usage', async () => {
    const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1` });
    const socket = new ResponsesWS(client);
    const types: string[] = [];
    const completed = new Promise<JsonObject>((resolve) => {
      socket.on('event', ({ type }) => void types.push(type));
      socket.on('response.completed', ({ response }) => resolve(response as unknown as JsonObject));
    });
    socket.send({ type: 'response.create', model: 'm', input: 'What is a ledger?' });
    expect(await completed).toMatchObject({ id: told.id, status: 'completed', usage: { input_tokens: 20 } });
    expect(types).toEqual([...streamOf(told).matchAll(/^event: (.*)$/gm)].map(([, type]) => type));
    socket.close();
    expect(received).toEqual([{ model: 'm', input: 'What is a ledger?', stream: true }]);
    const [line] = await until(async () => ((await logged()).length > 0 ? logged() : null));
    expect(line).toMatchObject({ usage_source: 'upstream', prompt_tokens: 20, completion_tokens: 10, quota: 30 });
  });

  test('carries the data of each event as upstream sent it', async () => {
    const client = await connected();
    const events = await client.create(asked());
    const sent = [...streamOf(told).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
    expect(events).toEqual(sent);
  });

  test('goes to a channel that has chat alone as well', async () => {
    const client = await connected();
    const events = await client.create(asked({ model: 'c' }));
    expect(lastOf(events)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
  });

  test('waits for the one before it on its connection', async () => {
    const client = await connected();
    scripted = [forgotten([messageItem('first')], 'resp_1'), forgotten([messageItem('second')], 'resp_2')];
    client.send({ type: 'response.create', ...asked() });
    client.send({ type: 'response.create', ...asked() });
    expect(lastOf(await client.answer())).toMatchObject({ response: { id: 'resp_1' } });
    expect(lastOf(await client.answer())).toMatchObject({ response: { id: 'resp_2' } });
  });

  test('whose client disconnects mid-stream cancels upstream and is charged', async () => {
    const client = await connected();
    scripted = [eventsOf(told).slice(0, 6).join('')];
    client.send({ type: 'response.create', ...asked() });
    await until(async () => (client.events.length >= 6 ? true : null));
    client.socket.terminate();
    await until(async () => (cut > 0 ? true : null));
    const [line] = await until(async () => ((await logged()).length > 0 ? logged() : null));
    expect(line).toMatchObject({ usage_source: 'estimated' });
    expect(Number(line?.quota)).toBeGreaterThan(0);
  });

  test('that breaks off ends with one error event, and leaves the connection open', async () => {
    const client = await connected();
    scripted = [`${eventsOf(told).slice(0, 6).join('')}data: {"type":"response.completed"`];
    expect(lastOf(await client.create(asked()))).toMatchObject({
      type: 'error',
      status: 500,
      error: { code: 'stream_response_error' },
    });
    expect(lastOf(await client.create(asked()))).toMatchObject({ type: 'response.completed' });
    expect(client.events.filter(({ type }) => type === 'response.failed')).toEqual([]);
  });
});

describe('a conversation on one WebSocket', () => {
  test('goes upstream whole, though each turn brings new items alone', async () => {
    const client = await connected();
    const call = callItem('{"page":1.50}');
    const thought = reasoningItem('Hm.');
    scripted = [forgotten([thought, call], 'resp_1'), forgotten([messageItem('Done.')], 'resp_2')];
    await client.create(asked({ input: [said('Look it up.')] }));
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'found' };
    await client.create(asked({ previous_response_id: 'resp_1', input: [result] }));
    await client.create(asked({ previous_response_id: 'resp_2', input: 'Thanks.' }));
    expect(received[1]).toEqual({ ...asked({ input: [said('Look it up.'), thought, call, result] }), stream: true });
    expect(received[2]?.input).toEqual([
      ...[said('Look it up.'), thought, call, result],
      messageItem('Done.'),
      said('Thanks.'),
    ]);
    await until(async () => ((await logged()).length >= 3 ? true : null));
    expect((await logged()).map(({ quota }) => Number(quota))).toEqual([30, 30, 30]);
  });

  test('drops reasoning that has neither encrypted content nor words', async () => {
    const client = await connected();
    const { encrypted_content: _sealed, ...bare } = reasoningItem('Hm.');
    scripted = [forgotten([bare, messageItem('Yes.')], 'resp_1')];
    await client.create(asked({ input: [said('One?')] }));
    await client.create(asked({ previous_response_id: 'resp_1', input: [said('Two?')] }));
    expect(received[1]?.input).toEqual([said('One?'), messageItem('Yes.'), said('Two?')]);
  });

  test('keeps reasoning that comes with its words, under another id', async () => {
    const client = await connected();
    const { encrypted_content: _sealed, ...bare } = reasoningItem('Hm.');
    const spoken = { ...bare, content: [{ type: 'reasoning_text', text: 'Let me see.' }] };
    scripted = [forgotten([spoken, messageItem('Yes.')], 'resp_1')];
    await client.create(asked({ input: [said('One?')] }));
    await client.create(asked({ previous_response_id: 'resp_1', input: [said('Two?')] }));
    const id = expect.stringMatching(/^rs_[0-9a-f]{48}$/);
    expect(received[1]?.input).toEqual([said('One?'), { ...spoken, id }, messageItem('Yes.'), said('Two?')]);
  });

  test('starts with a warm-up that is free and reaches no upstream', async () => {
    const client = await connected();
    const warm = lastOf(await client.create(asked({ input: [said('Rules.')], generate: false })));
    expect(warm).toMatchObject({ type: 'response.completed', response: { output: [], usage: { total_tokens: 0 } } });
    expect(received).toEqual([]);
    const { id = null } = warm.response as JsonObject;
    await client.create(asked({ previous_response_id: id, input: [said('Go.')] }));
    expect(received).toEqual([{ ...asked({ input: [said('Rules.'), said('Go.')] }), stream: true }]);
    expect(await until(async () => ((await logged()).length > 0 ? logged() : null))).toHaveLength(1);
  });

  test('starts with a warm-up that the rate limit counts as it counts calls', async () => {
    const options = {
      ModelRequestRateLimitEnabled: 'true',
      ModelRequestRateLimitDurationMinutes: '2',
      ModelRequestRateLimitCount: '0',
      ModelRequestRateLimitSuccessCount: '2',
    };
    for (const [key, value] of Object.entries(options)) await gateway.setOption(key, value);
    const client = await connected();
    const warmUp = async () => lastOf(await client.create(asked({ input: [said('Rules.')], generate: false })));
    const ends = [await warmUp(), await warmUp(), await warmUp()];
    await gateway.setOption('ModelRequestRateLimitEnabled', 'false');
    expect(ends.map(({ type }) => type)).toEqual(['response.completed', 'response.completed', 'error']);
    expect(ends[2]).toMatchObject({ status: 429 });
    expect(lastOf(await client.create(asked()))).toMatchObject({ type: 'response.completed' });
  });

  test('continues after a failed turn', async () => {
    const client = await connected();
    scripted = [forgotten([messageItem('Yes.')], 'resp_1')];
    await client.create(asked({ input: [said('One?')] }));
    const failed = await client.create(asked({ model: 'unknown', previous_response_id: 'resp_1', input: [] }));
    expect(lastOf(failed)).toMatchObject({ type: 'error', status: 404, error: { code: 'model_not_found' } });
    await client.create(asked({ previous_response_id: 'resp_1', input: [said('Two?')] }));
    expect(received[1]?.input).toEqual([said('One?'), messageItem('Yes.'), said('Two?')]);
  });

  test('is not that of another connection, nor an older one of its own', async () => {
    const [client, other] = [await connected(), await connected()];
    scripted = [forgotten([messageItem('1')], 'resp_1'), forgotten([messageItem('2')], 'resp_2')];
    await client.create(asked());
    await client.create(asked({ previous_response_id: 'resp_1', input: [said('On.')] }));
    for (const [one, id] of [[other, 'resp_2'] as const, [client, 'resp_1'] as const])
      expect(lastOf(await one.create(asked({ previous_response_id: id })))).toMatchObject({
        type: 'error',
        status: 404,
        error: { code: 'previous_response_not_found', param: 'previous_response_id' },
      });
    expect(received).toHaveLength(2);
  });

  test('larger than the body limit is refused, and can restart', async () => {
    const client = await connected();
    const long = 'x'.repeat(1_500_000);
    scripted = [forgotten([messageItem('1')], 'resp_1')];
    await client.create(asked({ input: [said(long)] }));
    const refused = lastOf(await client.create(asked({ previous_response_id: 'resp_1', input: [said(long)] })));
    expect(refused).toMatchObject({ type: 'error', status: 413 });
    expect(lastOf(await client.create(asked()))).toMatchObject({ type: 'response.completed' });
  });
});

describe('a message on a WebSocket', () => {
  test.each([
    ['that is no JSON', '{"type":', 'invalid_request', ''],
    ['of another type', '{"type":"response.cancel"}', 'invalid_request', 'type'],
    ['with a stream id', '{"type":"response.create","stream_id":"s"}', 'invalid_request', 'stream_id'],
    ['in the background', '{"type":"response.create","background":true}', 'invalid_request', 'background'],
    ['with generate as a text', '{"type":"response.create","generate":"no"}', 'invalid_request', 'generate'],
    ['with a member twice', '{"type":"response.create","model":"m","model":"m"}', 'invalid_request', 'model'],
    ['without input', '{"type":"response.create","model":"m"}', 'invalid_text_request', 'input'],
  ])('%s is refused by name, and the connection stays open', async (_what, message, code, param) => {
    const client = await connected();
    client.send(message);
    expect(lastOf(await client.answer())).toMatchObject({ type: 'error', status: 400, error: { code, param } });
    expect(lastOf(await client.create(asked()))).toMatchObject({ type: 'response.completed' });
  });

  test('in binary closes the connection', async () => {
    const client = await connected();
    client.send(Buffer.from(JSON.stringify({ type: 'response.create', ...asked() })));
    expect(await client.closed).toBe(1003);
  });

  test('larger than a body may be closes the connection', async () => {
    const client = await connected();
    client.send('x'.repeat(2 * 1024 * 1024 + 1));
    expect(await client.closed).toBe(1009);
  });

  test('that waits behind too many others closes the connection', async () => {
    const client = await connected();
    scripted = [eventsOf(told).slice(0, 6).join('')];
    for (let sent = 0; sent < 10; sent++) client.send({ type: 'response.create', ...asked() });
    expect(lastOf(await client.answer())).toMatchObject({ type: 'error', status: 429 });
  });

  test('whose frames swell to more than there is room for closes the connection', async () => {
    const opened = await Promise.all(Array.from({ length: 12 }, () => connected()));
    // Frames of one message that never ends, each a megabyte once it is unpacked.
    for (const { socket } of opened) {
      const { _sender: sender } = socket as unknown as { _sender: Sender };
      const send = sender.send.bind(sender) as unknown as (data: Buffer, options: JsonObject) => void;
      send(Buffer.alloc(1024 * 1024, 'x'), { fin: false, compress: true, binary: false, mask: true });
    }
    const codes = await until(async () => {
      const closing = opened.filter(({ socket }) => socket.readyState !== WebSocket.OPEN);
      return closing.length > 0 ? Promise.all(closing.map(({ closed }) => closed)) : null;
    });
    expect(new Set(codes)).toEqual(new Set([1013]));
  });
});

describe('who opens a WebSocket', () => {
  test('without a valid key is refused in HTTP', async () => {
    const refusal = await refusalOf(openSocket(gateway.url, `sk-${'x'.repeat(48)}`));
    expect(refusal).toBeInstanceOf(NotUpgraded);
    const { status, body } = refusal as NotUpgraded;
    expect([status, JSON.parse(body)]).toMatchObject([401, { error: { code: 'invalid_api_key' } }]);
  });

  test('where they are switched off is sent to HTTP', async () => {
    await gateway.setOption('general_setting.responses_websocket', 'false');
    try {
      const { status, body } = (await refusalOf(openSocket(gateway.url, apiKey))) as NotUpgraded;
      expect([status, JSON.parse(body)]).toMatchObject([426, { error: { code: 'websocket_disabled' } }]);
    } finally {
      await gateway.setOption('general_setting.responses_websocket', 'true');
    }
  });

  test('is checked at each call: a banned user gets 403 and is disconnected', async () => {
    const client = await connected();
    const { application, root } = gateway;
    await application.visible(await application.users.manage(root, user.actor.id, 'disable'));
    expect(lastOf(await client.create(asked()))).toMatchObject({ status: 403, error: { code: 'user_banned' } });
    expect(await client.closed).toBe(1008);
    expect(received).toEqual([]);
  });

  test('forty times at once with a small balance pays no more than there is', async () => {
    const poor = await gateway.addUser(3_000);
    const key = await gateway.addApiKey(poor);
    const costly = responseOf([messageItem('Every charge can be proved.')], { usage: reportedUsage(20, 400) });
    scripted = Array.from({ length: 40 }, () => streamOf(costly));
    const sockets = await Promise.all(Array.from({ length: 40 }, () => connected(key)));
    const got = await Promise.all(sockets.map((client) => client.create(asked()).then(lastOf)));
    const served = got.filter(({ type }) => type === 'response.completed');
    expect(served.length).toBeGreaterThan(0);
    for (const { type, status } of got) if (type === 'error') expect(status).toBe(403);
    expect(got).toHaveLength(served.length + got.filter(({ type }) => type === 'error').length);
    const { queries } = gateway.application;
    const spent = await until(async () => {
      const lines = await queries.logBefore(poor.actor, {}, { limit: 100 }, true);
      const calls = lines.filter(({ usage_source: source }) => (source ?? null) !== null);
      return calls.length < served.length ? null : calls.reduce((sum, { quota }) => sum + Number(quota), 0);
    });
    expect(spent).toBeLessThanOrEqual(3_000);
    await until(async () => ((await gateway.available(poor)) === 3_000 - spent ? true : null));
  });

  test('with a small balance is refused call by call', async () => {
    const poor = await gateway.addUser(10);
    const client = await connected(await gateway.addApiKey(poor));
    const events = await client.create(asked({ max_output_tokens: 100 }));
    expect(lastOf(events)).toMatchObject({ type: 'error', status: 403, error: { code: 'insufficient_user_quota' } });
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
    expect(received).toEqual([]);
  });
});

test('a stopping gateway finishes the response in flight, and closes WebSockets with 1001', async () => {
  const [idle, busy] = [await connected(), await connected()];
  scripted = [eventsOf(told).slice(0, 6).join('')];
  busy.send({ type: 'response.create', ...asked() });
  await until(async () => (busy.events.length >= 6 ? true : null));
  stopped = gateway.stop();
  expect(await idle.closed).toBe(1001);
  endAnswer(streamOf(told).slice(eventsOf(told).slice(0, 6).join('').length));
  expect(lastOf(await busy.answer())).toMatchObject({ type: 'response.completed' });
  expect(await busy.closed).toBe(1001);
  await stopped;
});
