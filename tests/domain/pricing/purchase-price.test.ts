import { describe, expect, test } from 'vitest';
import { decimalText } from '../../../src/domain/kernel/decimal.js';
import {
  checkPurchasePrices,
  purchaseCost,
  purchasePriceOf,
  purchasePricesIn,
} from '../../../src/domain/pricing/purchase-price.js';
import { refusal } from '../../support/refusal.js';

const prices = (purchase: unknown) => purchasePricesIn(JSON.stringify({ chat_only: true, purchase_prices: purchase }));
const costOf = (usage: Parameters<typeof purchaseCost>[0], purchase: object) => {
  const price = purchasePriceOf(prices({ 'gpt-4o': purchase }), { upstreamModel: null, model: 'gpt-4o' });
  const cost = price === null ? null : purchaseCost(usage, price);
  return cost === null ? null : decimalText(cost);
};

describe('the purchase price of a model', () => {
  test.each([
    { _name: 'counts each kind of token', usage: { input: 3, cachedInput: 2, output: 1 }, cost: '0.00002' },
    {
      _name: 'counts writes to a cache as input where it names no price of theirs',
      usage: { cacheWrite: 7 },
      cost: '0.0000175',
    },
    { _name: 'counts thinking as output', usage: { reasoning: 5 }, cost: '0.00005' },
    { _name: 'does not say what pictures cost', usage: { input: 1, images: 1 }, cost: null },
  ])('$_name', ({ usage, cost }) => {
    expect(costOf(usage, { input: 2.5, cached_input: '1.25', output: 10 })).toBe(cost);
  });

  test('of a call is charged once, whatever it used', () => {
    expect(costOf({ input: 500, images: 3 }, { call: '0.04' })).toBe('0.04');
    expect(costOf({ input: 1_000_000 }, { call: '0.04', input: 1, output: 2 })).toBe('1.04');
  });

  test('is found by the upstream name, then by the requested name, then by the star', () => {
    const all = prices({ up: { call: 1 }, asked: { call: 2 }, '*': { call: 3 } });
    const priceOf = (upstreamModel: string | null, model: string) => {
      const price = purchasePriceOf(all, { upstreamModel, model });
      return price === null ? null : decimalText(price.call);
    };
    expect([priceOf('up', 'asked'), priceOf('else', 'asked'), priceOf(null, 'other')]).toEqual(['1', '2', '3']);
    expect(purchasePriceOf(prices({ up: { call: 1 } }), { upstreamModel: null, model: 'other' })).toBeNull();
  });

  test.each([
    { _name: 'a list', prices: [] },
    { _name: 'a price that is a number', prices: { 'gpt-4o': 3 } },
    { _name: 'a member that there is not', prices: { 'gpt-4o': { input: 1, output: 1, inputs: 2 } } },
    { _name: 'a negative price', prices: { 'gpt-4o': { input: -1, output: 1 } } },
    { _name: 'an object where a number belongs', prices: { 'gpt-4o': { input: {}, output: 1 } } },
    { _name: 'input without output', prices: { 'gpt-4o': { input: 1 } } },
  ])('is refused by name where it is $_name', ({ prices }) => {
    expect(() => checkPurchasePrices(prices)).toThrow(refusal('invalid-field', { field: 'setting' }));
  });

  test('that is stored and none is left out', () => {
    expect(purchasePricesIn('{"purchase_prices":')).toEqual(new Map());
    expect(purchasePricesIn('{"purchase_prices":{"a":null,"__proto__":5}}').size).toBe(0);
  });
});
