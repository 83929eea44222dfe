import {
  isOutput,
  isTokens,
  type PieceQuantity,
  type Quantity,
  type TokenQuantity,
  type Usage,
  usedAnything,
} from '../call/usage.js';
import {
  add,
  ceiling,
  type Decimal,
  decimal,
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

/* What a call costs. Pure, exact, rounded once; every factor travels with the event, so a charge can be recomputed. */

/** Decimal texts by quantity. */
export type Rates<Name extends Quantity> = Readonly<Partial<Record<Name, string>>>;

/** What is sold by the piece, at a price of its own whatever the model costs. */
interface PiecePrices {
  /** USD of one. A piece without a price is free. */
  readonly dollars: Rates<PieceQuantity>;
  readonly quotaPerUnit: string;
}

/** Every factor of a charge as decimal text. */
export type Price =
  | {
      readonly per: 'token';
      /** Ratio 1 = 2 USD per million input tokens. */
      readonly model: string;
      /**
       * Each kind of token relative to an input token. A kind that is not named costs what the plain tokens of its side
       * do: 1 for input, the ratio of `output` for output.
       */
      readonly ratios: Rates<TokenQuantity>;
      readonly pieces?: PiecePrices;
      readonly group: string;
    }
  | {
      readonly per: 'call';
      /** USD. */
      readonly price: string;
      readonly quotaPerUnit: string;
      readonly pieces?: PiecePrices;
      readonly group: string;
    };

export type TokenPrice = Extract<Price, { per: 'token' }>;
export type CallPrice = Extract<Price, { per: 'call' }>;

const factors = new Map<string, Decimal>();

/** Parsed factors are few and repeat on every call; the cache is emptied rather than allowed to grow. */
const factor = (text: string): Decimal => {
  const known = factors.get(text);
  if (known !== undefined) return known;
  if (factors.size > 10_000) factors.clear();
  const parsed = decimal(text);
  factors.set(text, parsed);
  return parsed;
};

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

/** The quota that one call costs. */
export const perCall = (price: CallPrice): Decimal =>
  times(times(factor(price.price), factor(price.quotaPerUnit)), factor(price.group));

/** What a token of this kind costs relative to an input token. */
export const quantityRatio = ({ ratios }: TokenPrice, name: TokenQuantity): string =>
  ratios[name] ?? (isOutput(name) ? (ratios.output ?? '1') : '1');

/** The quota that one of these costs, all factors applied. `unit`: the quota of an input token. */
export function rateOf(price: TokenPrice, name: Quantity, unit: Decimal): Decimal {
  return isTokens(name) ? times(factor(quantityRatio(price, name)), unit) : pieceRateOf(price, name);
}

/** The quota that one piece costs. */
export function pieceRateOf({ pieces, group }: Pick<Price, 'pieces' | 'group'>, name: PieceQuantity): Decimal {
  const dollars = pieces?.dollars[name];
  if (pieces === undefined || dollars === undefined) return ZERO;
  return times(times(factor(dollars), factor(pieces.quotaPerUnit)), factor(group));
}

/** The quota that an input token costs. */
export const unitOf = ({ model, group }: TokenPrice): Decimal => times(factor(model), factor(group));

/** The sum over all that was used, before rounding. */
function exactCharge(usage: Usage, price: TokenPrice, unit: Decimal): Decimal {
  let sum = ZERO;
  for (const name in usage) {
    const count = usage[name as Quantity];
    if (count !== undefined && count > 0)
      sum = add(sum, times(exactCount(count), rateOf(price, name as Quantity, unit)));
  }
  return sum;
}

/** What a call with a price of its own comes to, and the pieces beside it. */
function exactCall(usage: Usage, price: CallPrice): Decimal {
  let sum = perCall(price);
  if (price.pieces === undefined) return sum;
  for (const name in usage) {
    const count = usage[name as Quantity];
    if (count !== undefined && count > 0 && !isTokens(name as Quantity))
      sum = add(sum, times(exactCount(count), pieceRateOf(price, name as PieceQuantity)));
  }
  return sum;
}

/** At least 1 where something was used that is not free. */
const atLeastOne = (amount: number, unit: Decimal, exact: Decimal): number =>
  isZero(unit) && isZero(exact) ? 0 : Math.max(amount, 1);

/**
 * The charge for a call that was served (contract: text charge). At least 1 where the price is not free, 0 where
 * nothing was used; a price per call is due whatever was.
 */
export function chargeOf(usage: Usage, price: Price): Quota {
  switch (price.per) {
    case 'call':
      return bounded(roundHalfAway(exactCall(usage, price)));
    case 'token': {
      if (!usedAnything(usage)) return zero;
      const unit = unitOf(price);
      const exact = exactCharge(usage, price, unit);
      return bounded(atLeastOne(roundHalfAway(exact), unit, exact));
    }
  }
}

/** What a token of either side may turn out to be. What is known of a call before is apart: sound, and keeping for an hour. */
const inputKinds = ['cachedInput', 'cacheWrite', 'imageInput'] as const;
const outputKinds = ['reasoning', 'imageOutput'] as const;

/** The dearest that what is held under this name can turn out to be. */
function maxRateOf(price: TokenPrice, name: Quantity, unit: Decimal): Decimal {
  if (!isTokens(name)) return rateOf(price, name, unit);
  const output = isOutput(name);
  let dearest = factor(quantityRatio(price, output ? 'output' : 'input'));
  for (const kind of output ? outputKinds : inputKinds) dearest = larger(dearest, factor(quantityRatio(price, kind)));
  return times(larger(dearest, factor(quantityRatio(price, name))), unit);
}

/**
 * What to hold for a call that uses no more than this: an upper bound of `chargeOf`, whatever kinds the tokens turn out
 * to be of. Only sound and what is kept for an hour must be told apart: those may be other tokens, but not the reverse.
 * Rounded up; at least 1 where the price is not free.
 */
export function reservationOf(most: Usage, price: Price): Quota {
  switch (price.per) {
    case 'call':
      return bounded(ceiling(exactCall(most, price)));
    case 'token': {
      const unit = unitOf(price);
      const exact = heldFor(most, price, unit);
      return bounded(atLeastOne(ceiling(exact), unit, exact));
    }
  }
}

/** What was asked of `maxRateOf` before: prices are objects that stay, two questions a call or more. */
const maxRates = new WeakMap<TokenPrice, Partial<Record<Quantity, Decimal>>>();

function heldFor(most: Usage, price: TokenPrice, unit: Decimal): Decimal {
  let rates = maxRates.get(price);
  if (rates === undefined) {
    rates = {};
    maxRates.set(price, rates);
  }
  let sum = ZERO;
  for (const name in most) {
    const count = most[name as Quantity];
    if (count === undefined || count <= 0) continue;
    const rate = rates[name as Quantity] ?? maxRateOf(price, name as Quantity, unit);
    rates[name as Quantity] = rate;
    sum = add(sum, times(exactCount(count), rate));
  }
  return sum;
}

/**
 * The most output of this kind for which `reservationOf` beside this input stays within `quota`; Infinity where output
 * costs next to nothing.
 */
export function affordableOutput(
  quota: Quota,
  input: Usage,
  price: Price,
  kind: 'output' | 'audioOutput' = 'output',
): number {
  if (price.per === 'call') return Number.POSITIVE_INFINITY;
  const unit = unitOf(price);
  const perToken = maxRateOf(price, kind, unit);
  if (isZero(perToken) || isNegative(perToken)) return Number.POSITIVE_INFINITY;
  const left = add(integer(quota), negative(heldFor(input, price, unit)));
  if (isNegative(left)) return 0;
  const output = wholeTimes(left, perToken);
  return output < Number.MAX_SAFE_INTEGER ? output : Number.POSITIVE_INFINITY;
}
