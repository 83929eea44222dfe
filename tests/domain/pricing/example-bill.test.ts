import { describe, expect, test } from 'vitest';
import { type ExampleCall, exampleBill } from '../../../src/domain/pricing/example-bill.js';
import type { PriceTables } from '../../../src/domain/pricing/price-tables.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';
import { noPrices } from '../../support/given/no-prices.js';
import { refusal } from '../../support/refusal.js';

const tables: PriceTables = {
  ...noPrices,
  records: new Map(),
  reasoningRatio: new Map(),
  serviceTiers: new Map([['m', new Map([['flex', '0.5']])]]),
  groupRatio: new Map([['vip', '0.5']]),
  toolPrice: new Map([['web_search', '10']]),
  quotaPerUnit: '500000',
};

const price: ModelPrice = {
  tokens: { input: { usd: '2' }, output: { usd: '10' } },
  contextTiers: [{ over: 200_000, factors: { input: '2', output: '1.5' } }],
  purchase: { tokens: { input: { usd: '1' }, output: { usd: '8' } } },
};

const bill = (call: Partial<ExampleCall>, record: ModelPrice = price) =>
  exampleBill(tables, record, { model: 'm', usage: { input: 1_000 }, group: '', serviceTier: null, ...call });
const total = (call: Partial<ExampleCall>) => bill(call).billing?.total;

describe('an example bill', () => {
  test('charges by the record, for the requested group and service tier', () => {
    // 1,000 tokens at 2 USD a million: 0.002 USD.
    expect(total({})).toBe(1_000);
    expect(total({ group: 'vip' })).toBe(500);
    expect(total({ serviceTier: 'flex' })).toBe(500);
  });

  test('uses the context tier that its prompt exceeds, and not one that it just reaches', () => {
    expect(total({ usage: { input: 200_000, output: 1_000 } })).toBe(200_000 + 5_000);
    expect(total({ usage: { input: 200_001, output: 1_000 } })).toBe(400_002 + 7_500);
  });

  test('shows the purchase cost, by the same tiers, and the margin', () => {
    const { purchase, margin } = bill({ usage: { input: 200_001 } });
    expect(purchase?.total).toBe(200_001);
    expect(margin).toBe('1');
    expect(bill({ group: 'vip' }).margin).toBe('0');
  });

  test('counts tools by the use', () =>
    expect(total({ usage: { input: 1_000, 'calls:web_search': 2 } })).toBe(1_000 + 10_000));

  test('shows both prices of each kind of token, and the margin', () => {
    const { quantities } = bill({ group: 'vip' });
    expect(quantities.find(({ quantity }) => quantity === 'output')).toEqual({
      ...{ quantity: 'output', unitPrice: '5', purchaseUnitPrice: '4', margin: '0.25' },
    });
    expect(quantities.find(({ quantity }) => quantity === 'call')?.unitPrice).toBeNull();
  });

  test('has no purchase cost and no margin where none is stated, and no bill without a price', () => {
    const { purchase, margin, billing } = bill({}, { call: '0.01' });
    expect([purchase, margin, billing?.total]).toEqual([null, null, 5_000]);
    expect(bill({}, { purchase: { call: '1' } }).billing).toBeNull();
  });

  test('refuses a service tier without a price', () =>
    expect(() => bill({ serviceTier: 'priority' })).toThrow(
      refusal('invalid-field', { field: 'serviceTier', allowed: 'one of flex' }),
    ));
});
