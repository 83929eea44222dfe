import { beforeEach, describe, expect, test } from 'vitest';
import type { NodeDirectory } from '../../../src/application/memory/directory.js';
import { offerQueries } from '../../../src/application/payments/offers.js';
import type { UserView } from '../../../src/application/ports/storage-ports.js';
import { closenessTo, type OfferedModel } from '../../../src/application/prices/price-list.js';
import { streams } from '../../../src/domain/events/events.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { PricePeriods } from '../../../src/domain/pricing/records/model-price.js';
import { someInstant } from '../../support/given/events.js';
import { testProviders } from '../../support/given/providers.js';
import { DirectoryNode, prices } from '../../support/memory/directory-node.js';

const user = (group: string, acceptUnpricedModels = false): UserView => ({
  id: UserId(7),
  username: 'alice',
  role: 'ordinary',
  status: 'enabled',
  group,
  acceptUnpricedModels,
});

let node: DirectoryNode;
let directory: NodeDirectory;
const every = { group: null, search: '', billing: null, sort: 'nearest', page: 1, size: 100 } as const;

beforeEach(async () => {
  node = new DirectoryNode();
  await node.addChannel(1, { models: ['gpt-4o', 'gpt-4o-mini', 'picture'], groups: ['default', 'vip'] });
  await node.addChannel(2, { models: ['gpt-4o', 'house-model'], groups: ['staff'], type: 43 });
  await node.option('ModelRatio', '{"gpt-4o":1.25,"gpt-4o-mini":0.075,"house-model":2}');
  await node.option('ModelPrice', '{"picture":0.04}');
  await node.option('GroupRatio', '{"default":1,"vip":0.5,"staff":0}');
  await node.project();
  directory = await node.open();
});

const queries = () => offerQueries({ directory, providers: testProviders });
const list = (viewer: UserView | null, asked: Partial<Parameters<ReturnType<typeof queries>['pricesFor']>[1]> = {}) =>
  queries().pricesFor(viewer, { ...every, ...asked });
const names = ({ items }: { readonly items: readonly OfferedModel[] }) => items.map(({ name }) => name);
const modelIn = (items: readonly OfferedModel[], name: string) => items.find((model) => model.name === name);

