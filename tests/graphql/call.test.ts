import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';
import { type Data, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

/* One call by the id that its caller got, from the answer to the last quota. */

let server: GraphqlServer;
/** Answers in a stream that goes on until the test ends it. */
let slow: Upstream;
const answering: ServerResponse[] = [];
let olga: TestUser;
let client: GraphqlClient;
let stranger: GraphqlClient;
let apiKey: string;

beforeAll(async () => {
  server = await startGraphql();
  const { gateway } = server;
  slow = await startUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame({ delta: { content: 'At ' } }));
    answering.push(response);
  });
  await gateway.addChannel({ name: 'harbour' });
  await gateway.addChannel({ name: 'slow', models: ['slow-model'], baseUrl: slow.url });
  await gateway.setOption('ModelRatio', JSON.stringify({ 'gpt-4o': 1.3, 'gpt-4o-mini': 0.07, 'slow-model': 2 }));
  olga = await gateway.addUser(10_000_000, 'olga');
  client = await server.as(olga);
  stranger = await server.as(await gateway.addUser(1_000, 'stranger'));
  apiKey = await gateway.addApiKey(olga);
});
afterAll(async () => {
  await server?.stop();
  await slow?.stop();
});

const frame = (choice: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'slow', choices: [{ index: 0, ...choice }] })}\n\n`;

const ask = (model: string, stream = false): Promise<Response> =>
  fetch(`${server.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello?' }] }),
  });

const fields = `requestId status model group path isStream apiKeyName receivedAt reserved promptTokens refunded
  steps { kind from to } price { ... on TokenPrice { model completion } }
  end { charged outcome releaseReason status code useTimeMs }
  billing { lines { quantity count } exact total } priceOrigins { factor value option entry kind since }
  events { type at position json }`;
const callOf = async (by: GraphqlClient, id: string, asked = fields): Promise<Data | null> =>
  (await by.ask(`query ($id: ID!) { call(requestId: $id) { ${asked} } }`, { id })).call;

const forAdmins =
  'username suspense attempts { channelId channelName } priceOrigins { factor by { username } position }';

describe('a call by its request id', () => {
  test('is shown to its caller: steps, price with the option of each factor, and the calculation', async () => {
    const answer = await ask('gpt-4o-mini');
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    const call = await callOf(client, id);
    expect(call).toMatchObject({
      requestId: id,
      status: 'SETTLED',
      model: 'gpt-4o-mini',
      group: 'default',
      apiKeyName: 'test key',
      end: { outcome: 'COMPLETED', releaseReason: null },
    });
    expect(call?.billing.total).toBe(call?.end.charged);
    expect(call?.steps.map(({ kind }: Data) => kind).slice(0, 2)).toEqual(['ADMITTING', 'WAITING']);
    const model = call?.priceOrigins.find(({ factor }: Data) => factor === 'model');
    expect(model).toMatchObject({ value: '0.07', option: 'ModelRatio', entry: 'gpt-4o-mini', kind: 'CHANGED' });
    expect(call?.events.map(({ type }: Data) => type)).toEqual(['CallReserved', 'CallSettled']);
    for (const { json } of call?.events ?? []) expect(Object.keys(JSON.parse(json))).not.toContain('attempts');
  });

  test('has a receipt with its charge for its caller and for root, and none for others', async () => {
    const answer = await ask('gpt-4o-mini');
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    const document = `query ($id: ID!) { receipt(requestId: $id) { requestId status paid usage { quantity count } usageSource
      factors { factor kind at position } calculation { total } outcome { charged suspense upstreamCost answerId }
      events { type position hash } sealing attempts { channelName } } }`;
    const receiptFor = async (by: GraphqlClient): Promise<Data | null> => (await by.ask(document, { id })).receipt;
    const own = await receiptFor(client);
    expect(own).toMatchObject({ requestId: id, status: 'SETTLED', usageSource: 'UPSTREAM', attempts: null });
    const hidden = { suspense: null, upstreamCost: null, answerId: null };
    expect(own).toMatchObject({ paid: own?.calculation.total, outcome: hidden });
    const model = own?.factors.find(({ factor }: Data) => factor === 'model');
    const [reservation] = own?.events ?? [];
    expect(model).toMatchObject({ kind: 'CHANGED', position: expect.any(Number) });
    expect(model.position).toBeLessThan(reservation.position);
    expect(reservation.hash).toMatch(/^[0-9a-f]{64}$/);
    const told = { attempts: [{ channelName: 'harbour' }], paid: own?.paid };
    expect(await receiptFor(server.root)).toMatchObject({ ...told, outcome: { answerId: 'chatcmpl-simulated' } });
    expect(await receiptFor(stranger)).toBeNull();
  });

  test('is shown to administrators with its user, the channels tried and the author of its price', async () => {
    const answer = await ask('gpt-4o');
    await answer.text();
    const call = await callOf(server.root, answer.headers.get('x-request-id') ?? '', forAdmins);
    expect(call).toMatchObject({ username: 'olga', suspense: 0, attempts: [{ channelName: 'harbour' }] });
    const model = call?.priceOrigins.find(({ factor }: Data) => factor === 'model');
    expect(model).toMatchObject({ by: { username: 'root' }, position: expect.stringMatching(/^\d+$/) });
  });

  test('of another user is answered like one that does not exist', async () => {
    const answer = await ask('gpt-4o');
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    expect(await callOf(client, id, 'status')).toEqual({ status: 'SETTLED' });
    const asked = (by: GraphqlClient, wanted: string) =>
      by.send('query ($id: ID!) { call(requestId: $id) { status } }', { id: wanted }).then(({ text }) => text);
    const unknown = `${id.slice(0, -8)}00000000`;
    expect(await asked(stranger, id)).toBe(await asked(stranger, unknown));
    expect(await asked(stranger, id)).toContain('"call":null');
  });

  test('is found by the id that an error message quotes', async () => {
    server.gateway.provider.script('gpt-4o', { kind: 'refuse', status: 500 });
    const answer = await ask('gpt-4o');
    server.gateway.provider.reset();
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    const [, id = ''] = /request id: ([0-9A-Za-z]+)/.exec(error.message) ?? [];
    expect(await callOf(client, id)).toMatchObject({
      status: 'RELEASED',
      billing: null,
      end: { charged: 0, releaseReason: 'UPSTREAM_FAILED', status: answer.status, code: error.code },
    });
  });

  test('is found while it is in flight, and after it', async () => {
    const answer = await ask('slow-model', true);
    const id = answer.headers.get('x-request-id') ?? '';
    const call = await callOf(client, id);
    expect(call).toMatchObject({ status: 'UNDER_WAY', end: null, billing: null, model: 'slow-model', isStream: true });
    expect(call?.reserved).toBeGreaterThan(0);
    expect(call?.steps.at(-1)).toMatchObject({ kind: 'WAITING', to: null });
    for (const response of answering) response.end(`${frame({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
    await answer.text();
    const ended = await callOf(client, id);
    expect(ended).toMatchObject({ status: 'SETTLED' });
    expect(ended?.steps.map(({ kind }: Data) => kind)).toContain('ANSWERING');
  });
});
