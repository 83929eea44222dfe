import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { type KeepingUpstream, startKeepingUpstream } from '../../support/upstreams/keeping-upstream.js';

/* The endpoints of the Responses interface beside asking for one, by the official SDK and by strangers. */

let gateway: TestGateway;
let callers: Callers;
let upstream: KeepingUpstream;
let user: TestUser;
let owner: Caller;
let stranger: Caller;
let client: OpenAI;

const created = () => client.responses.create({ model: 'm', input: 'What is a ledger?' });

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startKeepingUpstream();
  for (const option of ['ModelRatio', 'CompletionRatio'])
    await gateway.setOption(option, '{"m":1,"m-chat":1,"chat-only":1}');
  await gateway.addChannel({ type: 1, models: ['m'], baseUrl: upstream.url, key: 'sk-upstream-secret' });
  await gateway.addChannel({ type: 25, models: ['chat-only'], baseUrl: upstream.url });
  user = await gateway.addUser(1_000_000_000);
  const apiKey = await gateway.addApiKey(user);
  owner = callers.with(apiKey);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  stranger = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000_000)));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

describe('a kept response', () => {
  test('is retrieved by the SDK as it was made, and nothing is charged for that', async () => {
    const response = await created();
    const before = await gateway.available(user);
    expect(await client.responses.retrieve(response.id)).toMatchObject({ id: response.id, output: response.output });
    expect(await gateway.available(user)).toBe(before);
    expect(upstream.received.at(-1)).toMatchObject({ method: 'GET', url: `/v1/responses/${response.id}`, text: '' });
  });

  test('is retrieved as a stream', async () => {
    const response = await created();
    const types: string[] = [];
    const stream = await client.responses.retrieve(response.id, { stream: true, starting_after: 2 });
    for await (const { type } of stream) types.push(type);
    expect(types).toContain('response.completed');
    expect(upstream.received.at(-1)?.url).toBe(`/v1/responses/${response.id}?stream=true&starting_after=2`);
  });

  test('lists its input items in pages', async () => {
    const response = await created();
    const items = await client.responses.inputItems.list(response.id, { limit: 5, order: 'asc', after: 'msg_1' });
    expect(items.data).toEqual([]);
    const url = new URL(upstream.received.at(-1)?.url ?? '', upstream.url);
    expect(url.pathname).toBe(`/v1/responses/${response.id}/input_items`);
    expect(Object.fromEntries(url.searchParams)).toEqual({ limit: '5', order: 'asc', after: 'msg_1' });
  });

  test('is not found any more once it was deleted, by its path and by the next turn', async () => {
    const response = await created();
    await client.responses.delete(response.id);
    const gone = await owner.send(`/v1/responses/${response.id}`);
    const unknown = await owner.send('/v1/responses/resp_unknown');
    expect([gone.status, errorIn(gone).code]).toEqual([404, 'response_not_found']);
    expect(gone.text.replace(response.id, 'ID').replaceAll(gone.requestId, '')).toBe(
      unknown.text.replace('resp_unknown', 'ID').replaceAll(unknown.requestId, ''),
    );
    const turn = await owner.send('/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { model: 'm', input: 'and?', previous_response_id: response.id },
    });
    expect([turn.status, errorIn(turn).code]).toEqual([404, 'previous_response_not_found']);
  });

  test('that was not made in the background cannot be cancelled, as upstream says', async () => {
    const response = await created();
    await expect(client.responses.cancel(response.id)).rejects.toMatchObject({ status: 400 });
    expect(upstream.received.at(-1)).toMatchObject({ method: 'POST', url: `/v1/responses/${response.id}/cancel` });
  });

  test.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/cancel'],
    ['GET', '/input_items'],
    ['GET', '?stream=true'],
  ])('is its user’s alone: %s %s', async (method, rest) => {
    const { id } = await created();
    upstream.received.length = 0;
    const refused = await stranger.send(`/v1/responses/${id}${rest}`, { method });
    const unknown = await stranger.send(`/v1/responses/${id}9${rest}`, { method });
    expect([refused.status, errorIn(refused).type]).toEqual([404, 'invalid_request_error']);
    expect(refused.text.replace(id, 'ID').replaceAll(refused.requestId, '')).toBe(
      unknown.text.replace(`${id}9`, 'ID').replaceAll(unknown.requestId, ''),
    );
    expect(upstream.received).toEqual([]);
  });

  test.each(['..', '%2e%2e%2fmodels', 'resp%2F..%2F..%2Fmodels', 'input_items'])(
    'is not looked for upstream where its id is an address: %s',
    async (id) => {
      const got = await owner.send(`/v1/responses/${id}`);
      expect(got.status).toBe(404);
      expect(upstream.received).toEqual([]);
    },
  );

  test.each([401, 429, 500])('is refused as a call is where upstream refuses with %i', async (status) => {
    const { id } = await created();
    upstream.next('GET /v1/responses', (response) => {
      const error = {
        message: `${status === 401 ? 'Incorrect API key provided' : 'Overloaded'}: sk-upstream-secret`,
        type: 'x',
        code: status === 401 ? 'invalid_api_key' : 'x',
      };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    });
    const got = await owner.send(`/v1/responses/${id}`);
    expect(got.status).toBe(status === 401 ? 502 : status);
    expect(got.text).not.toContain('sk-upstream-secret');
  });

  test('is refused where upstream answers with no JSON, or breaks off', async () => {
    const { id } = await created();
    upstream.next('GET', (response) => void response.writeHead(200).end('<html>'));
    expect((await owner.send(`/v1/responses/${id}`)).status).toBe(502);
    upstream.next('GET', (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{', () => response.destroy());
    });
    expect((await owner.send(`/v1/responses/${id}`)).status).toBe(500);
  });

  test('is refused without a key', async () => {
    expect((await callers.with(null).send('/v1/responses/resp_1')).status).toBe(401);
  });

  test('is not found where nothing is to be kept', async () => {
    const { id } = await created();
    await gateway.setOption('general_setting.keep_upstream', 'false');
    const got = await owner.send(`/v1/responses/${id}`);
    await gateway.setOption('general_setting.keep_upstream', 'true');
    expect(got.status).toBe(404);
  });
});

