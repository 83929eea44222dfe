import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { topUpOffer } from '../../../src/domain/payment/top-up-price.js';
import { topUpPrices } from '../../support/given/top-up-prices.js';

const offer = (amount: number, change: Parameters<typeof topUpPrices>[0] = {}, min = 1, minCents = 1) =>
  topUpOffer(amount, min, topUpPrices(change), minCents);

const refusal = (sell: () => unknown) => {
  try {
    sell();
    return null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { code: error.code, ...error.details };
  }
};

describe('a top-up costs its quota by ratio and group', () => {
  test.each([
    ['ten dollars', 10, {}, '73.00', 5_000_000],
    ['one dollar for a group that pays less', 1, { groupRatio: '0.8' }, '5.84', 500_000],
    ['a price that does not end in cents, half away from zero', 1, { price: '0.125' }, '0.13', 500_000],
    ['a price no binary fraction can tell', 3, { price: '1.005' }, '3.02', 1_500_000],
    ['quota itself', 750_000, { inCurrency: false }, '10.95', 750_000],
    ['dollars that are no whole number of quota', 1, { quotaPerUnit: '1234.5' }, '7.30', 1235],
  ] as const)('%s', (_, amount, change, money, quota) => {
    expect(offer(amount, change)).toEqual({ money, quota });
  });

  test('and has a minimum for one purchase, displayed in the unit of amounts', () => {
    expect(refusal(() => offer(4, {}, 5))).toMatchObject({ code: 'top-up-too-small', min: 5 });
    expect(refusal(() => offer(2_499_999, { inCurrency: false }, 5))).toMatchObject({ min: 2_500_000 });
    expect(refusal(() => offer(0, {}, 0))).toMatchObject({ code: 'top-up-too-small', min: 1 });
    expect(offer(2_500_000, { inCurrency: false }, 5).money).toBe('36.50');
  });

  test('and is never free', () => {
    expect(refusal(() => offer(1, { price: '0' }))).toMatchObject({ code: 'top-up-too-cheap' });
    expect(refusal(() => offer(1, { price: '0.004' }))).toMatchObject({ code: 'top-up-too-cheap' });
    expect(refusal(() => offer(1, { price: '0.01' }, 1, 2))).toMatchObject({ code: 'top-up-too-cheap' });
    expect(refusal(() => offer(1, { quotaPerUnit: '0.000001' }))).toMatchObject({ code: 'top-up-too-cheap' });
  });

  test.each([1.5, Number.NaN, 2 ** 53, 1e12, 999_999_999])('and refuses %s with the name of the field', (amount) => {
    expect(refusal(() => offer(amount))).toMatchObject({ field: 'amount' });
  });

  test('with exact arithmetic, to half a cent, and more for more', () => {
    const price = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), price, price, (amount, perMille, ratioPerMille) => {
        const change = { price: String(perMille / 1000), groupRatio: String(ratioPerMille / 1000) };
        const exact = BigInt(amount) * BigInt(perMille) * BigInt(ratioPerMille) * 2n;
        fc.pre(exact >= 10_000n && exact / 20_000n < 99_999_999n);
        const cents = (sold: { money: string }) => BigInt(sold.money.replace('.', ''));
        const error = cents(offer(amount, change)) * 20_000n - exact;
        expect(error >= -10_000n && error <= 10_000n).toBe(true);
        if (exact / 10_000n < 49_000_000n)
          expect(cents(offer(2 * amount, change)) >= cents(offer(amount, change))).toBe(true);
      }),
    );
  });
});
