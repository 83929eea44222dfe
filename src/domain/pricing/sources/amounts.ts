import { type Decimal, decimal, decimalOf, isDecimal, quotient, times, ZERO } from '../../kernel/decimal.js';
import { UnusableEntry } from './published-price.js';

/* Figures of price lists, within bounds that no real price reaches. */

/** USD of a million tokens, or of one piece. Beyond it a figure is a slip, or bait. */
const maxDollars = 100_000;
const fractionDigits = 12;
/** Digits of a binary fraction that somebody meant: 1.0000000000000001e-6 is 1e-6. */
const meantDigits = 12;
const maxTextLength = 40;

const maxAmount = decimalOf(maxDollars);
const one = decimal('1');

export const perMillion = decimal('1000000');
export const ofThousand = decimal('0.001');

const exceeds = (value: Decimal, bound: Decimal): boolean => {
  const scale = Math.max(value.scale, bound.scale);
  return value.digits * 10n ** BigInt(scale - value.scale) > bound.digits * 10n ** BigInt(scale - bound.scale);
};

function figure(member: string, value: unknown): Decimal {
  if (typeof value === 'number' && Number.isFinite(value)) return decimalOf(Number(value.toPrecision(meantDigits)));
  if (typeof value === 'string' && value.length <= maxTextLength && isDecimal(value)) return decimal(value);
  throw new UnusableEntry('not-a-number', member);
}

/**
 * What the member says times `unit`, exact to 12 digits; zero where it says 0. null: the member is not there. Throws
 * UnusableEntry for what is no number, below 0, absurdly large, or not 0 and yet too small to be kept.
 */
export function listedAmount(
  entry: Readonly<Record<string, unknown>>,
  member: string,
  unit: Decimal = one,
): Decimal | null {
  const value = Object.hasOwn(entry, member) ? entry[member] : undefined;
  if (value === undefined || value === null) return null;
  const stated = figure(member, value);
  if (stated.digits < 0n) throw new UnusableEntry('negative', member);
  if (stated.digits === 0n) return ZERO;
  const amount = times(stated, unit);
  if (exceeds(amount, maxAmount)) throw new UnusableEntry('too-large', member);
  const kept = amount.scale <= fractionDigits ? amount : quotient(amount, one, fractionDigits);
  if (kept.digits === 0n) throw new UnusableEntry('too-small', member);
  return kept;
}

/** The same, above 0; null where it is not there or 0. */
export function positiveIn(
  entry: Readonly<Record<string, unknown>>,
  member: string,
  unit: Decimal = one,
): Decimal | null {
  const amount = listedAmount(entry, member, unit);
  return amount === null || amount.digits === 0n ? null : amount;
}