test('a chat that goes to a channel with Responses alone keeps nothing there', async () => {
  const setting = JSON.stringify({ responses_only: true });
  await gateway.addChannel({ type: 1, models: ['m-chat'], baseUrl: upstream.url, setting });
  expect((await owner.chat({ model: 'm-chat' })).status).toBe(200);
  expect(upstream.received).toMatchObject([{ url: '/v1/responses', body: { store: false } }]);
});

describe('a conversation', () => {
  test('is made, read, changed and deleted by the SDK, with its items, and nothing is charged', async () => {
    const before = await gateway.available(user);
    const { id } = await client.conversations.create({ metadata: { topic: 'ledgers' } });
    expect(upstream.received.at(-1)).toMatchObject({ method: 'POST', url: '/v1/conversations' });
    expect((await client.conversations.retrieve(id)).id).toBe(id);
    await client.conversations.update(id, { metadata: { topic: 'receipts' } });
    const items = [{ type: 'message', role: 'user', content: 'Hello.' }] as const;
    const added = await client.conversations.items.create(id, { items: [...items] });
    const item = added.data[0]?.id ?? '';
    expect((await client.conversations.items.list(id)).data).toHaveLength(1);
    expect(await client.conversations.items.retrieve(item, { conversation_id: id })).toMatchObject({ id: item });
    const response = await client.responses.create({ model: 'm', input: 'and?', conversation: id });
    expect(upstream.received.at(-1)?.body).toEqual({ model: 'm', input: 'and?', conversation: id });
    expect(response.output_text).not.toBe('');
    await client.conversations.delete(id);
    expect((await owner.send(`/v1/conversations/${id}`)).status).toBe(404);
    // The response alone.
    expect(before - (await gateway.available(user))).toBe(30);
  });

  test.each([
    ['GET', ''],
    ['POST', ''],
    ['DELETE', ''],
    ['GET', '/items'],
    ['POST', '/items'],
    ['GET', '/items/msg_1'],
    ['DELETE', '/items/msg_1'],
  ])('is its user’s alone: %s %s', async (method, rest) => {
    const { id } = await client.conversations.create();
    upstream.received.length = 0;
    const headers = { 'content-type': 'application/json' };
    const body = method === 'POST' ? { body: { items: [] } } : {};
    const refused = await stranger.send(`/v1/conversations/${id}${rest}`, { method, headers, ...body });
    expect([refused.status, errorIn(refused).code]).toEqual([404, 'conversation_not_found']);
    const turn = await stranger.send('/v1/responses', {
      method: 'POST',
      headers,
      body: { model: 'm', input: 'hi', conversation: id },
    });
    expect([turn.status, errorIn(turn).code]).toEqual([404, 'conversation_not_found']);
    expect(upstream.received).toEqual([]);
  });

  test.each([
    ['a file of the account', [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }], 400],
    ['a tool without a price', [{ type: 'additional_tools', tools: [{ type: 'image_generation' }] }], 400],
    ['an item of another user', [{ type: 'item_reference', id: 'msg_of_somebody' }], 404],
  ])('rejects %s as an item', async (_what, items, status) => {
    const { id } = await client.conversations.create();
    upstream.received.length = 0;
    for (const path of ['/v1/conversations', `/v1/conversations/${id}/items`]) {
      const headers = { 'content-type': 'application/json' };
      const got = await owner.send(path, { method: 'POST', headers, body: { items } as JsonObject });
      expect([path, got.status]).toEqual([path, status]);
      expect(errorIn(got).param).toMatch(/^input\[0\]/);
    }
    expect(upstream.received).toEqual([]);
  });

  test.each([
    ['input[0].id', { input: [{ type: 'item_reference', id: 'msg_of_somebody' }] }],
    ['previous_response_id', { previous_response_id: 'resp_of_somebody', items: [] }],
    ['conversation', { conversation: 'conv_of_somebody', metadata: {} }],
  ])('rejects %s beside its items', async (param, body) => {
    const { id } = await client.conversations.create();
    upstream.received.length = 0;
    for (const path of ['/v1/conversations', `/v1/conversations/${id}`, `/v1/conversations/${id}/items`]) {
      const headers = { 'content-type': 'application/json' };
      const got = await owner.send(path, { method: 'POST', headers, body: body as JsonObject });
      expect([path, got.status, errorIn(got).param]).toEqual([path, 400, param]);
    }
    expect(upstream.received).toEqual([]);
  });

  test.each(['..', '%2e%2e', 'a%2Fb'])('answers 404 for an id of an item that is an address: %s', async (item) => {
    const { id } = await client.conversations.create();
    upstream.received.length = 0;
    const got = await owner.send(`/v1/conversations/${id}/items/${item}`, { method: 'DELETE' });
    if (upstream.received.length > 0) expect(upstream.received.map(({ url }) => url)).toEqual([]);
    expect(got.status).toBe(404);
  });
});