describe('the price list', () => {
  test('has every served model, by name, with the price for the group', () => {
    const { items } = list(null, { group: 'vip' });
    expect(items.map(({ name, unitPrices }) => [name, unitPrices?.input ?? unitPrices?.call])).toEqual([
      ['gpt-4o', '0.625'],
      ['gpt-4o-mini', '0.0375'],
      ['house-model', '1'],
      ['picture', '10000'],
    ]);
  });

  test.each([
    ['name-desc', ['picture', 'house-model', 'gpt-4o-mini', 'gpt-4o']],
    ['input', ['gpt-4o-mini', 'gpt-4o', 'house-model', 'picture']],
    ['input-desc', ['house-model', 'gpt-4o', 'gpt-4o-mini', 'picture']],
    ['output-desc', ['gpt-4o', 'house-model', 'gpt-4o-mini', 'picture']],
  ] as const)('is sorted by %s, with calls after tokens', (sort, sorted) => {
    expect(names(list(null, { sort }))).toEqual(sorted);
    expect(names(list(null, { sort, search: 'gpt' }))).toEqual(sorted.filter((name) => name.startsWith('gpt')));
  });

  test('is sorted by present prices: models without one come last, unless the reader accepts them', async () => {
    expect(names(list(null, { sort: 'input' })).at(0)).toBe('gpt-4o-mini');
    await node.editChannel(1, { models: ['gpt-4o', 'gpt-4o-mini', 'unheard-of'], groups: ['default'] });
    await node.option('ModelRatio', '{"gpt-4o":1.25,"gpt-4o-mini":2,"house-model":3}');
    await node.deliver(directory);
    const asked = { sort: 'input-desc' } as const;
    expect(names(list(null, asked))).toEqual(['house-model', 'gpt-4o-mini', 'gpt-4o', 'unheard-of']);
    expect(names(list(user('default', true), asked))).toEqual(['unheard-of', 'house-model', 'gpt-4o-mini', 'gpt-4o']);
  });

  test('names only the groups that the reader may use, and no group that visitors may not', () => {
    expect(modelIn(list(null).items, 'gpt-4o')).toMatchObject({ groups: ['default', 'vip'], provider: null });
    expect(modelIn(list(null).items, 'house-model')).toMatchObject({ groups: [], available: false });
    expect(modelIn(list(user('staff')).items, 'house-model')).toMatchObject({
      groups: ['staff'],
      available: true,
      provider: 'DeepSeek',
    });
    expect(JSON.stringify([list(null).items, queries().priceGroups(null)])).not.toContain('staff');
  });

  test('is for a group that the reader may use, and for no other', () => {
    expect(() => list(null, { group: 'staff' })).toThrow(
      expect.objectContaining({ code: 'invalid-field', details: { field: 'group', allowed: 'default, vip' } }),
    );
    expect(() => list(null, { group: '' })).toThrow(expect.objectContaining({ code: 'invalid-field' }));
    expect(list(user('staff'), { group: 'staff' }).items).toHaveLength(4);
  });

  test('is empty for a reader whose group is retired', () => {
    expect(list(user('retired')).items.every(({ available }) => !available)).toBe(true);
    expect(queries().priceGroups(user('retired'))).toMatchObject({ own: 'retired', usable: [{}, {}] });
  });

  test('omits the price of a model that would be refused, and has the fixed one for a reader that accepts it', async () => {
    await node.editChannel(1, { models: ['unheard-of'], groups: ['default'] });
    await node.deliver(directory);
    expect(modelIn(list(null).items, 'unheard-of')).toMatchObject({ price: null, unitPrices: null, available: false });
    expect(modelIn(list(user('default', true)).items, 'unheard-of')).toMatchObject({
      unitPrices: { input: '37.5' },
      available: true,
    });
    await node.option('SelfUseModeEnabled', 'true');
    await node.deliver(directory);
    expect(modelIn(list(null).items, 'unheard-of')).toMatchObject({ available: true });
  });

  test('is divided into pages, and counted whole', async () => {
    expect(names(list(null, { page: 2, size: 3 }))).toEqual(['picture']);
    expect(await list(null, { page: 2, size: 3 }).count()).toBe(4);
    expect(names(list(null, { page: 2_147_483_647 }))).toEqual([]);
  });

  test('can be filtered by prices per call or per token', () => {
    expect(names(list(null, { billing: 'call' }))).toEqual(['picture']);
    expect(names(list(null, { billing: 'token' }))).toEqual(['gpt-4o', 'gpt-4o-mini', 'house-model']);
  });

  test('follows channels and options, and is the same object until a channel changes', async () => {
    const before = directory.offers();
    await node.option('GroupRatio', '{"default":3}');
    await node.deliver(directory);
    expect(directory.offers()).toBe(before);
    expect(modelIn(list(null).items, 'gpt-4o')).toMatchObject({ unitPrices: { input: '3.75' } });
    await node.channel(1, { type: 'ChannelDisabled', automatic: false, reason: '' });
    await node.deliver(directory);
    expect(names(list(null))).toEqual(['gpt-4o', 'house-model']);
  });
});

describe('the search for a model', () => {
  test('finds names that contain the text before those that contain its letters in this order', () => {
    expect(names(list(null, { search: '4o mini' }))).toEqual(['gpt-4o-mini']);
    expect(names(list(null, { search: 'GPT4' }))).toEqual(['gpt-4o', 'gpt-4o-mini']);
    expect(names(list(null, { search: 'm' }))).toEqual(['gpt-4o-mini', 'house-model']);
    expect(names(list(null, { search: 'pte' }))).toEqual(['picture']);
    expect(names(list(null, { search: 'xyz' }))).toEqual([]);
  });

  test.each([
    ['gpt-4o', 'o4', null],
    ['claude-3.5-sonnet', 'claude 35', 0],
    ['claude-3-5-sonnet', 'c35s', 1],
    ['meta/llama', '', 0],
    ['aab', 'aaab', null],
  ] as const)('finds %s by %s with rank %s', (name, text, close) => expect(closenessTo(text)(name)).toBe(close));
});

