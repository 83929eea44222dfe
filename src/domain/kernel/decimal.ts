import { invalidField } from './failure.js';

/**
 * An exact decimal: `digits × 10^-scale`. Ratios and prices are kept as decimal text and multiplied exactly;
 * the only rounding is `roundHalfAway`, called once per charge.
 */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

const pattern = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Whether `decimal` would read the text. */
export const isDecimal = (text: string): boolean => pattern.test(text.trim());

/** Reads decimal text such as `1.25`, `-3` or `2.5e-7`. Throws `invalid-field` for anything else. */
export function decimal(text: string): Decimal {
  const match = pattern.exec(text.trim());
  if (!match) throw invalidField('ratio', 'a decimal number');
  const [, sign, whole, fraction = '', exponent = '0'] = match;
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** A number at its shortest decimal text, so 0.1 is exactly 0.1. */
export const decimalOf = (value: number): Decimal => decimal(String(value));
export const integer = (value: number | bigint): Decimal => ({ digits: BigInt(value), scale: 0 });
export const ZERO = integer(0);

export const times = (a: Decimal, b: Decimal): Decimal => ({ digits: a.digits * b.digits, scale: a.scale + b.scale });

const powersOfTen = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent));
const powerOfTen = (exponent: number): bigint => powersOfTen[exponent] ?? 10n ** BigInt(exponent);

const digitsAt = ({ digits, scale: has }: Decimal, scale: number): bigint =>
  scale === has ? digits : digits * powerOfTen(scale - has);

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: digitsAt(a, scale) + digitsAt(b, scale), scale };
}

export const larger = (a: Decimal, b: Decimal): Decimal => {
  const scale = Math.max(a.scale, b.scale);
  return digitsAt(a, scale) > digitsAt(b, scale) ? a : b;
};

/** Nearest integer to a fraction whose denominator is positive, halves away from zero. */
function nearest(over: bigint, under: bigint): bigint {
  const magnitude = over < 0n ? -over : over;
  const rounded = (magnitude * 2n + under) / (under * 2n);
  return over < 0n ? -rounded : rounded;
}

/** `a / b` to so many places, `b` positive, halves away from zero: where a price in money has to end somewhere. */
export const quotient = (a: Decimal, b: Decimal, scale: number): Decimal => ({
  digits: nearest(a.digits * 10n ** BigInt(b.scale + scale), b.digits * 10n ** BigInt(a.scale)),
  scale,
});

/** The same to 12 places: for turning prices into ratios when tables are built, never inside a charge. */
export const ratioOf = (a: Decimal, b: Decimal): Decimal => quotient(a, b, 12);

/**
 * The same, rounded up, both positive: for prices that are known in money. A charge by it is what the money says, rounded:
 * an amount that ends in exactly one half is not lost below it.
 */
export function ratioAtLeast(a: Decimal, b: Decimal): Decimal {
  const scale = 12;
  const over = a.digits * powerOfTen(b.scale + scale);
  const under = b.digits * powerOfTen(a.scale);
  return { digits: (over + under - 1n) / under, scale };
}

export const isSame = (a: Decimal, b: Decimal): boolean => {
  const scale = Math.max(a.scale, b.scale);
  return digitsAt(a, scale) === digitsAt(b, scale);
};

export const isZero = (value: Decimal): boolean => value.digits === 0n;
export const isNegative = (value: Decimal): boolean => value.digits < 0n;

export const negative = (value: Decimal): Decimal => ({ digits: -value.digits, scale: value.scale });

/** How often `b` goes into `a`, neither of them negative and `b` not zero. */
export function wholeTimes(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  return Number(digitsAt(a, scale) / digitsAt(b, scale));
}

/** Nearest integer, halves away from zero: the one rounding of a charge. */
export const roundHalfAway = (value: Decimal): number => Number(nearest(value.digits, powerOfTen(value.scale)));

/** Smallest integer not below the value: reservations are upper bounds. */
export function ceiling(value: Decimal): number {
  const unit = powerOfTen(value.scale);
  const whole = value.digits / unit;
  return Number(value.digits % unit > 0n ? whole + 1n : whole);
}

/** Shortest plain text: `1.25`, `37.5`, `2`. */
export function decimalText(value: Decimal): string {
  const negative = value.digits < 0n;
  const digits = (negative ? -value.digits : value.digits).toString().padStart(value.scale + 1, '0');
  const whole = digits.slice(0, digits.length - value.scale);
  const fraction = digits.slice(digits.length - value.scale).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
