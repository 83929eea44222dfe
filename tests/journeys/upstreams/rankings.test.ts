import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Documents that are ranked and texts that are judged: what callers get and pay, whatever upstream reports. */

const balance = 10_000_000;
const documents = ['A dog.', { text: 'A list of debts.' }, 'A boat.'];
const ranking: JsonObject = {
  id: 'r-1',
  results: [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ],
};

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let user: TestUser;
let caller: Caller;
let reported: JsonObject;
let status: number;
let sent: { readonly url: string; readonly body: JsonObject }[] = [];

beforeAll(async () => {
  upstream = await startUpstream(({ url, body }, response) => {
    sent.push({ url, body: JSON.parse(body) });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reported));
  });
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  const baseUrl = upstream.url;
  await gateway.addChannel({ type: 38, models: ['by-token', 'by-unit', 'by-call'], baseUrl });
  await gateway.addChannel({ type: 34, models: ['rerank-v3.5'], baseUrl });
  await gateway.addChannel({
    type: 1,
    models: ['omni-moderation-latest', 'text-moderation-latest', 'chat-only'],
    baseUrl,
  });
  await gateway.addChannel({ type: 8, models: ['at-an-address'], baseUrl: `${baseUrl}/rerank` });
  // Quota by the token.
  for (const model of ['by-token', 'at-an-address', 'text-moderation-latest', 'chat-only'])
    await gateway.setPrice(model, [{ tokens: { input: { usd: '2' }, output: { usd: '2' } } }]);
  await gateway.setOption('ModelPrice', '{"by-call":0.001}');
  await gateway.setPrice('by-unit', [{ pieces: { searchUnits: '0.001' } }]);
  await gateway.setOption('RetryTimes', '0');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(balance);
  caller = callers.with(await gateway.addApiKey(user));
  reported = ranking;
  status = 200;
  sent = [];
});

const post = (path: string, body: JsonObject, by = caller): Promise<Answer> =>
  by.send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
const rank = (body: JsonObject = {}, path = '/v1/rerank'): Promise<Answer> =>
  post(path, { model: 'by-token', query: 'What is a ledger?', documents, ...body });
const read = ({ text }: Answer): JsonObject => JSON.parse(text);

