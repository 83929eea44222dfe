import { describe, expect, test } from 'vitest';
import { defaultPrices } from '../../../src/application/prices/default-prices.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { billingOf } from '../../../src/domain/pricing/billing.js';
import { type PriceTables, priceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf, reservationOf } from '../../../src/domain/pricing/pricing.js';
import { isSoldBy } from '../../../src/domain/pricing/rates.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';
import { tabledPrice } from '../../../src/domain/pricing/records/tabled-price.js';
import { readPublishedPrices } from '../../../src/domain/pricing/sources/read-published-prices.js';

/* Seconds of video are sold at a price of their resolution. */

const tables = (changed: Partial<PriceTables> = {}): PriceTables => ({
  ...defaultPrices(Instant(Date.UTC(2026, 10, 28))),
  records: new Map(),
  reasoningRatio: new Map(),
  serviceTiers: new Map(),
  groupRatio: new Map([['vip', '0.5']]),
  toolPrice: new Map(),
  quotaPerUnit: '500000',
  ...changed,
});

const withRecord = (pieces: ModelPrice['pieces']) =>
  tables({ records: new Map([['my-video', { pieces } as ModelPrice]]) });

const priced = (at: PriceTables, model: string, group = 'default') => {
  const price = priceOf(at, model, group, false, 'video');
  if (price === null) throw new Error(`${model} has no price`);
  return price;
};

describe('seconds of video', () => {
  test('cost what their resolution does, times the ratio of the group', () => {
    const usage = { 'video:1080p': 8 } as const;
    expect(chargeOf(usage, priced(tables(), 'veo-3.1-fast-generate-001'))).toBe(480_000);
    expect(chargeOf(usage, priced(tables(), 'veo-3.1-fast-generate-001', 'vip'))).toBe(240_000);
    expect(reservationOf(usage, priced(tables(), 'veo-3.1-fast-generate-001'))).toBe(480_000);
  });

  test('at a resolution without a price of its own cost what the model states for any', () => {
    const price = priced(withRecord({ video: '0.1', 'video:4k': '0.3' }), 'my-video');
    expect([chargeOf({ 'video:720p': 4 }, price), chargeOf({ 'video:4k': 4 }, price)]).toEqual([200_000, 600_000]);
    expect(billingOf({ 'video:720p': 4 }, price).lines).toMatchObject([
      { quantity: 'video:720p', count: 4, unitPrice: '50000', amount: '200000' },
    ]);
  });

  test('are not sold at a resolution that a model states no price for', () => {
    const price = priced(withRecord({ 'video:720p': '0.1' }), 'my-video');
    expect([isSoldBy(price, 'video:720p'), isSoldBy(price, 'video:1080p')]).toEqual([true, false]);
  });

  test('give a chat no price, nor does a price of another piece give them one', () => {
    expect(priceOf(tables(), 'sora-2', 'default', false, null)).toBeNull();
    expect(priceOf(withRecord({ characters: '0.1' }), 'my-video', 'default', false, 'video')).toBeNull();
  });
});

describe('a built-in price of video', () => {
  test('is shown as a record would state it', () =>
    expect(tabledPrice(tables(), 'veo-3.1-generate-001')).toEqual({ pieces: { video: '0.4', 'video:4k': '0.6' } }));

  test('is beaten by a price per call that an operator sets, and by a record', () => {
    const perCall = tables({ modelPrice: new Map([['sora-2', '0.25']]) });
    expect(chargeOf({ 'video:720p': 12 }, priced(perCall, 'sora-2'))).toBe(125_000);
    const recorded = tables({ records: new Map([['sora-2', { pieces: { video: '0.01' } } as ModelPrice]]) });
    expect(chargeOf({ 'video:720p': 12 }, priced(recorded, 'sora-2'))).toBe(60_000);
  });
});

describe('a published list of video prices', () => {
  const read = (entry: Readonly<Record<string, unknown>>) => {
    const listed = { 'my-video': { litellm_provider: 'vertex_ai', mode: 'video_generation', ...entry } };
    const steps = readPublishedPrices(JSON.stringify(listed), { today: '2026-11-28', bareNames: false });
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value.models[0]?.periods;
    }
  };

  test('is read with the price of the usual resolution for all that it does not name', () =>
    expect(
      read({ output_cost_per_second: 0.1, output_cost_per_second_1080p: 0.12, output_cost_per_second_4k: 0.3 }),
    ).toEqual([{ pieces: { video: '0.1', 'video:1080p': '0.12', 'video:4k': '0.3' } }]));

  test('is read without a large resolution that would be cheaper than a smaller one', () =>
    expect(read({ output_cost_per_second: 0.05, output_cost_per_second_720p: 0.07 })).toEqual([
      { pieces: { video: '0.05', 'video:720p': '0.07', 'video:1080p': '0.07', 'video:4k': '0.07' } },
    ]));

  test('is read whichever way the member is called', () =>
    expect(read({ output_cost_per_video_per_second: 0.1 })).toEqual([{ pieces: { video: '0.1' } }]));
});
