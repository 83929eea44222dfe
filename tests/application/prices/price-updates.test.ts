import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import type { OutboundAnswer } from '../../../src/application/ports/outbound-ports.js';
import {
  type DifferenceFilter,
  type PriceUpdates,
  priceUpdates,
} from '../../../src/application/prices/price-updates.js';
import { fetchDue } from '../../../src/application/reactions/update-prices-daily.js';
import { streams } from '../../../src/domain/events/events.js';
import type { FailureCode } from '../../../src/domain/kernel/failure.js';
import type { ModelPricesChanged, PriceChangeOrigin } from '../../../src/domain/options/option.js';
import { priceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import type { PricePeriods } from '../../../src/domain/pricing/records/model-price.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;
let updates: PriceUpdates;

/** Where the present record of each model came from, by the log. */
const origins = async (): Promise<Map<string, PriceChangeOrigin>> => {
  const found = new Map<string, PriceChangeOrigin>();
  for (const event of await node.eventsOf(streams.options))
    if (event.type === 'ModelPricesChanged') for (const { model } of event.changes) found.set(model, event.origin);
  return found;
};

/** The last record of each model that was not applied by itself. */
const approved = async (): Promise<Map<string, PricePeriods | null>> => {
  const found = new Map<string, PricePeriods | null>();
  for (const event of await node.eventsOf(streams.options))
    if (event.type === 'ModelPricesChanged' && !('unasked' in event.origin))
      for (const { model, periods } of event.changes) found.set(model, periods);
  return found;
};

beforeEach(async () => {
  node = await openMemoryNode();
  updates = priceUpdates({ ...node, origins, approved });
});

const page = { page: 1, size: 100 };
const everything: DifferenceFilter = { search: '', kinds: null, servedOnly: false, withinBoundsOnly: false };

const answering = (body: unknown, status = 200): void => {
  const content = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  node.outbound.answer = { ok: true, status, headers: new Map(), body: content };
};

/** USD of a million tokens of input, in the form of LiteLLM. */
const list = (prices: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(prices).map(([model, usd]) => [
      model,
      { litellm_provider: 'acme', mode: 'chat', input_cost_per_token: usd / 1e6, output_cost_per_token: usd / 1e6 },
    ]),
  );

async function configured(...sources: readonly object[]): Promise<void> {
  const named = sources.map((source, index) => ({ name: `s${index + 1}`, url: 'https://a.example/p.json', ...source }));
  await node.options.change(root, 'PriceSources', JSON.stringify(named));
  await node.caughtUp();
}

const differences = (name = 's1', filter = everything) => updates.priceDifferences(root, name, filter, page);

const charge = (model: string): number | null => {
  const price = priceOf(node.directory.settings().prices, model, '', false);
  return price === null ? null : chargeOf({ input: 1_000_000 }, price);
};

const pricesChanged = async (): Promise<ModelPricesChanged[]> =>
  (await node.eventsOf(streams.options)).filter((event) => event.type === 'ModelPricesChanged');

const stateOf = (name: string) => updates.priceSources(root).find((source) => source.name === name)?.state;

describe('a source of prices', () => {
  test('is listed with its state before it is read, and with its models afterwards', async () => {
    await configured({ margin: 1.2 });
    expect(stateOf('s1')).toEqual({ isReading: false, triedAt: null, failure: null, reading: null });
    answering(list({ a: 2, b: 4 }));
    await updates.fetchPriceSource(root, 's1');
    expect(stateOf('s1')).toMatchObject({ isReading: false, failure: null, triedAt: node.clock.now() });
    expect(stateOf('s1')?.reading?.prices.models).toHaveLength(2);
    expect(node.outbound.sent).toMatchObject([{ url: 'https://a.example/p.json', maxBytes: 16 * 1024 * 1024 }]);
  });

  test.each<[string, OutboundAnswer, FailureCode, string]>([
    ['is down', { ok: false, reason: 'unreachable' }, 'price-source-failed', 'the address cannot be reached'],
    ['is slow', { ok: false, reason: 'timed-out' }, 'price-source-failed', 'there was no whole answer in time'],
    ['is endless', { ok: false, reason: 'too-large' }, 'price-source-failed', 'the answer is too large'],
    [
      'is at a private address',
      { ok: false, reason: 'blocked' },
      'price-source-failed',
      'the address is not public, and not among the allowed networks',
    ],
    [
      'answers 500',
      { ok: true, status: 500, headers: new Map(), body: Buffer.from('{}') },
      'price-source-failed',
      'status 500',
    ],
    [
      'answers with a page',
      { ok: true, status: 200, headers: new Map(), body: Buffer.from('<html>Sign in</html>') },
      'price-list-unreadable',
      'it is a page of HTML or XML, not JSON',
    ],
  ])('that %s has that state, and keeps its last reading', async (_, answer, code, reason) => {
    await configured({});
    answering(list({ a: 2 }));
    await updates.fetchPriceSource(root, 's1');
    node.outbound.answer = answer;
    node.clock.advance(1000);
    await expect(updates.fetchPriceSource(root, 's1')).rejects.toThrow(refusal(code, { reason }));
    expect(stateOf('s1')).toMatchObject({ failure: { code, details: { reason } }, triedAt: node.clock.now() });
    expect((await differences()).items.map(({ model }) => model)).toEqual(['a']);
  });

  test('is requested once for concurrent readers', async () => {
    await configured({});
    answering(list({ a: 2 }));
    await Promise.all([updates.fetchPriceSource(root, 's1'), updates.fetchPriceSource(root, 's1')]);
    expect(node.outbound.sent).toHaveLength(1);
  });

  test('is unknown by another name, and for root only', async () => {
    await expect(updates.fetchPriceSource(root, 'x')).rejects.toThrow(refusal('price-source-unknown'));
    expect(() => updates.priceSources(admin)).toThrow(refusal('role-too-low'));
    await expect(updates.fetchPriceSource(admin, 's1')).rejects.toThrow(refusal('role-too-low'));
    await expect(updates.priceDifferences(admin, 's1', everything, page)).rejects.toThrow(refusal('role-too-low'));
    const seen = { source: 's1', reading: '', seenAt: (await node.store.head()) as never };
    await expect(updates.applyPrices(admin, seen, ['a'])).rejects.toThrow(refusal('role-too-low'));
    await expect(updates.applyAllPrices(admin, seen, { filter: everything, count: 1 })).rejects.toThrow(
      refusal('role-too-low'),
    );
    await expect(updates.readPublishedFile(admin, { gzip: '', bareNames: false, margin: 1 })).rejects.toThrow(
      refusal('role-too-low'),
    );
  });

  test('may be a file, the latest of which is used', async () => {
    const given = (value: unknown) => ({
      gzip: gzipSync(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64'),
      bareNames: true,
      margin: 2,
    });
    await updates.readPublishedFile(root, given(list({ 'acme/a': 2 })));
    const { name, isFile } = await updates.readPublishedFile(root, given(list({ 'acme/b': 3 })));
    expect(isFile).toBe(true);
    const found = await differences(name);
    expect(found.items).toMatchObject([{ model: 'b', margin: '2' }]);
    await expect(updates.readPublishedFile(root, given('<html>'))).rejects.toThrow(refusal('price-list-unreadable'));
    await expect(updates.readPublishedFile(root, { ...given('{}'), gzip: 'aGFsbG8=' })).rejects.toThrow(
      refusal('price-list-unreadable'),
    );
    await expect(updates.readPublishedFile(root, { ...given('{}'), margin: 11 })).rejects.toThrow(
      refusal('invalid-field', { field: 'margin' }),
    );
  });
});

describe('prices that an operator selects', () => {
  beforeEach(async () => {
    await node.options.change(root, 'ModelRatio', '{"a":1,"b":1}');
    await configured({ margin: 1.5 });
    answering(list({ a: 2, b: 4, c: 6 }));
  });

  const seen = async (source = 's1') => {
    const { reading, seenAt } = await differences(source);
    return { source, reading, seenAt };
  };

  test('are stored by one command under the name of their source, with the margin, and charged at once', async () => {
    expect((await differences()).items.map(({ model, kind }) => [model, kind])).toEqual([
      ['a', 'dearer'],
      ['b', 'dearer'],
      ['c', 'new'],
    ]);
    expect(await updates.applyPrices(root, await seen(), ['a', 'c'])).toMatchObject({ applied: 2 });
    await node.caughtUp();
    const [change, ...more] = await pricesChanged();
    expect(more).toEqual([]);
    expect(change).toMatchObject({ origin: { kind: 'source', name: 's1' }, by: root.id });
    expect(change?.changes).toMatchObject([
      { model: 'a', periods: [{ tokens: { input: { usd: '3' } }, purchase: { tokens: { input: { usd: '2' } } } }] },
      { model: 'c', periods: [{ tokens: { input: { usd: '9' } } }] },
    ]);
    expect([charge('a'), charge('b'), charge('c')]).toEqual([1_500_000, 1_000_000, 4_500_000]);
    expect((await differences()).items.map(({ model }) => model)).toEqual(['b']);
  });

  test('may be all that match a filter, with their number confirmed', async () => {
    const filter = { ...everything, kinds: ['dearer'] as const };
    await expect(updates.applyAllPrices(root, await seen(), { filter, count: 3 })).rejects.toThrow(
      refusal('price-list-changed'),
    );
    expect(await updates.applyAllPrices(root, await seen(), { filter, count: 2 })).toMatchObject({ applied: 2 });
    await node.caughtUp();
    expect([charge('a'), charge('b'), charge('c')]).toEqual([1_500_000, 3_000_000, null]);
  });

  test('are refused by name after a concurrent change of one, and none is stored', async () => {
    const before = await seen();
    const periods = [{ tokens: { input: { usd: '7' } } }];
    await node.prices.changePrices(root, [{ model: 'b', periods, seenAt: null }], { kind: 'editor' });
    await node.caughtUp();
    await expect(updates.applyPrices(root, before, ['a', 'b'])).rejects.toThrow(
      refusal('price-changed', { field: 'b' }),
    );
    expect(charge('a')).toBe(1_000_000);
    expect(await updates.applyPrices(root, before, ['a'])).toMatchObject({ applied: 1 });
  });

  test('below the price of the source for some group are refused by name until that is confirmed', async () => {
    await node.options.change(root, 'GroupRatio', '{"default":1,"vip":0.5}');
    await node.caughtUp();
    const below = refusal('price-below-purchase', { field: 'a', groups: 'vip' });
    await expect(updates.applyPrices(root, await seen(), ['a'])).rejects.toThrow(below);
    const filter = { ...everything, search: 'a' };
    await expect(updates.applyAllPrices(root, await seen(), { filter, count: 1 })).rejects.toThrow(below);
    expect(await pricesChanged()).toEqual([]);
    const confirmed = { ...(await seen()), belowPurchase: true };
    expect(await updates.applyPrices(root, confirmed, ['a'])).toMatchObject({ applied: 1 });
  });

  test('are refused after a later change of a price map', async () => {
    const before = await seen();
    await node.options.change(root, 'ModelRatio', '{"a":9,"b":1}');
    await node.caughtUp();
    await expect(updates.applyPrices(root, before, ['a'])).rejects.toThrow(
      refusal('option-changed', { field: 'ModelRatio' }),
    );
  });

  test('are refused after a later reading with other prices', async () => {
    const before = await seen();
    answering(list({ a: 20_000 }));
    await updates.fetchPriceSource(root, 's1');
    await expect(updates.applyPrices(root, before, ['a'])).rejects.toThrow(refusal('price-list-changed'));
  });

  test('are refused for a model that the source does not price', async () => {
    await expect(updates.applyPrices(root, await seen(), ['a', 'nowhere'])).rejects.toThrow(
      refusal('invalid-field', { field: 'models' }),
    );
    await expect(updates.applyPrices(root, await seen(), [])).rejects.toThrow(refusal('invalid-field'));
  });
});

describe('a daily source', () => {
  const failures: string[] = [];
  const updated: object[] = [];
  const look = () =>
    fetchDue(
      { updates, clock: node.clock },
      { updated: (facts) => updated.push(facts), failed: (_, source) => failures.push(source) },
    );

  beforeEach(() => {
    failures.length = 0;
    updated.length = 0;
  });

  /** Prices that came from `s1` before, picked by a person. */
  async function applied(prices: Readonly<Record<string, number>>, ...sources: readonly object[]): Promise<void> {
    await configured(...sources);
    answering(list(prices));
    const { reading, seenAt } = await differences();
    await updates.applyPrices(root, { source: 's1', reading, seenAt }, Object.keys(prices));
    await node.caughtUp();
    node.clock.advance(86_400_000);
  }

  test('is fetched once a day and changes nothing unless its option says so', async () => {
    await applied({ a: 2 }, { daily: true });
    answering(list({ a: 2.5 }));
    await look();
    await look();
    expect(node.outbound.sent).toHaveLength(2);
    node.clock.advance(86_400_000);
    await look();
    expect(node.outbound.sent).toHaveLength(3);
    expect(await pricesChanged()).toHaveLength(1);
  });

  test('changes its own prices within the bounds without a user as author, and leaves the rest to an operator', async () => {
    await applied({ a: 2, b: 2, c: 2, d: 2 }, { daily: true, apply: 'within-bounds', bound: 1.25 });
    await node.prices.changePrices(
      root,
      [{ model: 'd', periods: [{ tokens: { input: { usd: '2' }, output: { usd: '2' } } }], seenAt: null }],
      { kind: 'editor' },
    );
    await node.caughtUp();
    answering(list({ a: 2.5, b: 2.6, c: 0, d: 2.1, e: 2 }));
    await look();
    await node.caughtUp();
    expect(updated).toEqual([{ source: 's1', models: 1 }]);
    const last = (await pricesChanged()).at(-1);
    expect(last).toMatchObject({ origin: { kind: 'source', name: 's1', unasked: true }, changes: [{ model: 'a' }] });
    expect(last?.by).toBeUndefined();
    expect(['a', 'b', 'c', 'd', 'e'].map(charge)).toEqual([1_250_000, 1_000_000, 1_000_000, 1_000_000, null]);
  });

  test('does not raise a price day after day beyond the bounds of what an operator applied last', async () => {
    await applied({ a: 2 }, { daily: true, apply: 'within-bounds', bound: 1.5 });
    for (const usd of [2.8, 3.9, 2.9]) {
      answering(list({ a: usd }));
      await look();
      await node.caughtUp();
      node.clock.advance(86_400_000);
    }
    // 3.9 is within 1.5 of 2.8, and not of 2.
    expect(charge('a')).toBe(1_450_000);
    expect(await pricesChanged()).toHaveLength(3);
  });

  test('does not touch a built-in price that a map overrides', async () => {
    await node.options.change(root, 'ModelRatio', '{"gpt-4":1}');
    await configured({ daily: true, apply: 'within-bounds' });
    answering(list({ 'gpt-4': 2.1 }));
    await look();
    expect(await pricesChanged()).toEqual([]);
  });

  test('that fails does not prevent others, and is retried a day later', async () => {
    await configured({ daily: true, form: 'pricing' }, { daily: true });
    answering(list({ a: 2 }));
    await look();
    await look();
    expect(failures).toEqual(['s1']);
    expect(stateOf('s2')?.reading?.prices.models).toHaveLength(1);
    node.clock.advance(86_400_000);
    await look();
    expect(failures).toEqual(['s1', 's1']);
  });

  test('without the daily option is not fetched automatically', async () => {
    await configured({ apply: 'within-bounds' });
    await look();
    expect(node.outbound.sent).toEqual([]);
  });
});
