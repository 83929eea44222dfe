import 'reflect-metadata';
import { expect, test } from 'vitest';
import { priceByPlainInput } from '../../src/domain/pricing/context-tiers.js';
import type { TokenPrice } from '../../src/domain/pricing/pricing.js';
import { TokenPriceResolver } from '../../src/graphql/usage/price.js';

const resolver = new TokenPriceResolver();
const rest = { cacheWrite: '1', image: '1' };

test('a price of tokens shows the ratios of each context tier, relative to an input token there', () => {
  const price: TokenPrice = {
    ...{ per: 'token', model: '1.25', group: '1', ratios: { output: '6', cachedInput: '0.1' } },
    tiers: [{ over: 272_000, ratios: { input: '2', output: '9', cachedInput: '0.2' } }],
  };
  expect(resolver.tiers(price)).toEqual([
    {
      over: 272_000,
      model: '2.5',
      completion: '4.5',
      cache: '0.1',
      ...{ cacheWrite: '1', image: '1' },
      reasoning: '4.5',
    },
  ]);
});

test('tiers of a price whose ratios are what tokens cost are the same after it is put by plain input', () => {
  const price: TokenPrice = {
    ...{ per: 'token', model: '1', group: '1', ratios: { input: '0.15', output: '0.5' } },
    tiers: [{ over: 1_000, ratios: { input: '0.3', output: '0.75' } }],
  };
  const shown = priceByPlainInput(price, {});
  expect(shown).toMatchObject({ model: '0.15', ratios: { output: '3.333333333333' } });
  expect(resolver.tiers(shown)).toEqual([
    { over: 1_000, model: '0.3', completion: '2.5', cache: '1', ...rest, reasoning: '2.5' },
  ]);
  expect(resolver.tiers(price)).toEqual(resolver.tiers(shown));
});
