import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Data, type GraphqlServer, startGraphql } from './graphql-server.js';

/* Price updates over GraphQL: a source on another server is fetched, looked at and applied. */

let server: GraphqlServer;
let lists: Server;
let answer: { status: number; headers: Record<string, string>; body: string | Buffer };

const entry = (usd: number) => ({
  litellm_provider: 'acme',
  mode: 'chat',
  input_cost_per_token: usd / 1e6,
  output_cost_per_token: usd / 1e6,
});
const list = (prices: Readonly<Record<string, number>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(prices).map(([model, usd]) => [model, entry(usd)])));
const answering = (body: string | Buffer, headers: Record<string, string> = {}, status = 200): void => {
  answer = { status, headers, body };
};

beforeAll(async () => {
  server = await startGraphql();
  await server.gateway.addChannel({ models: ['served', 'gpt-4o'] });
  lists = createServer((_, response) => {
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => void lists.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(lists.address() as AddressInfo).port}/prices.json`;
  const source = { name: 'list', url, margin: 1.5, vendorMargins: { acme: 2 } };
  await server.gateway.setOption('PriceSources', JSON.stringify([source]));
});
afterAll(async () => {
  lists?.close();
  await server?.stop();
});

const fetching = 'mutation { fetchPriceSource(name: "list") { form models failure readAt } }';
const looking = `query ($filter: PriceDifferenceFilterInput) {
  priceDifferences(source: "list", filter: $filter, size: 20) {
    total applicable reading seenAt skippedTotal counts { kind count } skipped { model reason member }
    items { model kind factor margin cautions isApplicable moves { name before after from } }
  } }`;
const look = async (filter: Data = {}): Promise<Data> => {
  const { data, errors } = await server.root.send(looking, { filter });
  expect(errors).toEqual([]);
  return data?.priceDifferences;
};
const seen = ({ reading, seenAt }: Data) => ({ source: 'list', reading, seenAt });

describe('price updates over GraphQL', () => {
  test('show sources with their margins before anything is fetched', async () => {
    const { data } = await server.root.send(
      `{ priceSources { name url isFile daily appliesUnasked bound form models failure triedAt usualMargin
         vendorMargins { name margin } groupMargins { name margin } } }`,
    );
    expect(data?.priceSources).toMatchObject([
      {
        ...{ name: 'list', isFile: false, daily: false, appliesUnasked: false, bound: '1.5' },
        ...{ form: null, models: null, failure: null, triedAt: null, usualMargin: '1.5' },
        vendorMargins: [{ name: 'acme', margin: '2' }],
        groupMargins: expect.arrayContaining([{ name: 'default', margin: '1.5' }]),
      },
    ]);
  });

  test('fetch a compressed list, show differences page by page, and apply the selected ones', async () => {
    answering(gzipSync(list({ served: 1, other: 3, broken: -1 })), { 'content-encoding': 'gzip' });
    expect((await server.root.send(fetching)).data?.fetchPriceSource).toMatchObject({
      ...{ form: 'LITELLM', models: 2, failure: null },
    });
    const found = await look();
    expect(found).toMatchObject({
      ...{ total: 2, applicable: 2, skippedTotal: 1, counts: [{ kind: 'NEW', count: 2 }] },
      skipped: [{ model: 'broken', reason: 'NEGATIVE', member: 'input_cost_per_token' }],
    });
    expect((await look({ servedOnly: true })).items).toMatchObject([
      {
        ...{ model: 'served', kind: 'NEW', factor: null, margin: '2', cautions: ['NEW_MODEL'], isApplicable: true },
        moves: expect.arrayContaining([{ name: 'input', before: null, after: '2', from: null }]),
      },
    ]);
    const applying =
      'mutation ($seen: SeenDifferencesInput!) { applyPrices(seen: $seen, models: ["served"]) { applied } }';
    expect((await server.root.send(applying, { seen: seen(found) })).data?.applyPrices).toEqual({ applied: 1 });
    const { data } = await server.root.send(
      '{ priceTable(search: "served") { items { model origin margin unitPrices { input } } } }',
    );
    expect(data?.priceTable.items).toMatchObject([
      { model: 'served', origin: 'RECORD', margin: '1', unitPrices: { input: '1' } },
    ]);
    expect((await look()).items.map(({ model }: Data) => model)).toEqual(['other']);
  });

  test('apply all that match a filter, and refuse a reading from before a change, naming the model', async () => {
    answering(list({ served: 2, other: 3 }));
    await server.root.send(fetching);
    const before = await look({ kinds: ['DEARER'] });
    expect(before.items.map(({ model }: Data) => model)).toEqual(['served']);
    const applying = `mutation ($seen: SeenDifferencesInput!, $count: Int!) {
      applyAllPrices(seen: $seen, filter: { kinds: [DEARER] }, count: $count) { applied } }`;
    const order = { seen: seen(before), count: 1 };
    expect((await server.root.send(applying, { ...order, count: 2 })).errors[0]?.extensions.code).toBe(
      'price-list-changed',
    );
    expect((await server.root.send(applying, order)).data?.applyAllPrices).toEqual({ applied: 1 });
    const again =
      'mutation ($seen: SeenDifferencesInput!) { applyPrices(seen: $seen, models: ["served"]) { applied } }';
    answering(list({ served: 3, other: 3 }));
    await server.root.send(fetching);
    const late = { ...seen(await look()), seenAt: before.seenAt };
    expect((await server.root.send(again, { seen: late })).errors[0]?.extensions).toMatchObject({
      ...{ code: 'price-changed', details: { field: 'served' } },
    });
  });

  test('report why a source cannot be read, and keep its last reading', async () => {
    answering('<html>Sign in</html>', {}, 200);
    const { errors } = await server.root.send(fetching);
    expect(errors[0]?.extensions).toMatchObject({ code: 'price-list-unreadable' });
    const { data } = await server.root.send('{ priceSources { failure models } }');
    expect(data?.priceSources).toEqual([{ failure: 'it is a page of HTML or XML, not JSON', models: 2 }]);
  });

  test('read a file that is sent compressed', async () => {
    const gzip = gzipSync(list({ 'acme/filed': 4 })).toString('base64');
    const { data } = await server.root.send(
      'mutation ($gzip: String!) { readPublishedPrices(gzip: $gzip, bareNames: true, margin: 1.25) { name isFile models } }',
      { gzip },
    );
    expect(data?.readPublishedPrices).toEqual({ name: 'file', isFile: true, models: 1 });
    const found = await server.root.send('{ priceDifferences(source: "file") { items { model margin } } }');
    expect(found.data?.priceDifferences.items).toEqual([{ model: 'filed', margin: '1.25' }]);
  });

  test('refuse a source in the option that is not valid, naming its member', async () => {
    const wrong = [{ name: 'list', url: 'ftp://a.example' }];
    await expect(server.gateway.setOption('PriceSources', JSON.stringify(wrong))).rejects.toThrow(
      'option-value-invalid',
    );
  });
});
