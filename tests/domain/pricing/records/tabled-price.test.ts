import { describe, expect, test } from 'vitest';
import { defaultPrices } from '../../../../src/application/prices/default-prices.js';
import { Instant } from '../../../../src/domain/kernel/instant.js';
import { type PriceTables, priceOf } from '../../../../src/domain/pricing/price-tables.js';
import { priceIdentity } from '../../../../src/domain/pricing/records/same-price.js';
import { statedPrice, tabledPrice } from '../../../../src/domain/pricing/records/tabled-price.js';
import { noPrices } from '../../../support/given/no-prices.js';

const others = {
  records: new Map(),
  reasoningRatio: new Map(),
  serviceTiers: new Map(),
  groupRatio: new Map([['', '3']]),
  toolPrice: new Map(),
  quotaPerUnit: '500000',
};
const tables = (changed: Partial<PriceTables>): PriceTables => ({ ...noPrices, ...others, ...changed });

describe('the price of a model in the maps, as a record', () => {
  test('has the price of the input in USD, and of other kinds where they have ratios', () =>
    expect(
      tabledPrice(
        tables({
          modelRatio: new Map([['m', '1.25']]),
          completionRatio: new Map([['m', '6']]),
          cacheRatio: new Map([['m', '0.1']]),
          contextTiers: new Map([['m', [{ over: 5, factors: { input: '2' } }]]]),
        }),
        'm',
      ),
    ).toEqual({
      // Cache writes cost what the family's rule says, and are stated all the same: they do not move with the input.
      tokens: {
        ...{ input: { usd: '2.5' }, output: { usd: '15' }, cachedInput: { usd: '0.25' } },
        ...{ cacheWrite: { usd: '3.125' }, cacheWriteHour: { usd: '5' } },
      },
      contextTiers: [{ over: 5, factors: { input: '2' } }],
    }));

  test('is the price of a call where that is stated, and absent where nothing is', () => {
    expect(tabledPrice(tables({ modelPrice: new Map([['m', '0.04']]) }), 'm')).toEqual({ call: '0.04' });
    expect(tabledPrice(tables({}), 'm')).toBeNull();
  });

  test('is replaced by a record', () => {
    const records = new Map([['m', { call: '1' }]]);
    expect(statedPrice(tables({ records, modelPrice: new Map([['m', '2']]) }), 'm')).toEqual({ call: '1' });
  });

  const builtIn = tables({ ...defaultPrices(Instant(Date.parse('2026-11-28T00:00:00Z'))), groupRatio: new Map() });
  const names = [...builtIn.modelRatio.keys(), ...builtIn.modelPrice.keys()];

  test('charges for every built-in model the same as the maps', () => {
    expect(names.length).toBeGreaterThan(500);
    const differing = names.filter((name) => {
      const record = tabledPrice(builtIn, name);
      if (record === null) return true;
      const recorded = { ...builtIn, records: new Map([[name, record]]) };
      return priceIdentity(priceOf(recorded, name, '', false)) !== priceIdentity(priceOf(builtIn, name, '', false));
    });
    expect(differing).toEqual([]);
  });
});