describe('the price list of a model whose price depends on length or date', () => {
  beforeEach(async () => {
    await node.option('ContextTiers', '{"gpt-4o":[{"over":1000,"input":2,"output":1.5}]}');
    await node.project();
    directory = await node.open();
  });

  test('shows the cost of the whole of a longer call, for the group', () => {
    const { items } = list(null, { group: 'vip' });
    expect(modelIn(items, 'gpt-4o')).toMatchObject({
      unitPrices: { input: '0.625' },
      tiers: [{ over: 1000, unitPrices: { input: '1.25' } }],
    });
    expect(modelIn(items, 'gpt-4o-mini')?.tiers).toEqual([]);
    expect(modelIn(items, 'picture')?.tiers).toEqual([]);
  });

  const from = Instant(Date.UTC(2027, 0, 1));

  test('announces no change of prices that operators have set', () => {
    directory.announcePrices(() => ({ from, prices: { ...prices, modelRatio: new Map([['gpt-4o', '9']]) } }));
    expect(list(null).items.map(({ coming }) => coming)).toEqual([null, null, null, null]);
  });

  test('announces the next built-in price with its day, and drops it once that day has come', async () => {
    node = new DirectoryNode();
    await node.addChannel(1, { models: ['gpt-4o'], groups: ['default'] });
    await node.project();
    directory = await node.open();
    const next = { ...prices, modelRatio: new Map([['gpt-4o', '2.5']]) };
    directory.announcePrices(() => ({ from, prices: next }));
    expect(modelIn(list(null).items, 'gpt-4o')).toMatchObject({
      unitPrices: { input: '1.25' },
      coming: { from, unitPrices: { input: '2.5' } },
    });
    directory.takeDefaultPrices(next);
    directory.announcePrices(() => null);
    expect(modelIn(list(null).items, 'gpt-4o')).toMatchObject({ unitPrices: { input: '2.5' }, coming: null });
  });

  test('works out announced built-in prices once, however often records and options change', async () => {
    node = new DirectoryNode();
    await node.addChannel(1, { models: ['gpt-4o'], groups: ['default'] });
    await node.project();
    directory = await node.open();
    let asked = 0;
    directory.announcePrices(() => {
      asked++;
      return { from, prices: { ...prices, modelRatio: new Map([['gpt-4o', '2.5']]) } };
    });
    for (const times of ['1', '2']) {
      await node.option('RetryTimes', times);
      await node.deliver(directory);
      expect(modelIn(list(null).items, 'gpt-4o')?.coming?.unitPrices).toMatchObject({ input: '2.5' });
    }
    expect(asked).toBe(1);
  });

  test('announces a price that differs only beyond a length of the prompt, and one of another kind', async () => {
    node = new DirectoryNode();
    await node.addChannel(1, { models: ['gpt-4o'], groups: ['default'] });
    await node.project();
    directory = await node.open();
    const contextTiers = new Map([['gpt-4o', [{ over: 1000, factors: { input: '2' } }]]]);
    directory.announcePrices(() => ({ from, prices: { ...prices, contextTiers } }));
    expect(modelIn(list(null).items, 'gpt-4o')).toMatchObject({
      tiers: [],
      coming: { from, unitPrices: { input: '1.25' }, tiers: [{ over: 1000, unitPrices: { input: '2.5' } }] },
    });
    directory.announcePrices(() => ({ from, prices: { ...prices, modelPrice: new Map([['gpt-4o', '0.5']]) } }));
    expect(modelIn(list(null).items, 'gpt-4o')?.coming?.unitPrices).toEqual({ call: '250000' });
  });
});

describe('the price list beside tokens', () => {
  beforeEach(async () => {
    await node.addChannel(3, { models: ['gemini-9', 'claude-9', 'tts-1'], groups: ['default'] });
    await node.option('ModelRatio', '{"gpt-4o":1.25,"gemini-9":1,"claude-9":1,"tts-1":1}');
    await node.option('ToolPrice', '{"web_search":10,"web_search:gpt-4o":25,"google_search":14,"code_execution":0}');
    await node.option('ServiceTiers', '{"gpt-*":{"flex":0.5,"auto":2}}');
    await node.project();
    directory = await node.open();
  });

  test('names the tools of the model’s vendor, for the group', () => {
    const { items } = list(null, { group: 'vip' });
    expect(modelIn(items, 'gpt-4o')?.pieces).toEqual([{ quantity: 'calls:web_search', unitPrice: '6250' }]);
    expect(modelIn(items, 'gemini-9')?.pieces).toEqual([{ quantity: 'calls:google_search', unitPrice: '3500' }]);
    expect(modelIn(items, 'claude-9')?.pieces).toEqual([
      { quantity: 'calls:web_search', unitPrice: '2500' },
      { quantity: 'calls:code_execution', unitPrice: '0' },
    ]);
    expect(modelIn(items, 'tts-1')?.pieces).toEqual([]);
    expect(modelIn(items, 'picture')).toMatchObject({
      unitPrices: { call: '10000' },
      pieces: [{ quantity: 'calls:web_search', unitPrice: '2500' }],
    });
  });

  test('names the service tiers of a model', () => {
    const { items } = list(null);
    expect(modelIn(items, 'gpt-4o')?.serviceTiers).toEqual([
      { tier: 'flex', factor: '0.5' },
      { tier: 'auto', factor: '2' },
    ]);
    expect(modelIn(items, 'claude-9')?.serviceTiers).toEqual([]);
  });

  test('is the same object for all readers at /api/pricing until a price, a channel or a group changes', async () => {
    const first = queries().prices();
    expect(queries().prices()).toBe(first);
    await node.option('ServiceTiers', '{}');
    await node.deliver(directory);
    expect(queries().prices()).not.toBe(first);
    expect(
      queries()
        .prices()
        .every(({ serviceTiers }) => serviceTiers.length === 0),
    ).toBe(true);
    directory.announcePrices(() => ({
      from: Instant(someInstant + 1),
      prices: { ...prices, imageRatio: new Map([['gpt-4o', '3']]) },
    }));
    expect(
      queries()
        .prices()
        .find(({ model }) => model === 'gpt-4o')?.coming?.from,
    ).toBe(someInstant + 1);
  });
});