describe('a ranking', () => {
  test('is answered alike whatever its vendor says, and costs what that reports', async () => {
    reported = { ...ranking, usage: { total_tokens: 41 } };
    const answer = await rank({ return_documents: true, top_n: 2 });
    expect(read(answer)).toEqual({
      ...{ id: 'r-1', object: 'list', model: 'by-token' },
      results: [
        { index: 1, relevance_score: 0.9, document: { text: 'A list of debts.' } },
        { index: 0, relevance_score: 0.1, document: { text: 'A dog.' } },
      ],
      usage: { prompt_tokens: 41, completion_tokens: 0, total_tokens: 41 },
    });
    expect(sent[0]?.body.documents).toEqual(['A dog.', 'A list of debts.', 'A boat.']);
    expect(await lineOf(gateway, user, answer)).toMatchObject({ quota: 41, usage_source: 'upstream' });
    expect(await gateway.available(user)).toBe(balance - 41);
  });

  test('costs the tokens of query and documents where nothing is reported, and says so to its caller', async () => {
    const answer = await rank();
    const line = await lineOf(gateway, user, answer);
    expect(line).toMatchObject({ usage_source: 'estimated', completion_tokens: 0 });
    expect(line.quota).toBe(line.prompt_tokens);
    expect(line.prompt_tokens).toBeGreaterThan(8);
    expect(read(answer).usage).toMatchObject({ prompt_tokens: line.prompt_tokens });
  });

  test('may cost the query with every document, and no more than was sent', async () => {
    const query = 'word '.repeat(200);
    const many = Array.from({ length: 50 }, () => 'A dog.');
    reported = { ...ranking, usage: { total_tokens: 50 * 210 } };
    const asked = await rank({ query, documents: many });
    expect(await lineOf(gateway, user, asked)).toMatchObject({ quota: 10_500, usage_source: 'upstream' });
    reported = { ...ranking, usage: { total_tokens: 90_000_000 } };
    const wrong = await rank({ query, documents: many });
    const line = await lineOf(gateway, user, wrong);
    expect([line.usage_source, line.quota < 1_000]).toEqual(['disbelieved', true]);
  });

  test.each<[string, JsonObject, number, number, string]>([
    ['reports', { meta: { billed_units: { search_units: 2 } } }, 150, 2, 'upstream'],
    ['keeps to itself', {}, 150, 2, 'estimated'],
    ['exaggerates', { meta: { billed_units: { search_units: 5_000 } } }, 3, 1, 'disbelieved'],
  ])('costs search units where these have a price and its vendor %s them', async (_, meta, count, units, source) => {
    reported = { ...ranking, ...meta };
    const answer = await rank({ model: 'by-unit', documents: Array.from({ length: count }, () => 'A dog.') });
    // 0.001 USD × 500000
    expect(await lineOf(gateway, user, answer)).toMatchObject({
      ...{ quota: units * 500, usage: { searchUnits: units }, usage_source: source },
    });
    expect(read(answer).usage).toEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      search_units: units,
    });
  });

  test('costs the price of a call where the model has one', async () => {
    const answer = await rank({ model: 'by-call' });
    expect((await lineOf(gateway, user, answer)).quota).toBe(500);
  });

  test('of Cohere has a built-in price, and its clients are answered in their own words', async () => {
    reported = { ...ranking, meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } } };
    const answer = await rank({ model: 'rerank-v3.5', documents: ['A dog.', 'A list of debts.'] }, '/v2/rerank');
    expect(read(answer)).toEqual({
      ...ranking,
      meta: { api_version: { version: '2', is_experimental: false }, billed_units: { search_units: 1 } },
    });
    expect(sent[0]?.url).toBe('/v2/rerank');
    expect((await lineOf(gateway, user, answer)).quota).toBe(1_000);
  });

  test.each<[string, JsonObject, string]>([
    ['a query', { query: '  ' }, 'query'],
    ['documents', { documents: [] }, 'documents'],
    ['a text in each document', { documents: ['a', { title: 'b' }] }, 'documents[1]'],
    ['a possible number of results', { top_n: 0 }, 'top_n'],
    ['a known choice about documents', { return_documents: 'yes' }, 'return_documents'],
    ['the text alone to rank by', { rank_fields: ['title'] }, 'rank_fields'],
    ['a whole answer', { stream: true }, 'stream'],
    ['members as they are spelled', { Query: 'x' }, 'Query'],
  ])('without %s is refused by name, and free of charge', async (_, body, param) => {
    const refused = await rank(body);
    expect([refused.status, (read(refused).error as JsonObject).param]).toEqual([400, param]);
    const cohere = await rank(body, '/v2/rerank');
    expect([cohere.status, Object.keys(read(cohere))]).toEqual([400, ['message']]);
    expect([sent, await gateway.available(user)]).toEqual([[], balance]);
  });

  test.each<[string, JsonObject]>([
    ['ranks what it was not sent', { results: [{ index: 7, relevance_score: 1 }], usage: { total_tokens: 5 } }],
    ['ranks nothing', { results: [] }],
    ['says something else', { data: [] }],
  ])('costs nothing where its vendor %s', async (_, said) => {
    reported = said;
    expect((await rank()).status).toBeGreaterThanOrEqual(500);
    expect(await gateway.available(user)).toBe(balance);
  });

  test('is refused before it is sent where it cannot be afforded', async () => {
    const poor = callers.with(await gateway.addApiKey(await gateway.addUser(5)));
    const refused = await post('/v1/rerank', { model: 'by-unit', query: 'a', documents: ['b'] }, poor);
    expect([refused.status, sent]).toEqual([403, []]);
  });

  test('is refused with words that the operator does not allow', async () => {
    await gateway.setOption('SensitiveWords', 'forbidden');
    const refused = await rank({ documents: ['A dog.', 'A forbidden dog.'] });
    await gateway.setOption('SensitiveWords', '');
    expect([refused.status, sent]).toEqual([400, []]);
  });

  test('by a model that no channel ranks with is refused', async () => {
    const refused = await rank({ model: 'chat-only' });
    expect([refused.status, (read(refused).error as JsonObject).code]).toEqual([400, 'convert_request_failed']);
  });

  test('at an address without a version brings its documents by both of their names', async () => {
    reported = { ...ranking, usage: { total_tokens: 4 } };
    await rank({ model: 'at-an-address' });
    expect(sent[0]).toMatchObject({ url: '/rerank', body: { texts: ['A dog.', 'A list of debts.', 'A boat.'] } });
    const chat = await caller.chat({ model: 'at-an-address' });
    expect([chat.status, sent.length]).toEqual([400, 1]);
  });
});

