import { describe, expect, test } from 'vitest';
import { defaultPrices } from '../../../src/application/prices/default-prices.js';
import { shownPrice, shownPrices } from '../../../src/application/prices/shown-prices.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { exampleBill } from '../../../src/domain/pricing/example-bill.js';
import { priceOfPictures } from '../../../src/domain/pricing/picture-prices.js';
import { type PriceTables, priceOf, ratioTable } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';

const pictures: ModelPrice = {
  pictures: [
    { usd: '0.5' },
    { quality: 'hd', usd: '0.25' },
    { size: '1024*1024', usd: '0.125' },
    { size: '1024x1024', quality: 'low', usd: '0.0625' },
  ],
};
const tables: PriceTables = {
  ...defaultPrices(Instant(Date.UTC(2026, 10, 28))),
  ...{ reasoningRatio: new Map(), serviceTiers: new Map(), groupRatio: new Map(), toolPrice: new Map() },
  quotaPerUnit: '500000',
  records: new Map([
    ['by-order', pictures],
    ['by-picture', { pieces: { images: '0.1' } }],
    ['by-size', { pictures: [{ size: '1024x1024', usd: '0.1' }] }],
  ]),
  modelPrice: ratioTable({ 'dall-e-3': 0.04, 'by-call': 0.04 }),
  modelRatio: ratioTable({ 'by-ratio': 2, 'gpt-image-1': 2.5 }),
};

/** USD of two pictures; null: they have no price. */
function dollars(model: string, size: string, quality: string, ...sentAs: readonly string[]): number | null {
  const price = priceOf(tables, model, 'default', false, 'images');
  const priced =
    price === null
      ? null
      : priceOfPictures(price, tables, { model, names: new Set([model, ...sentAs]) }, { size, quality });
  return priced === null ? null : chargeOf({ images: 2 }, priced) / 500_000;
}

describe('two pictures', () => {
  test.each([
    ['by-order', '1024x1024', 'low', 0.125],
    ['by-order', '1024x1024', 'high', 0.25],
    ['by-order', '512x512', 'hd', 0.5],
    ['by-order', '512x512', 'low', 1],
    ['by-order', '1024x1024', 'auto', 0.25],
    ['by-order', 'auto', 'low', 1],
    ['by-picture', 'auto', 'auto', 0.2],
    ['by-size', '512x512', 'auto', null],
    ['by-call', '256x256', 'hd', 0.032],
    ['by-call', '640x480', 'standard', 0.08],
    ['dall-e-3', '1024x1024', 'hd', 0.16],
    ['dall-e-3', '1792x1024', 'hd', 0.24],
    ['dall-e-3', 'auto', 'standard', 0.16],
    ['dall-e-3', 'auto', 'hd', 0.24],
    ['dall-e-3', '1024x1024', 'auto', 0.16],
    ['dall-e-3', 'auto', 'auto', 0.24],
    ['by-ratio', '1024x1024', 'auto', 0.01],
    ['gpt-image-1', '1024x1024', 'high', 0.000002],
    ['unknown', 'auto', 'auto', null],
    ['grok-imagine-image', '2048x2048', 'auto', 0.04],
    ['grok-imagine-image-2.0', '1024x1024', 'low', 0.08],
    ['grok-imagine-image-2.0', '1024x1024', 'medium', 0.12],
    ['grok-imagine-image-2.0', '1792x1024', 'low', 0.12],
    ['grok-imagine-image-2.0', 'auto', 'auto', 0.16],
    ['grok-imagine-image-2.0', '1024x1024', 'high', null],
    ['grok-imagine-image-pro', '1536x1024', 'auto', 0.08],
    ['grok-imagine-image-quality', '2048x2048', 'medium', 0.12],
    ['qwen-image-plus', 'auto', 'auto', 0.054794],
    ['cogview-4', '1440x720', 'hd', 0.016438],
    ['cogview-3-flash', 'auto', 'auto', 0],
    ['grok-2-image', 'auto', 'auto', null],
  ])('of %s at %s in quality %s cost %d USD', (model, size, quality, usd) => {
    expect(dollars(model, size, quality)).toBe(usd);
  });

  test.each([
    ['by-call', 'dall-e-3', 'hd', 0.16],
    ['by-ratio', 'gpt-image-1', 'high', 0.000002],
    ['by-ratio', 'gemini-2.5-flash-image', 'high', 0.000002],
  ])(
    'of %s, sent upstream as %s in quality %s, cost what that one is sold by: %d USD',
    (model, sentAs, quality, usd) => {
      expect(dollars(model, '1024x1024', quality, sentAs)).toBe(usd);
    },
  );

  test('are listed at the highest price of their record, and no tokens beside them', () => {
    const shown = shownPrice(tables, 'by-order', 'default', false);
    expect(shown === null ? null : shownPrices(shown, 'by-order')).toEqual({
      ...{ unitPrices: {}, tiers: [] },
      pieces: [{ quantity: 'images', unitPrice: '250000' }],
    });
    const call = { model: 'by-order', usage: { images: 2 }, group: 'default', serviceTier: null };
    expect(exampleBill(tables, pictures, call).billing?.total).toBe(500_000);
  });

  test('have the size and quality in their price that they were ordered in', () => {
    const price = priceOf(tables, 'by-call', 'default', false, 'images');
    if (price === null) throw new Error('no price');
    expect(
      priceOfPictures(
        price,
        tables,
        { model: 'by-call', names: new Set(['by-call']) },
        { size: '256x256', quality: 'auto' },
      ),
    ).toEqual({
      ...{ per: 'token', model: '0', ratios: {}, group: '1' },
      pieces: {
        ...{ dollars: { images: '0.016' }, quotaPerUnit: '500000' },
        picture: { size: '256x256', quality: 'auto' },
      },
    });
  });
});
