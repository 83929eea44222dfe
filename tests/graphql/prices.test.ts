import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import { type Data, type GraphqlServer, startGraphql } from './graphql-server.js';

/* The price table over GraphQL: what an operator sees, tries, changes and takes back. */

let server: GraphqlServer;
beforeAll(async () => {
  server = await startGraphql();
  await server.gateway.addChannel({ models: ['gpt-4o', 'strange-model'] });
});
afterAll(() => server?.stop());

const usd = (amount: string) => ({ usd: amount });

const table = async (args: string): Promise<Data> => {
  const { data, errors } = await server.root.send(
    `{ priceTable(size: 100, ${args}) { total items { model origin served refused differs comingFrom margin
       unitPrices { input output call } listUnitPrices { input } } } }`,
  );
  expect(errors).toEqual([]);
  return data?.priceTable;
};
const row = async (model: string): Promise<Data> =>
  (await table(`search: "${model}"`)).items.find((item: Data) => item.model === model);

const stated = async (model: string): Promise<Data> =>
  (await server.root.send(`{ modelPrice(model: "${model}") { seenAt recorded periods builtIn } }`)).data?.modelPrice;

const changing = `mutation ($changes: [ModelPriceInput!]!, $kind: PriceChangeKind, $revertOf: SafeInt) {
  changeModelPrices(changes: $changes, kind: $kind, revertOf: $revertOf) { position prices { model seenAt recorded } }
}`;
const change = (changes: readonly Data[], more: Data = {}) => server.root.send(changing, { changes, ...more });

