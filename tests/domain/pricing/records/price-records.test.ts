import { describe, expect, test } from 'vitest';
import { Instant } from '../../../../src/domain/kernel/instant.js';
import { isPriced, isPricedPerCall, type PriceTables, priceOf } from '../../../../src/domain/pricing/price-tables.js';
import { chargeOf, reservationOf } from '../../../../src/domain/pricing/pricing.js';
import type { ModelPrice } from '../../../../src/domain/pricing/records/model-price.js';
import { nextPeriodChange, pricePeriodAt, startOfDay } from '../../../../src/domain/pricing/records/price-records.js';
import { withTools } from '../../../../src/domain/pricing/tool-prices.js';
import { noPrices } from '../../../support/given/no-prices.js';

const tablesWith = (record: ModelPrice, changed: Partial<PriceTables> = {}): PriceTables => ({
  ...noPrices,
  records: new Map([['my-model', record]]),
  reasoningRatio: new Map(),
  serviceTiers: new Map(),
  groupRatio: new Map(),
  toolPrice: new Map(),
  quotaPerUnit: '500000',
  ...changed,
});

const priceBy = (record: ModelPrice, changed?: Partial<PriceTables>, group = '') => {
  const price = priceOf(tablesWith(record, changed), 'my-model', group, false);
  if (price === null) throw new Error('the record states no price');
  return price;
};

const usd = (amount: string) => ({ usd: amount });
const chargeBy = (record: ModelPrice, usage: Parameters<typeof chargeOf>[0]) => chargeOf(usage, priceBy(record));

describe('a record of the price of a piece only', () => {
  const record: ModelPrice = { pieces: { seconds: '0.0001', 'calls:web_search': '0.01' } };
  const tables = tablesWith(record);

  test('is a price of what is sold so, at which tokens are free', () => {
    expect(isPriced(tables, 'my-model')).toBe(true);
    const price = priceOf(tables, 'my-model', '', false, 'seconds');
    if (price === null) throw new Error('no price');
    expect(chargeOf({ input: 1_000, output: 500, seconds: 60 }, price)).toBe(3_000);
    expect(reservationOf({ input: 1_000, output: 500, seconds: 60 }, price)).toBe(3_000);
  });
  test('is no price of any other call, unless unpriced models are accepted', () => {
    for (const soldBy of [null, 'characters'] as const) {
      expect(priceOf(tables, 'my-model', '', false, soldBy)).toBeNull();
      expect(priceOf(tables, 'my-model', '', true, soldBy)).toMatchObject({ per: 'token', model: '37.5' });
    }
  });
  test('is no price at all where it only prices a tool', () => {
    const tool = tablesWith({ pieces: { 'calls:web_search': '0.01' } });
    expect(isPriced(tool, 'my-model')).toBe(false);
  });
});

