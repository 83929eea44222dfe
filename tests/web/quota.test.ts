import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { abbreviate } from '../../web/src/kit/figures.js';
import { formatQuota, parseQuota, quotaAsTyped } from '../../web/src/kit/quota.js';

const money = { quotaPerUnit: 500_000, inCurrency: true };
const units = { quotaPerUnit: 500_000, inCurrency: false };

describe('an abbreviated number', () => {
  test.each([
    [0, '0'],
    [9_999, '9,999'],
    [10_000, '10.0k'],
    [12_345, '12.3k'],
    [999_949, '999.9k'],
    [999_950, '1.0M'],
    [1_000_000, '1.0M'],
    [999_950_000, '1.0B'],
    [2_500_000_000, '2.5B'],
    [-12_345, '-12.3k'],
  ])('shows %d as %s', (value, text) => expect(abbreviate(value)).toBe(text));
});

describe('displayed quota', () => {
  test('is money, rounded to the cent', () => {
    expect(formatQuota(500_000, money)).toBe('$1.00');
    expect(formatQuota(617_283_945, money)).toBe('$1,234.57');
    expect(formatQuota(-250_000, money)).toBe('-$0.50');
    expect(formatQuota(0, money)).toBe('$0.00');
  });
  test('has as many decimals as requested', () => {
    expect(formatQuota(1_234, money, 6)).toBe('$0.002468');
    expect(formatQuota(500_000, money, 0)).toBe('$1');
  });
  test('never shows a positive amount as zero', () => {
    expect(formatQuota(10, money)).toBe('$0.000020');
    expect(formatQuota(1, { quotaPerUnit: 10_000_000, inCurrency: true })).toBe('<$0.000001');
    expect(formatQuota(-1, { quotaPerUnit: 10_000_000, inCurrency: true })).toBe('-<$0.000001');
  });
  test('is abbreviated in units', () => {
    expect(formatQuota(500_000, units)).toBe('500.0k');
    expect(formatQuota(77, units)).toBe('77');
  });
});

describe('typed quota', () => {
  test('in dollars is converted to integer quota', () => {
    expect(parseQuota('1', money)).toBe(500_000);
    expect(parseQuota(' 1,000.5 ', money)).toBe(500_250_000);
    expect(parseQuota('.5', money)).toBe(250_000);
    expect(parseQuota('-2', money)).toBe(-1_000_000);
  });
  test('in units is an integer', () => {
    expect(parseQuota('500000', units)).toBe(500_000);
    expect(parseQuota('1.5', units)).toBeUndefined();
  });
  test('that is empty is no amount', () => expect(parseQuota('  ', money)).toBeNull());
  test.each(['abc', '1e9', '1.2.3', '-', '$1', 'Infinity', '0x10'])('such as %s is refused', (text) => {
    expect(parseQuota(text, money)).toBeUndefined();
    expect(parseQuota(text, units)).toBeUndefined();
  });
  test('beyond the safe integers is refused', () => {
    expect(parseQuota('9007199254740991', units)).toBe(9_007_199_254_740_991);
    expect(parseQuota('9007199254740992', units)).toBeUndefined();
    expect(parseQuota('99999999999999', money)).toBeUndefined();
  });
  test('is the same after being shown in the field', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }),
        fc.boolean(),
        (quota, inCurrency) => {
          const shown = { quotaPerUnit: 500_000, inCurrency };
          expect(parseQuota(quotaAsTyped(quota, shown), shown)).toBe(quota);
        },
      ),
    );
  });
});
