import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noUsage } from '../../../src/domain/call/usage.js';
import { add, decimal, decimalText, ZERO } from '../../../src/domain/kernel/decimal.js';
import { billingOf, unitPricesOf } from '../../../src/domain/pricing/billing.js';
import { chargeOf, type Price, type TokenPrice } from '../../../src/domain/pricing/pricing.js';
import { isOutput, tokenQuantities } from '../../../src/domain/pricing/quantities.js';

const price: TokenPrice = {
  per: 'token',
  model: '1.25',
  ratios: { output: '4', cachedInput: '0.5', audioInput: '40' },
  pieces: { dollars: { 'calls:web_search': '0.01' }, quotaPerUnit: '500000' },
  group: '0.8',
};

describe('the calculation of a charge', () => {
  test('has a line for each quantity, tokens first, and sums to the charge', () => {
    const used = { 'calls:web_search': 2, output: 400, cachedInput: 300, input: 1_200, reasoning: 50, audioInput: 1 };
    expect(billingOf(used, price)).toEqual({
      lines: [
        { quantity: 'input', count: 1_200, ratio: '1', unitPrice: '1', amount: '1200' },
        { quantity: 'cachedInput', count: 300, ratio: '0.5', unitPrice: '0.5', amount: '150' },
        { quantity: 'audioInput', count: 1, ratio: '40', unitPrice: '40', amount: '40' },
        { quantity: 'output', count: 400, ratio: '4', unitPrice: '4', amount: '1600' },
        { quantity: 'reasoning', count: 50, ratio: '4', unitPrice: '4', amount: '200' },
        { quantity: 'calls:web_search', count: 2, ratio: null, unitPrice: '4000', amount: '8000' },
      ],
      exact: '11190',
      total: 11_190,
    });
  });

  test('is rounded once, and is at least 1 for usage that is not free', () => {
    expect(billingOf({ input: 1 }, { ...price, model: '3.125' })).toMatchObject({ exact: '2.5', total: 3 });
    expect(billingOf({ input: 1 }, { ...price, model: '0.001' })).toMatchObject({ exact: '0.0008', total: 1 });
    expect(billingOf({ input: 1 }, { ...price, group: '0' })).toMatchObject({ exact: '0', total: 0 });
  });

  test('has no lines without usage', () =>
    expect(billingOf(noUsage, price)).toEqual({ lines: [], exact: '0', total: 0 }));

  test('of a price per call is one line, whatever the usage', () => {
    const perCall: Price = { per: 'call', price: '0.02', quotaPerUnit: '500000', group: '0.5' };
    expect(billingOf({ input: 90_000, output: 1 }, perCall)).toEqual({
      lines: [{ quantity: 'call', count: 1, ratio: null, unitPrice: '5000', amount: '5000' }],
      exact: '5000',
      total: 5_000,
    });
  });

  test('sums to its exact figure, and totals to the charge, with any usage', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...tokenQuantities), fc.nat(1_000_000)), (used) => {
        const { lines, exact, total } = billingOf(used, price);
        const sum = lines.reduce((before, { amount }) => add(before, decimal(amount)), ZERO);
        expect(exact).toBe(decimalText(sum));
        expect(total).toBe(chargeOf(used, price));
      }),
    ));
});

describe('the unit prices of a call', () => {
  test('include every quantity with a rate', () =>
    expect(unitPricesOf(price)).toEqual({
      input: '1',
      cachedInput: '0.5',
      cacheWrite: '1',
      audioInput: '40',
      output: '4',
    }));

  test('of a price per call are the one of a call', () =>
    expect(unitPricesOf({ per: 'call', price: '0.02', quotaPerUnit: '500000', group: '0.5' })).toEqual({
      call: '5000',
    }));

  test('equal those of every calculation, with any usage', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...tokenQuantities), fc.nat(1_000_000)), (used) => {
        const shown = unitPricesOf(price);
        for (const { quantity, unitPrice } of billingOf(used, price).lines) {
          const name = tokenQuantities.find((one) => one === quantity);
          if (name === undefined) throw new Error(`${quantity} is no kind of token`);
          expect(shown[name] ?? shown[isOutput(name) ? 'output' : 'input']).toBe(unitPrice);
        }
      }),
    ));
});
