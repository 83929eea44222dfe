import { describe, expect, test } from 'vitest';
import { packedCalls } from '../../../src/domain/events/packed-calls.js';
import { NearestModels } from '../../../src/domain/pricing/nearest-model.js';
import {
  isPriced,
  isPricedPerCall,
  type PriceTables,
  pricedLike,
  priceOf,
  serviceFactorsOf,
} from '../../../src/domain/pricing/price-tables.js';
import { chargeOf, type Price } from '../../../src/domain/pricing/pricing.js';
import { noPrices } from '../../support/given/no-prices.js';

describe('the nearest model of a new name', () => {
  const names =
    'gpt-5 gpt-5-mini gpt-5.6-sol gpt-6-sol gpt-6.1-sol gpt-6.3-sol claude-opus-5 claude-opus-5-5 o3 gemini-4-argon';
  const models = new NearestModels(names.split(' '));

  test.each([
    ['gpt-6.1-sol-2026-11-20', 'gpt-6.1-sol', 'the same at a date'],
    ['gpt-6.1-sol-latest', 'gpt-6.1-sol', 'the same at its latest'],
    ['claude-opus-5-20261120', 'claude-opus-5', 'the same at a date without dashes'],
    ['gpt-6.2-sol', 'gpt-6.1-sol', 'the latest earlier version, not the later one'],
    ['gpt-6.10-sol', 'gpt-6.3-sol', 'versions are numbers, not texts'],
    ['gpt-7-sol-2027-01-01', 'gpt-6.3-sol', 'an earlier version of a dated name'],
    ['claude-opus-6', 'claude-opus-5-5', 'versions with dashes'],
    ['claude-opus-5-1', 'claude-opus-5', 'between two versions'],
    ['o4', 'o3', 'a version that begins a name'],
    ['gpt-5-mini-search', 'gpt-5-mini', 'the longest beginning'],
    ['gpt-5-nano', 'gpt-5', 'a shorter beginning'],
    ['gpt-5-7', 'gpt-5', 'a later version of the family'],
  ])('of %s is %s: %s', (name, expected) => expect(models.of(name)).toBe(expected));

  test.each([
    ['gpt-4.9-sol', 'only later versions are known'],
    ['gpt-512', 'the family is followed by digits that are no version'],
    ['gpt-5turbo', 'the family ends within a word'],
    ['gemini-3-hydrogen', 'another member of a series'],
    ['mistral-large', 'nothing of it is known'],
    ['2', 'a version alone'],
    ['', 'no name'],
    ['-'.repeat(255), 'no word'],
  ])('of %s does not exist: %s', (name) => expect(models.of(name)).toBeNull());
});

describe('a model without an entry in any table', () => {
  const tables = (changed: Partial<PriceTables> = {}): PriceTables => ({
    ...noPrices,
    records: new Map(),
    modelRatio: new Map([['gpt-6.1-sol', '1']]),
    modelPrice: new Map([['image-1', '0.04']]),
    completionRatio: new Map([['gpt-6.1-sol', '5']]),
    contextTiers: new Map([['gpt-6.1-sol', [{ over: 272_000, factors: { input: '2', output: '1.5' } }]]]),
    reasoningRatio: new Map(),
    serviceTiers: new Map([['gpt-6.1-sol', new Map([['flex', '0.5']])]]),
    groupRatio: new Map([['vip', '2']]),
    toolPrice: new Map(),
    quotaPerUnit: '500000',
    nearest: { removed: new Set() },
    ...changed,
  });
  const { nearest: _, ...withoutOption } = tables();

  test('has no price unless the option permits it', () => {
    expect(priceOf(withoutOption, 'gpt-6.2-sol', '', false)).toBeNull();
    expect(isPriced(withoutOption, 'gpt-6.2-sol')).toBe(false);
    expect(pricedLike(withoutOption, 'gpt-6.2-sol')).toBeNull();
  });

  test('has the whole price of the nearest one, and names that', () => {
    const known = priceOf(tables(), 'gpt-6.1-sol', 'vip', false);
    expect(known).not.toHaveProperty('like');
    expect(priceOf(tables(), 'gpt-6.2-sol', 'vip', false)).toEqual({ ...known, like: 'gpt-6.1-sol' });
    expect([...serviceFactorsOf(tables(), 'gpt-6.2-sol')]).toEqual([['flex', '0.5']]);
    expect(isPriced(tables(), 'gpt-6.2-sol')).toBe(true);
    expect(isPricedPerCall(tables(), 'gpt-6.2-sol')).toBe(false);
    expect(isPricedPerCall(tables(), 'image-2')).toBe(true);
    expect(priceOf(tables(), 'image-2', '', false)).toMatchObject({ per: 'call', price: '0.04', like: 'image-1' });
  });

  test('costs the same as the nearest one rather than as unpriced models', () => {
    const price = priceOf(tables(), 'gpt-6.2-sol', '', true) as Price;
    expect(chargeOf({ input: 1000, output: 10 }, price)).toBe(1050);
    expect(priceOf(tables(), 'mistral-large', '', true)).toMatchObject({ model: '37.5' });
  });

  test('stays without a price where an operator has removed it, or states none', () => {
    const removed = tables({ nearest: { removed: new Set(['gpt-6.2-sol']) } });
    expect(priceOf(removed, 'gpt-6.2-sol', '', false)).toBeNull();
    expect(isPriced(removed, 'gpt-6.2-sol')).toBe(false);
    const stated = tables({ records: new Map([['gpt-6.2-sol', { purchase: { call: '1' } }]]) });
    expect(priceOf(stated, 'gpt-6.2-sol', '', false)).toBeNull();
  });

  test('is not priced like one whose record states no price', () => {
    const unpriced = tables({ records: new Map([['gpt-6.1-sol', { purchase: { call: '1' } }]]) });
    expect(priceOf(unpriced, 'gpt-6.2-sol', '', false)).toBeNull();
  });

  test.each(['gpt-6.2-sol', 'image-2'])(
    'has its price in the events, with the name of the nearest one: %s',
    (model) => {
      const price = priceOf(tables(), model, '', false) as Price;
      const { pack, unpack } = packedCalls.CallReserved;
      const event = {
        type: 'CallReserved' as const,
        facts: { model } as never,
        reserved: { user: 1, apiKey: 1 } as never,
        promptTokens: 1,
        maxOutputTokens: 2,
        price,
      };
      expect(unpack(JSON.parse(JSON.stringify(pack(event as never)))).price).toEqual(price);
    },
  );
});
