import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  add,
  ceiling,
  type Decimal,
  decimal,
  decimalOf,
  decimalText,
  integer,
  isDecimal,
  isNegative,
  isZero,
  larger,
  ratioOf,
  roundHalfAway,
  times,
} from '../../../src/domain/kernel/decimal.js';
import { Failure } from '../../../src/domain/kernel/failure.js';

/** The same number as a fraction of two integers, which needs no rounding anywhere: what decimals are checked against. */
interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const fraction = ({ digits, scale }: Decimal): Fraction => ({ over: digits, under: 10n ** BigInt(scale) });
const same = (a: Fraction, b: Fraction): boolean => a.over * b.under === b.over * a.under;
const compare = (a: Fraction, b: Fraction): bigint => a.over * b.under - b.over * a.under;
const whole = (value: number): Fraction => ({ over: BigInt(value), under: 1n });
const minus = (a: Fraction, b: Fraction): Fraction => ({
  over: a.over * b.under - b.over * a.under,
  under: a.under * b.under,
});
const magnitudeOf = (value: bigint): bigint => (value < 0n ? -value : value);
const magnitude = ({ over, under }: Fraction): Fraction => ({ over: magnitudeOf(over), under });
const half: Fraction = { over: 1n, under: 2n };

/** Decimal text as an operator may write it. */
const written = fc
  .tuple(
    fc.constantFrom('', '+', '-'),
    fc.stringMatching(/^\d{1,12}$/),
    fc.option(fc.stringMatching(/^\d{1,12}$/), { nil: null }),
    fc.option(fc.integer({ min: -12, max: 6 }), { nil: null }),
  )
  .map(
    ([sign, digits, places, exponent]) =>
      `${sign}${digits}${places === null ? '' : `.${places}`}${exponent === null ? '' : `e${exponent}`}`,
  );
const decimals = written.map(decimal);
/** Those whose nearest integer is a safe one. */
const countable = decimals.filter(({ digits, scale }) => magnitudeOf(digits) < 10n ** BigInt(scale + 15));

/** Reads the text by its own, slower way: digits over a power of ten. */
const readByHand = (text: string): Fraction => {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [digits = '', places = ''] = mantissa.split('.');
  const over = BigInt(digits.replace('+', '') + places);
  const power = Number(exponent) - places.length;
  return power >= 0 ? { over: over * 10n ** BigInt(power), under: 1n } : { over, under: 10n ** BigInt(-power) };
};

describe('decimal text is parsed into digits and scale', () => {
  test.each([
    ['1.25', 125n, 2],
    ['-3', -3n, 0],
    ['+0.10', 10n, 2],
    ['2.5e-7', 25n, 8],
    ['2.5E3', 2500n, 0],
    ['1e+21', 10n ** 21n, 0],
    [' 7.143 ', 7143n, 3],
    ['-0', 0n, 0],
  ])('%s', (text, digits, scale) => expect(decimal(text)).toStrictEqual({ digits, scale }));

  test.each(['', ' ', 'abc', '1,5', '.5', '5.', '1e', '1e1000', '0x10', 'Infinity', 'NaN', '1 2', '--1', '1_000'])(
    'refuses "%s"',
    (text) => {
      expect(isDecimal(text)).toBe(false);
      expect(() => decimal(text)).toThrow(Failure);
      expect(() => decimal(text)).toThrow(expect.objectContaining({ code: 'invalid-field' }));
    },
  );

  test('keeping every digit, whatever the sign, scale and exponent', () =>
    fc.assert(
      fc.property(written, (text) => isDecimal(text) && same(fraction(decimal(text)), readByHand(text))),
      { numRuns: 500 },
    ));

  test('taking a number by its shortest text: 0.1 is exactly 0.1, 1e-7 exactly 1e-7', () => {
    expect(decimalOf(0.1)).toStrictEqual({ digits: 1n, scale: 1 });
    expect(decimalOf(1e-7)).toStrictEqual({ digits: 1n, scale: 7 });
    expect(decimalOf(1e21)).toStrictEqual({ digits: 10n ** 21n, scale: 0 });
  });

  test('for every finite number', () =>
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (value) => Number(decimalText(decimalOf(value))) === (value === 0 ? 0 : value),
      ),
    ));
});

