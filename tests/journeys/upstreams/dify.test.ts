import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, chunksIn, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';

/* Apps of Dify through a gateway: conversations that go on, files, and agents that only stream. */

const key = 'app-key-0123456789';
const conversation = '45701982-8118-4bc5-8e9b-64562b4555f2';
/** Of a conversation nobody knows how long it is: its user must have enough for the largest context there is. */
const quota = 1_000_000_000;
const usage = { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 };

let gateway: TestGateway;
let upstream: Upstream;
let callers: Callers;
let user: TestUser;
let caller: Caller;

let asked: UpstreamCall[] = [];
let serve: (call: UpstreamCall, response: ServerResponse) => void;

const answer = (_call: UpstreamCall, response: ServerResponse): void =>
  void response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ event: 'message', answer: 'Yes.', conversation_id: conversation, metadata: { usage } }));

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startUpstream((call, response) => {
    asked.push(call);
    serve(call, response);
  });
  await gateway.setOption('ModelRatio', '{"talks":0.1,"acts":0.1}');
  for (const [models, other] of [['talks', ''] as const, ['acts', 'agent'] as const])
    await gateway.addChannel({ type: 37, key, models: [models], other, baseUrl: `${upstream.url}/v1` });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  asked = [];
  serve = answer;
  user = await gateway.addUser(quota);
  caller = callers.with(await gateway.addApiKey(user));
});

const bodyOf = (call: UpstreamCall | undefined): JsonObject => JSON.parse(call?.body ?? '{}');

test('a first question to an app with knowledge is charged all that its models have read', async () => {
  const read = { prompt_tokens: 60_000, completion_tokens: 4, total_tokens: 60_004 };
  serve = (_call, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ event: 'message', answer: 'Yes.', metadata: { usage: read } }));
  const first = await caller.chat({ model: 'talks' });
  expect(JSON.parse(first.text)).toMatchObject({ usage: read });
  expect(quota - (await gateway.available(user))).toBe(6_000);
});

describe('a conversation with an app', () => {
  test('is continued by its user with its id, and is not found by another user', async () => {
    const first = await caller.chat({ model: 'talks' });
    expect(JSON.parse(first.text)).toMatchObject({ conversation_id: conversation });
    const messages = [
      { role: 'user', content: 'What is a ledger?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'And a posting?' },
    ];
    const next = await caller.chat({ model: 'talks', conversation_id: conversation, messages });
    expect(next.status).toBe(200);
    expect(bodyOf(asked[1])).toMatchObject({ conversation_id: conversation, query: 'And a posting?' });
    const stranger = callers.with(await gateway.addApiKey(await gateway.addUser(quota)));
    const refused = await stranger.chat({ model: 'talks', conversation_id: conversation });
    expect([refused.status, errorIn(refused).code]).toEqual([404, 'conversation_not_found']);
    expect(asked).toHaveLength(2);
  });

  test('has its id in a stream too', async () => {
    const events = [
      { event: 'message', message_id: 'm', conversation_id: 'streamed-1', answer: 'Yes.' },
      { event: 'message_end', message_id: 'm', conversation_id: 'streamed-1', metadata: { usage } },
    ];
    serve = (_call, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    const streamed = await caller.chat({ model: 'talks', stream: true });
    expect(chunksIn(streamed)[0]).toMatchObject({ conversation_id: 'streamed-1' });
    serve = answer;
    expect((await caller.chat({ model: 'talks', conversation_id: 'streamed-1' })).status).toBe(200);
  });
});

test('a whole answer of an agent, which can only stream, is put together', async () => {
  const words = [
    { event: 'agent_message', conversation_id: conversation, answer: 'It is ' },
    { event: 'agent_message', conversation_id: conversation, answer: 'warm.' },
    { event: 'message_end', conversation_id: conversation, metadata: { usage } },
  ];
  serve = (_call, response) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(words.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const whole = await caller.chat({ model: 'acts' });
  expect(JSON.parse(whole.text)).toMatchObject({
    conversation_id: conversation,
    choices: [{ message: { content: 'It is warm.' }, finish_reason: 'stop' }],
    usage,
  });
  serve = (_call, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(words[0])}\n\n`);
  expect((await caller.chat({ model: 'acts' })).status).toBeGreaterThanOrEqual(500);
});

describe('a picture in a request', () => {
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, picture] }];

  test('is uploaded, and its id is in the question', async () => {
    serve = (call, response) =>
      call.url === '/v1/files/upload'
        ? response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"file-1","name":"file.png"}')
        : answer(call, response);
    expect((await caller.chat({ model: 'talks', messages })).status).toBe(200);
    const [upload, question] = asked;
    expect(asked.map(({ url }) => url)).toEqual(['/v1/files/upload', '/v1/chat-messages']);
    expect(upload?.headers.authorization).toBe(`Bearer ${key}`);
    expect(upload?.body).toContain('filename="file.png"');
    expect(bodyOf(question).files).toEqual([
      { type: 'image', transfer_method: 'local_file', upload_file_id: 'file-1' },
    ]);
  });

  test('is refused by Dify without a charge', async () => {
    serve = (_call, response) =>
      response.writeHead(415).end('{"code":"unsupported_file_type","message":"File type not allowed."}');
    const refused = await caller.chat({ model: 'talks', messages });
    expect(refused.status).toBe(415);
    expect(asked).toHaveLength(1);
    expect(await gateway.available(user)).toBe(quota);
  });
});