describe('the price list of models with a record in the price table', () => {
  const usd = (amount: string) => ({ usd: amount });
  const record = async (model: string, periods: PricePeriods): Promise<void> => {
    const changes = [{ model, periods }];
    await node.append(streams.options, { type: 'ModelPricesChanged', changes, origin: { kind: 'editor' } });
    await node.deliver(directory);
  };

  test('has no prices of tokens where what is sold by the piece is charged instead, and lists it after tokens', async () => {
    await node.addChannel(4, { models: ['tts-1', 'heard'], groups: ['default'] });
    await record('tts-1', [{ tokens: { input: usd('15') }, pieces: { characters: '0.00003' } }]);
    await record('heard', [{ pieces: { seconds: '0.0001' } }]);
    const { items } = list(null, { sort: 'input' });
    for (const [model, piece] of [
      ['tts-1', { quantity: 'characters', unitPrice: '15' }],
      ['heard', { quantity: 'seconds', unitPrice: '50' }],
    ] as const)
      expect(modelIn(items, model)).toMatchObject({
        unitPrices: {},
        tiers: [],
        pieces: expect.arrayContaining([piece]),
      });
    expect(modelIn(items, 'heard')?.unitPrices).toEqual({});
    expect(items[0]?.name).toBe('gpt-4o-mini');
  });

  test('is sorted by the cost of a token, also where its ratios are not relative to the input', async () => {
    // 1 USD relative to 0.3 has no end, so the ratios of this price are relative to another token.
    await record('house-model', [{ tokens: { input: usd('0.03'), output: usd('0.1') } }]);
    expect(names(list(null, { sort: 'input' }))).toEqual(['house-model', 'gpt-4o-mini', 'gpt-4o', 'picture']);
    expect(names(list(null, { sort: 'output' }))[0]).toBe('house-model');
    const item = modelIn(list(null).items, 'house-model');
    expect(item?.unitPrices).toMatchObject({ input: '0.015', output: '0.05' });
    expect(item?.price).toMatchObject({ model: '0.015', ratios: { output: '3.333333333333' } });
  });

  test('announces the day from which a model has no price, other service tiers, or another price', async () => {
    const until = '2031-01-01';
    const from = Date.UTC(2031, 0, 1);
    await node.option('ModelRatio', '{"gpt-4o":1.25}');
    await record('gpt-4o-mini', [{ tokens: { input: usd('1') }, until }]);
    await record('house-model', [
      { tokens: { input: usd('1') }, serviceTiers: { flex: '0.5' } },
      { tokens: { input: usd('1') }, serviceTiers: { flex: '0.7' }, from: until },
    ]);
    await record('picture', [{ call: '0.01', until }]);
    const coming = (model: string) => modelIn(list(null).items, model)?.coming;
    expect(coming('gpt-4o-mini')).toMatchObject({ from, unitPrices: null });
    expect(coming('house-model')).toMatchObject({
      from,
      unitPrices: { input: '0.5' },
      serviceTiers: [{ tier: 'flex', factor: '0.7' }],
    });
    // What the option says holds again.
    expect(coming('picture')).toMatchObject({ from, unitPrices: { call: '20000' } });
    expect(coming('gpt-4o')).toBeNull();
  });
});