describe('decimal arithmetic is exact', () => {
  test('so that 0.1 + 0.2 = 0.3, and 1.1 × 1.1 = 1.21', () => {
    expect(decimalText(add(decimal('0.1'), decimal('0.2')))).toBe('0.3');
    expect(decimalText(times(decimal('1.1'), decimal('1.1')))).toBe('1.21');
  });
  test('for a + b', () =>
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const [x, y] = [fraction(a), fraction(b)];
        return same(fraction(add(a, b)), { over: x.over * y.under + y.over * x.under, under: x.under * y.under });
      }),
    ));
  test('for a × b', () =>
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const [x, y] = [fraction(a), fraction(b)];
        return same(fraction(times(a, b)), { over: x.over * y.over, under: x.under * y.under });
      }),
    ));
  test('for the larger of two, whatever their scale', () => {
    expect(larger(decimal('2.5'), decimal('10'))).toStrictEqual(decimal('10'));
    expect(larger(decimal('-2.5'), decimal('-10'))).toStrictEqual(decimal('-2.5'));
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const found = fraction(larger(a, b));
        return compare(found, fraction(a)) >= 0n && compare(found, fraction(b)) >= 0n;
      }),
    );
  });
  test('for zero and the sign', () => {
    expect(isZero(decimal('0.000'))).toBe(true);
    expect(isZero(decimal('0.001'))).toBe(false);
    expect(isNegative(decimal('-0.001'))).toBe(true);
    expect(isNegative(decimal('-0'))).toBe(false);
    expect(isNegative(integer(1))).toBe(false);
  });
});

describe('rounding a decimal', () => {
  test.each([
    ['0.5', 1],
    ['-0.5', -1],
    ['1.5', 2],
    ['2.5', 3],
    ['-2.5', -3],
    ['0.49999999999999999999', 0],
    ['-0.49999999999999999999', 0],
    ['2.4', 2],
    ['-2.6', -3],
    ['1600.0', 1600],
    ['1.005e2', 101],
  ])('rounds half a unit away from zero: %s → %d', (text, expected) =>
    expect(roundHalfAway(decimal(text)) === expected).toBe(true),
  );

  test('finds the nearest integer; of two equally near, the one away from zero', () =>
    fc.assert(
      fc.property(countable, (value) => {
        const rounded = whole(roundHalfAway(value));
        const distance = magnitude(minus(rounded, fraction(value)));
        const side = compare(distance, half);
        return side < 0n || (side === 0n && compare(magnitude(rounded), magnitude(fraction(value))) > 0n);
      }),
      { numRuns: 1_000 },
    ));

  test('is the same in every notation of the number', () =>
    fc.assert(
      fc.property(
        decimals,
        fc.integer({ min: 1, max: 20 }),
        ({ digits, scale }, more) =>
          roundHalfAway({ digits: digits * 10n ** BigInt(more), scale: scale + more }) ===
          roundHalfAway({ digits, scale }),
      ),
    ));

  test('does not lose a unit where floating point does', () =>
    expect(roundHalfAway(decimal('9007199254740990.5'))).toBe(9_007_199_254_740_991));
});

describe('the ceiling of a decimal', () => {
  test.each([
    ['1.000000000001', 2],
    ['1', 1],
    ['0', 0],
    ['-1.5', -1],
    ['-0.5', 0],
  ])('of %s is %d', (text, expected) => expect(ceiling(decimal(text)) === expected).toBe(true));

  test('is the smallest integer not below the number', () =>
    fc.assert(
      fc.property(countable, (value) => {
        const above = whole(ceiling(value));
        const gap = minus(above, fraction(value));
        return gap.over >= 0n && compare(gap, whole(1)) < 0n;
      }),
    ));
});

describe('the plain text of a decimal', () => {
  test.each([
    ['1.250', '1.25'],
    ['37.5', '37.5'],
    ['2.000', '2'],
    ['-0.05', '-0.05'],
    ['0.000', '0'],
    ['1e-7', '0.0000001'],
    ['100', '100'],
  ])('of %s is %s', (text, expected) => expect(decimalText(decimal(text))).toBe(expected));

  test('reads back as the same number', () =>
    fc.assert(fc.property(decimals, (value) => same(fraction(decimal(decimalText(value))), fraction(value)))));
});

describe('a ratio of two prices', () => {
  test.each([
    ['10', '2.5', '4'],
    ['0.25', '2.5', '0.1'],
    ['3', '2', '1.5'],
    ['1', '3', '0.333333333333'],
    ['2', '3', '0.666666666667'],
    ['0', '3', '0'],
    ['1', '0.15', '6.666666666667'],
  ])('is exact: %s / %s = %s', (a, b, expected) => expect(decimalText(ratioOf(decimal(a), decimal(b)))).toBe(expected));

  test('is rounded to twelve decimal places', () =>
    fc.assert(
      fc.property(
        decimals,
        decimals.filter((value) => value.digits > 0n),
        (a, b) => {
          const [x, y] = [fraction(a), fraction(b)];
          const exact = { over: x.over * y.under, under: x.under * y.over };
          const distance = magnitude(minus(fraction(ratioOf(a, b)), exact));
          return compare(distance, { over: 1n, under: 2n * 10n ** 12n }) <= 0n;
        },
      ),
    ));
});

test('an integer is a decimal without places', () => {
  expect(integer(5)).toStrictEqual({ digits: 5n, scale: 0 });
  expect(integer(5n)).toStrictEqual({ digits: 5n, scale: 0 });
  expect(() => integer(1.5)).toThrow(RangeError);
});
