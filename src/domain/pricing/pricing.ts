import { type Usage, usedAnything } from '../call/usage.js';
import {
  add,
  ceiling,
  type Decimal,
  integer,
  isNegative,
  isZero,
  larger,
  negative,
  roundHalfAway,
  times,
  wholeTimes,
  ZERO,
} from '../kernel/decimal.js';
import { Quota, zero } from '../kernel/quota.js';
import { type ContextTier, priceAtLength, pricesUpToLength } from './context-tiers.js';
import { isPart, type PieceQuantity, type Quantity, type TokenQuantity } from './quantities.js';
import { callRate, isInputFree, maxRateOf, maxRateOfWhole, rateOf, unitOf } from './rates.js';
import { atHighestTier, type ServiceTerms } from './service-tiers.js';

/* What a call costs. Pure, exact, rounded once; every factor travels with the event, so a charge can be recomputed. */

/** Decimal texts by quantity. */
export type PriceRates<Name extends Quantity> = Readonly<Partial<Record<Name, string>>>;

/** What is sold by the piece, at a price of its own whatever the model costs. */
interface PiecePrices {
  /** USD of one. A piece without a price is free. */
  readonly dollars: PriceRates<PieceQuantity>;
  readonly quotaPerUnit: string;
  /** What was ordered, where that is what the price of a picture is for. */
  readonly picture?: { readonly size: string; readonly quality: string };
}

/** Of any price. */
interface PriceTerms {
  readonly pieces?: PiecePrices;
  /** What the whole is multiplied by for the group. */
  readonly group: string;
  /** Left out: the call is served at the usual tier. */
  readonly service?: ServiceTerms;
  /** The model whose price it is, where the called one had none of its own. */
  readonly like?: string;
}

export interface TokenPrice extends PriceTerms {
  readonly per: 'token';
  /** Ratio 1 = 2 USD per million input tokens. */
  readonly model: string;
  /**
   * Each kind of token relative to an input token. A kind that is not named costs what the plain tokens of its direction
   * do: 1 for input, the ratio of `output` for output.
   */
  readonly ratios: PriceRates<TokenQuantity>;
  /** By ascending length. Left out: the price is the same at every length. */
  readonly tiers?: readonly ContextTier[];
}

export interface CallPrice extends PriceTerms {
  readonly per: 'call';
  /** USD. */
  readonly price: string;
  readonly quotaPerUnit: string;
}

/** Every factor of a charge as decimal text, as events in the log hold it. */
export type Price = TokenPrice | CallPrice;

/**
 * No call costs more, whatever its price and its usage say: 2 million USD at the usual unit. Beyond it a figure is
 * somebody's slip, and sums of such figures would leave the range of exact integers.
 */
export const maxCallPrice = Quota(1_000_000_000_000);

/** No charge is a credit, whatever factors somebody managed to record. */
const bounded = (amount: number): Quota => Quota(Math.max(0, Math.min(amount, maxCallPrice)));

/** A count as it can be multiplied: what is no whole number, or has no end, must not keep a call from being charged. */
export const exactCount = (count: number): Decimal =>
  integer(Math.min(Math.trunc(count) || 0, Number.MAX_SAFE_INTEGER));

/** Quota of an input token; null: the call as such has its price. */
export const tokenUnit = (price: Price): Decimal | null => (price.per === 'token' ? unitOf(price) : null);

/** What a call costs before rounding: its own price, if it has one, and the sum over all that was used. */
export function exactCharge(usage: Usage, price: Price, unit: Decimal | null): Decimal {
  const inForce = price.per === 'call' ? price : priceAtLength(price, usage);
  let sum = inForce.per === 'call' ? callRate(inForce) : ZERO;
  for (const name in usage) {
    const count = usage[name as Quantity];
    if (count !== undefined && count > 0)
      sum = add(sum, times(exactCount(count), rateOf(inForce, name as Quantity, unit)));
  }
  return sum;
}

/** At least 1 where something was used that is not free; a call with a price of its own costs just that. */
function charged(amount: number, price: Price, exact: Decimal): Quota {
  if (price.per === 'call') return bounded(amount);
  return bounded(isZero(exact) && isInputFree(price) ? 0 : Math.max(amount, 1));
}

/**
 * The charge for a call that was served (contract: text charge). At least 1 where the price is not free, 0 where
 * nothing was used; a price per call is due whatever was.
 */
export function chargeOf(usage: Usage, price: Price): Quota {
  const unit = tokenUnit(price);
  if (unit !== null && !usedAnything(usage)) return zero;
  const exact = exactCharge(usage, price, unit);
  return charged(roundHalfAway(exact), price, exact);
}

/**
 * What to reserve for a call that uses no more than this: an upper bound of `chargeOf`, whatever kinds the tokens turn
 * out to be of and whichever of its tiers it is served at. Only kinds with a bound of their own must be distinguished:
 * those may be other tokens, but not the reverse. Rounded up; at least 1 where the price is not free.
 */
export function reservationOf(max: Usage, price: Price): Quota {
  const highest = atHighestTier(price);
  const unit = tokenUnit(highest);
  const exact = maxCharge(max, highest, unit);
  return charged(ceiling(exact), highest, exact);
}

/** What was asked of `maxRateOf` before: prices are objects that stay, two questions a call or more. */
const maxRates = new WeakMap<Price, Partial<Record<Quantity, Decimal>>>();

/** A call may turn out shorter than it is reserved for, so every tier up to its length counts. */
function maxCharge(max: Usage, price: Price, unit: Decimal | null): Decimal {
  if (price.per === 'call' || price.tiers === undefined) return maxChargeBy(price, max, unit);
  return pricesUpToLength(price, max)
    .map((one) => maxChargeBy(one, max, unit))
    .reduce(larger);
}

function maxChargeBy(price: Price, max: Usage, unit: Decimal | null): Decimal {
  let rates = maxRates.get(price);
  if (rates === undefined) {
    rates = {};
    maxRates.set(price, rates);
  }
  let sum = price.per === 'call' ? callRate(price) : ZERO;
  for (const name in max) {
    const count = max[name as Quantity];
    if (count === undefined || count <= 0) continue;
    const rate = rates[name as Quantity] ?? maxRateOf(price, name as Quantity, unit);
    rates[name as Quantity] = rate;
    const maxRate = isPart(name as Quantity) ? larger(rate, maxRateOfWhole(price, name as Quantity, unit, max)) : rate;
    sum = add(sum, times(exactCount(count), maxRate));
  }
  return sum;
}

/**
 * The most output of this kind for which `reservationOf` beside this input stays within `quota`; Infinity where output
 * costs next to nothing.
 */
export function affordableOutput(quota: Quota, input: Usage, price: Price, kind: TokenQuantity = 'output'): number {
  const highest = atHighestTier(price);
  if (highest.per === 'call') return Number.POSITIVE_INFINITY;
  const limits = pricesUpToLength(highest, input).map((one) => affordableBy(one, quota, input, kind));
  return Math.min(...limits);
}

function affordableBy(price: TokenPrice, quota: Quota, input: Usage, kind: TokenQuantity): number {
  const unit = unitOf(price);
  const perToken = maxRateOf(price, kind, unit);
  if (isZero(perToken) || isNegative(perToken)) return Number.POSITIVE_INFINITY;
  const left = add(integer(quota), negative(maxChargeBy(price, input, unit)));
  if (isNegative(left)) return 0;
  const output = wholeTimes(left, perToken);
  return output < Number.MAX_SAFE_INTEGER ? output : Number.POSITIVE_INFINITY;
}