describe('the price of a record', () => {
  test('in USD is charged exactly where its ratio is periodic', () => {
    const record = { tokens: { input: usd('0.3'), output: usd('1') } };
    // 3 tokens at 1 USD a million are 1.5 quota: a ratio that was rounded down would make them 1.
    expect(chargeBy(record, { output: 3 })).toBe(2);
    expect(chargeBy(record, { input: 10 })).toBe(2);
    expect(chargeBy(record, { input: 1_000_000, output: 1_000_000 })).toBe(650_000);
  });

  test('has ratios relative to the input where they are exact', () =>
    expect(priceBy({ tokens: { input: usd('2.5'), output: usd('15'), cachedInput: { ratio: '0.1' } } })).toMatchObject({
      model: '1.25',
      ratios: { output: '6', cachedInput: '0.1' },
    }));

  test('with output only makes input free', () => {
    const record = { tokens: { input: usd('0'), output: usd('1') } };
    expect(chargeBy(record, { input: 100 })).toBe(0);
    expect(chargeBy(record, { input: 100, output: 100 })).toBe(50);
  });

  test('follows the rules of the model’s family for absent kinds', () => {
    const tables = tablesWith({});
    const records = new Map([['claude-opus-5', { tokens: { input: usd('5'), output: usd('25') } }]]);
    expect(priceOf({ ...tables, records }, 'claude-opus-5', '', false)).toMatchObject({
      ratios: { output: '5', cacheWrite: '1.25', cacheWriteHour: '2' },
    });
  });

  test('is not combined with older maps for the model', () =>
    expect(
      priceBy(
        { tokens: { input: usd('2') } },
        { modelPrice: new Map([['my-model', '3']]), cacheRatio: new Map([['my-model', '0.5']]) },
      ),
    ).toEqual({
      per: 'token',
      model: '1',
      ratios: { output: '1', cacheWrite: '1.25', cacheWriteHour: '2' },
      group: '1',
    }));

  test('per call takes precedence over tokens', () => {
    const record = { call: '0.02', tokens: { input: usd('2') } };
    expect(chargeBy(record, { input: 1_000_000 })).toBe(10_000);
    expect(isPricedPerCall(tablesWith(record), 'my-model')).toBe(true);
  });

  test('has context tiers, and the reservation uses the higher one from its bound on', () => {
    const record = {
      tokens: { input: usd('0.3'), output: usd('1') },
      contextTiers: [{ over: 1_000, factors: { input: '2', output: '1.5' } }],
    };
    const price = priceBy(record);
    expect(chargeOf({ input: 1_000, output: 100 }, price)).toBe(200);
    expect(chargeOf({ input: 1_001, output: 100 }, price)).toBe(375);
    expect(reservationOf({ input: 1_001, output: 100 }, price)).toBeGreaterThanOrEqual(375);
  });

  test('has per-use prices beside tokens, with those of tools only where a call may use them', () => {
    const record = { tokens: { input: usd('2') }, pieces: { seconds: '0.0001', 'calls:web_search': '0.01' } };
    const price = priceBy(record);
    expect(chargeOf({ input: 100, seconds: 60 }, price)).toBe(3_100);
    const searching = withTools(price, tablesWith(record), 'my-model', { 'calls:web_search': 1 });
    expect(chargeOf({ input: 100, seconds: 60, 'calls:web_search': 2 }, searching)).toBe(13_100);
  });

  test('is multiplied by the ratio of the group', () =>
    expect(
      chargeOf(
        { input: 100 },
        priceBy({ tokens: { input: usd('2') } }, { groupRatio: new Map([['vip', '0.5']]) }, 'vip'),
      ),
    ).toBe(50));

  test('is missing with a purchase price only', () => {
    const tables = tablesWith(
      { purchase: { tokens: { input: usd('1') } } },
      { modelRatio: new Map([['my-model', '1']]) },
    );
    expect(isPriced(tables, 'my-model')).toBe(false);
    expect(priceOf(tables, 'my-model', '', false)).toBeNull();
    expect(priceOf(tables, 'my-model', '', true)).toMatchObject({ model: '37.5' });
  });
});

describe('the price period in force', () => {
  const periods = [
    { tokens: { input: usd('1') } },
    { from: '2026-12-01', tokens: { input: usd('2') } },
    { from: '2026-12-10', until: '2026-12-20', tokens: { input: usd('3') } },
  ];
  const inputAt = (at: number) => pricePeriodAt(periods, Instant(at))?.tokens?.input;

  test.each([
    ['before the first day', Date.UTC(2026, 10, 30, 23, 59, 59, 999), '1'],
    ['from midnight in UTC of its day', Date.UTC(2026, 11, 1), '2'],
    ['the later of two that hold', Date.UTC(2026, 11, 10), '3'],
    ['until the millisecond before its last midnight', Date.UTC(2026, 11, 19, 23, 59, 59, 999), '3'],
    ['the earlier one again once the later has ended', Date.UTC(2026, 11, 20), '2'],
  ])('is the right one: %s', (_, at, amount) => expect(inputAt(at)).toEqual(usd(amount)));

  test('is missing before the first one begins', () =>
    expect(pricePeriodAt([{ from: '2026-12-01' }], Instant(startOfDay('2026-12-01') - 1))).toBeNull());

  test('changes next on the nearest day on which one begins or ends', () => {
    const records = new Map([['my-model', periods]]);
    expect(nextPeriodChange(records, startOfDay('2026-12-01'))).toBe(startOfDay('2026-12-10'));
    expect(nextPeriodChange(records, startOfDay('2026-12-10'))).toBe(startOfDay('2026-12-20'));
    expect(nextPeriodChange(records, startOfDay('2026-12-20'))).toBeNull();
  });
});