describe('the tokens of an input', () => {
  test('are counted by an upstream that counts, for nothing', async () => {
    const before = await gateway.available(user);
    const counted = await client.responses.inputTokens.count({ model: 'm', input: 'What is a ledger?' });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: 17 });
    expect(await gateway.available(user)).toBe(before);
    expect(upstream.received).toMatchObject([
      { url: '/v1/responses/input_tokens', body: { model: 'm', input: 'What is a ledger?' } },
    ]);
  });

  test('are estimated where upstream does not count', async () => {
    upstream.next('POST /v1/responses/input_tokens', (response) => void response.writeHead(404).end('{}'));
    const got = await owner.send('/v1/responses/input_tokens', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { model: 'm', input: 'What is a ledger?' },
    });
    expect(got.status).toBe(200);
    expect(got.headers['x-token-count']).toBe('estimated');
    expect(Number((JSON.parse(got.text) as JsonObject).input_tokens)).toBeGreaterThan(3);
  });

  test('are not counted where they lie in a response of another user', async () => {
    const { id } = await created();
    upstream.received.length = 0;
    const got = await stranger.send('/v1/responses/input_tokens', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { model: 'm', input: 'hi', previous_response_id: id },
    });
    expect([got.status, errorIn(got).code]).toEqual([404, 'previous_response_not_found']);
    expect(upstream.received).toEqual([]);
  });
});

describe('a conversation that is summed up', () => {
  test('is charged as a response is', async () => {
    const { data, response } = await client.responses
      .compact({ model: 'm', input: 'What is a ledger?' })
      .withResponse();
    expect(data).toMatchObject({ object: 'response.compaction', output: [{ type: 'compaction' }] });
    expect(upstream.received).toMatchObject([
      { url: '/v1/responses/compact', text: '{"model":"m","input":"What is a ledger?"}' },
    ]);
    const line = await lineOf(gateway, user, { requestId: response.headers.get('x-request-id') ?? '' });
    expect(line).toMatchObject({ usage_source: 'upstream', prompt_tokens: 20, completion_tokens: 10, quota: 30 });
  });

  test('is refused where only chat serves the model', async () => {
    const got = await owner.send('/v1/responses/compact', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { model: 'chat-only', input: 'hi' },
    });
    expect([got.status, errorIn(got).code]).toEqual([400, 'convert_request_failed']);
    expect(upstream.received).toEqual([]);
  });
});