describe('a judgement of texts', () => {
  const judged = { id: 'modr-1', model: 'm', results: [{ flagged: true, categories: {}, category_scores: {} }] };

  test('is free of charge by the usual model, which a body need not name', async () => {
    reported = judged;
    const answer = await post('/v1/moderations', { input: 'I hate it.' });
    expect(read(answer)).toMatchObject(judged);
    expect(sent[0]).toMatchObject({ url: '/v1/moderations', body: { model: 'omni-moderation-latest' } });
    expect((await lineOf(gateway, user, answer)).quota).toBe(0);
  });

  test('costs the tokens of its texts by a model with a price, and says so to its caller', async () => {
    reported = judged;
    const answer = await post('/v1/moderations', { model: 'text-moderation-latest', input: 'I hate it very much.' });
    const line = await lineOf(gateway, user, answer);
    expect([line.quota, line.usage_source]).toEqual([line.prompt_tokens, 'estimated']);
    expect(line.quota).toBeGreaterThan(3);
    expect(read(answer)).toMatchObject({ ...judged, usage: { total_tokens: line.quota } });
  });

  test.each<[string, JsonObject, string]>([
    ['anything to judge', {}, 'input'],
    ['texts alone', { input: ['a', 1] }, 'input[1]'],
    ['a known part', { input: [{ type: 'video' }] }, 'input[0]'],
    ['an address of its picture', { input: [{ type: 'image_url', image_url: {} }] }, 'input[0].image_url.url'],
  ])('without %s is refused by name', async (_, body, param) => {
    const refused = await post('/v1/moderations', body);
    expect([refused.status, (read(refused).error as JsonObject).param, sent]).toEqual([400, param, []]);
  });

  test('costs nothing where one is missing', async () => {
    reported = judged;
    const answer = await post('/v1/moderations', { model: 'text-moderation-latest', input: ['a', 'b'] });
    expect([answer.status >= 500, await gateway.available(user)]).toEqual([true, balance]);
  });
});

test.each<[string, number, string, string, JsonObject]>([
  ['a model that ranks', 38, 'jina-reranker-v3', '/v1/rerank', ranking],
  ['an address that ranks', 8, 'any', '/rerank', { results: [{ index: 0, score: 1 }] }],
  ['a model that judges', 1, 'omni-moderation-latest', '/v1/moderations', { results: [{ flagged: false }] }],
])('the test of a channel requests what is served by %s', async (_, type, model, path, said) => {
  reported = type === 38 ? { results: [{ index: 0, relevance_score: 1 }] } : said;
  const baseUrl = type === 8 ? `${upstream.url}/rerank` : upstream.url;
  await gateway.setPrice(model, [{ tokens: { input: { usd: '1' } } }]);
  const id = await gateway.addChannel({ type, models: [model], baseUrl });
  expect(await gateway.application.channels.test(gateway.root, id, '')).toMatchObject({ ok: true });
  expect(sent.map(({ url }) => url)).toEqual([path]);
});

test('each of these calls has a receipt that gives its charge', async () => {
  const { served, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(3);
  expect(wrong).toEqual([]);
});