describe('the price table', () => {
  test('lists built-in prices, and served models without one', async () => {
    expect(await row('gpt-4o')).toMatchObject({
      ...{ origin: 'BUILT_IN', served: true, differs: false, unitPrices: { input: '1.25', output: '5' } },
    });
    expect(await row('strange-model')).toMatchObject({ origin: 'NONE', served: true, unitPrices: null });
    const unpriced = await table('filter: UNPRICED');
    expect(unpriced.items.map(({ model }: Data) => model)).toEqual(['strange-model']);
  });

  test('shows that a price is set in an option, and differs from the list', async () => {
    const { application } = server.gateway;
    const ratios = JSON.parse(application.directory.optionText('ModelRatio')) as Data;
    await server.gateway.setOption('ModelRatio', JSON.stringify({ ...ratios, 'gpt-4o': 2 }));
    expect(await row('gpt-4o')).toMatchObject({
      ...{ origin: 'OPTION', differs: true, unitPrices: { input: '2' }, listUnitPrices: { input: '1.25' } },
    });
    expect((await table('filter: DIFFERS')).items.map(({ model }: Data) => model)).toEqual(['gpt-4o']);
    expect((await table('origin: OPTION')).total).toBe(1);
  });

  test('is sorted by price, with prices per call and missing ones last', async () => {
    const [last, first] = [await table('sort: INPUT, page: 1'), await table('sort: INPUT_DESC, page: 1')];
    const prices = (page: Data) => page.items.map(({ unitPrices }: Data) => Number(unitPrices.input));
    expect(prices(last)).toEqual([...prices(last)].sort((a, b) => a - b));
    expect(prices(first)).toEqual([...prices(first)].sort((a, b) => b - a));
  });

  test('counts calls that were refused for lack of a price', async () => {
    const key = await server.gateway.addApiKey(await server.gateway.addUser(500_000, 'caller'));
    const body = JSON.stringify({ model: 'strange-model', messages: [{ role: 'user', content: 'Hi' }] });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const call = () => fetch(`${server.gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    expect([(await call()).status, (await call()).status]).toEqual([400, 400]);
    await until(async () => ((await row('strange-model')).refused === 2 ? true : null));
    expect((await table('sort: REFUSED_DESC')).items[0]?.model).toBe('strange-model');
  });
});

describe('a price record', () => {
  const record = [
    {
      tokens: { input: usd('3'), output: usd('12') },
      contextTiers: [{ over: 200_000, factors: { input: '2' } }],
      purchase: { tokens: { input: usd('2'), output: usd('10') } },
    },
    { tokens: { input: usd('4') }, from: '2999-01-01' },
  ];

  test('is stored as given, takes precedence over options, and is returned with its margin and the day of the next price', async () => {
    const before = await stated('gpt-4o');
    expect(before).toMatchObject({ seenAt: -1, recorded: null, periods: [{ tokens: { input: usd('4') } }] });
    const { data } = await change([{ model: 'gpt-4o', periods: record, seenAt: before.seenAt }]);
    expect(data?.changeModelPrices.prices).toEqual([
      { model: 'gpt-4o', seenAt: data?.changeModelPrices.position, recorded: record },
    ]);
    expect(await row('gpt-4o')).toMatchObject({
      ...{ origin: 'RECORD', differs: true, margin: '0.2', comingFrom: Date.parse('2999-01-01T00:00:00Z') / 1000 },
    });
    expect((await table('filter: COMING')).items.map(({ model }: Data) => model)).toContain('gpt-4o');
  });

  test('with a concurrent change is refused, and the current one is returned', async () => {
    const { errors } = await change([{ model: 'gpt-4o', periods: [{ call: '1' }], seenAt: -1 }]);
    expect(errors[0]?.extensions).toMatchObject({ code: 'price-changed', details: { field: 'gpt-4o' } });
    expect((await stated('gpt-4o')).recorded).toEqual(record);
  });

  test.each([
    ['an object for a list', { call: '1' }, 'changes[0].periods'],
    ['a negative price', [{ call: '-1' }], 'changes[0].periods[0].call'],
    ['a price that is not a number', [{ tokens: { input: usd('NaN') } }], 'changes[0].periods[0].tokens.input.usd'],
    [
      'days in the wrong order',
      [{ call: '1', from: '2026-12-02', until: '2026-12-01' }],
      'changes[0].periods[0].until',
    ],
    ['an unknown member', [{ call: '1', colour: 'red' }], 'changes[0].periods[0].colour'],
  ])('with %s is refused by the path of the error', async (_, periods, field) => {
    const { errors } = await change([{ model: 'gpt-4o', periods }]);
    expect(errors[0]?.extensions).toMatchObject({ code: 'invalid-field', details: { field } });
  });

  test('of all models of a command is stored, or of none', async () => {
    const { errors } = await change([
      { model: 'first', periods: [{ call: '1' }] },
      { model: 'second', periods: [{ call: 'x' }] },
    ]);
    expect(errors[0]?.extensions.details).toMatchObject({ field: 'changes[1].periods[0].call' });
    expect((await stated('first')).recorded).toBeNull();
  });
});

const billing = `query ($periods: PricePeriods!, $usage: [UsedQuantityInput!]!, $period: Int) {
  exampleBill(model: "tried", periods: $periods, usage: $usage, period: $period) {
    billing { total lines { quantity count amount } } purchase { total } margin
    quantities { quantity unitPrice purchaseUnitPrice margin }
  }
}`;

describe('an example bill', () => {
  const usage = [
    { quantity: 'input', count: 1_000 },
    { quantity: 'output', count: 100 },
  ];

  test('is computed for an unstored record', async () => {
    const periods = [{ tokens: { input: usd('2'), output: usd('10') }, purchase: { tokens: { input: usd('1') } } }];
    const { data } = await server.root.send(billing, { periods, usage });
    expect(data?.exampleBill).toMatchObject({
      billing: {
        total: 1_500,
        lines: [
          { quantity: 'input', amount: '1000' },
          { quantity: 'output', amount: '500' },
        ],
      },
      purchase: { total: 550 },
    });
    expect((await stated('tried')).periods).toBeNull();
  });

  test('names the invalid field of the record, and the unknown quantity', async () => {
    const wrong = await server.root.send(billing, { periods: [{ call: 'x' }], usage });
    expect(wrong.errors[0]?.extensions.details).toMatchObject({ field: 'periods[0].call' });
    const unknown = await server.root.send(billing, {
      periods: [{ call: '1' }],
      usage: [{ quantity: 'tea', count: 1 }],
    });
    expect(unknown.errors[0]?.extensions.details).toMatchObject({ field: 'usage[0].quantity' });
    const none = await server.root.send(billing, { periods: [{ call: '1' }], usage, period: 1 });
    expect(none.errors[0]?.extensions.details).toMatchObject({ field: 'period' });
  });
});

const proposing = `mutation ($models: [String!]!, $edit: PriceEditInput!) {
  proposePriceEdit(models: $models, edit: $edit) {
    model seenAt periods notEdited differences { from part before after }
  }
}`;

describe('an edit of many prices', () => {
  const propose = (models: readonly string[], edit: Data) => server.root.send(proposing, { models, edit });

  test('is proposed with its differences, and stored when it is sent back', async () => {
    const { data } = await propose(['gpt-4o-mini', 'strange-model'], { kind: 'MULTIPLY', factor: '2' });
    const [mini, strange] = data?.proposePriceEdit ?? [];
    expect(strange).toMatchObject({ notEdited: 'NO_PRICE', differences: [] });
    expect(mini.differences).toContainEqual({ from: null, part: 'tokens.input', before: '$0.15', after: '$0.3' });
    expect((await stated('gpt-4o-mini')).recorded).toBeNull();
    const { model, periods, seenAt } = mini;
    expect((await change([{ model, periods, seenAt }])).errors).toEqual([]);
    expect((await row('gpt-4o-mini')).unitPrices.input).toBe('0.15');
  });

  test('that resets to the built-in price shows the result', async () => {
    const { data } = await propose(['gpt-4o-mini'], { kind: 'BUILT_IN' });
    expect(data?.proposePriceEdit[0]).toMatchObject({ periods: null });
    expect(data?.proposePriceEdit[0].differences).toContainEqual(
      expect.objectContaining({ part: 'tokens.input', before: '$0.3', after: '$0.15' }),
    );
  });

  test('copies the price of another model', async () => {
    const { data } = await propose(['strange-model'], { kind: 'COPY', from: 'gpt-4o-mini' });
    expect(data?.proposePriceEdit[0].periods).toEqual((await stated('gpt-4o-mini')).periods);
  });

  test.each([
    [{ kind: 'MULTIPLY', factor: '0' }, 'edit.factor'],
    [{ kind: 'MULTIPLY' }, 'edit.factor'],
    [{ kind: 'MARGIN', factor: '1001' }, 'edit.factor'],
    [{ kind: 'MULTIPLY', factor: '2', from: 'gpt-4o' }, 'edit.from'],
    [{ kind: 'SET', part: 'tokens.tea', usd: '1' }, 'edit.part'],
    [{ kind: 'SET', part: 'tokens.input', ratio: '1' }, 'edit.ratio'],
    [{ kind: 'COPY', from: 'nothing' }, 'edit.from'],
    [{ kind: 'SET', part: 'call', usd: '2000001' }, 'gpt-4o[0].call'],
  ])('%j is refused by its member', async (edit, field) => {
    const { errors } = await propose(['gpt-4o'], edit);
    expect(errors[0]?.extensions).toMatchObject({ code: 'invalid-field', details: { field } });
  });
});

describe('a file of prices', () => {
  const reading = `mutation ($file: String!) { readPriceFile(file: $file) {
    unchanged proposals { model seenAt periods differences { part before after } } faults { row field allowed }
  } }`;
  const exported = async (models: readonly string[] | null): Promise<string> =>
    (await server.root.send('mutation ($models: [String!]) { exportPrices(models: $models) }', { models })).data
      ?.exportPrices;

  test('contains all prices, and changes nothing when it is read again', async () => {
    const file = await exported(null);
    expect(JSON.parse(file).prices.length).toBeGreaterThan(500);
    const { data } = await server.root.send(reading, { file });
    expect(data?.readPriceFile).toMatchObject({ proposals: [], faults: [] });
  });

  test('names the wildcard that prices a model, so that the file can be imported again', async () => {
    const file = await exported(['gpt-4o-gizmo-one', 'gpt-4o-gizmo-two', 'gpt-4o']);
    expect(JSON.parse(file).prices.map(({ model }: { model: string }) => model)).toEqual(['gpt-4o', 'gpt-4o-gizmo-*']);
    expect((await server.root.send(reading, { file })).data?.readPriceFile).toMatchObject({ unchanged: 2, faults: [] });
  });

  test('contains the selected prices, and shows what it would change', async () => {
    const file = (await exported(['gpt-4o-mini'])).replace('"0.3"', '"0.45"');
    const { data } = await server.root.send(reading, { file });
    expect(data?.readPriceFile.proposals).toEqual([
      expect.objectContaining({
        model: 'gpt-4o-mini',
        differences: [{ part: 'tokens.input', before: '$0.3', after: '$0.45' }],
      }),
    ]);
  });
});

describe('the history of prices', () => {
  const historyQuery = `query ($model: String, $first: Int, $before: SafeInt, $beforeModel: String) {
    priceHistory(model: $model, first: $first, before: $before, beforeModel: $beforeModel) {
      hasMore items { position model at by { username } origin originName hadRecord hasRecord
        differences { part before after } }
    }
  }`;
  const history = async (variables: Data): Promise<Data> =>
    (await server.root.send(historyQuery, variables)).data?.priceHistory;

  test('lists user, change and source, and can be reverted', async () => {
    const [newest] = (await history({ model: 'gpt-4o-mini' })).items;
    expect(newest).toMatchObject({ by: { username: 'root' }, origin: 'EDITOR', hadRecord: false, hasRecord: true });

    const { data } = await server.root.send(
      `{ priceRevert(position: ${newest.position}) { model seenAt periods differences { part before after } } }`,
    );
    const [{ model, periods, seenAt, differences }] = data?.priceRevert ?? [];
    expect([model, periods]).toEqual(['gpt-4o-mini', null]);
    expect(differences).toContainEqual({ part: 'tokens.input', before: '$0.3', after: '$0.15' });

    const reverted = await change([{ model, periods, seenAt }], { kind: 'REVERT', revertOf: newest.position });
    expect(reverted.errors).toEqual([]);
    expect((await stated('gpt-4o-mini')).recorded).toBeNull();
    expect((await history({ model: 'gpt-4o-mini' })).items.map(({ origin }: Data) => origin)).toEqual([
      'REVERT',
      'EDITOR',
    ]);
  });

  test('lists changes by a client of the older maps', async () => {
    const { application } = server.gateway;
    const prices = JSON.parse(application.directory.optionText('ModelRatio')) as Data;
    await server.gateway.setOption('ModelRatio', JSON.stringify({ ...prices, 'gpt-4o': 5 }));
    const [newest] = (await history({ model: 'gpt-4o' })).items;
    expect(newest).toMatchObject({ origin: 'OPTION', originName: 'ModelRatio' });
    expect(newest.differences).toContainEqual({ part: 'tokens.input', before: '$3', after: '$10' });
  });

  test('has pages, with each model of a change separately', async () => {
    await change([
      { model: 'page-a', periods: [{ call: '1' }] },
      { model: 'page-b', periods: [{ call: '2' }] },
    ]);
    const first = await history({ first: 1 });
    expect(first).toMatchObject({ hasMore: true, items: [{ model: 'page-a' }] });
    const next = await history({ first: 1, before: first.items[0].position, beforeModel: 'page-a' });
    expect(next.items[0]).toMatchObject({ model: 'page-b', position: first.items[0].position });
  });

  test('refuses an unknown change', async () => {
    const { errors } = await server.root.send('{ priceRevert(position: 0) { model } }');
    expect(errors[0]?.extensions.details).toMatchObject({ field: 'position' });
    const changes = [{ model: 'page-a', periods: null }];
    const other = await change(changes, { kind: 'REVERT', revertOf: 0 });
    expect(other.errors[0]?.extensions.details).toMatchObject({ field: 'revertOf' });
    expect((await change(changes, { revertOf: 0 })).errors[0]?.extensions.details).toMatchObject({ field: 'revertOf' });
  });
});
