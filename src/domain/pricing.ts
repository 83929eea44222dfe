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
  ONE,
  roundHalfAway,
  sum,
  times,
  wholeTimes,
} from './decimal.js';
import { Quota, zero } from './quota.js';

/* What a call costs. Pure, exact, rounded once; every factor travels with the event, so a charge can be recomputed. */

/**
 * Tokens of one call. `prompt` is all input and includes `cached`, `cacheWrite` and `image`; `completion` is all output
 * and includes `reasoning`.
 */
export interface Usage {
  readonly prompt: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly image: number;
  readonly completion: number;
  readonly reasoning: number;
}

export const noUsage: Usage = { prompt: 0, cached: 0, cacheWrite: 0, image: 0, completion: 0, reasoning: 0 };

/** Every factor of a charge as decimal text. Ratio 1 = 2 USD per million input tokens. */
export type Price =
  | {
      readonly per: 'token';
      readonly model: string;
      readonly completion: string;
      readonly cache: string;
      readonly cacheWrite: string;
      readonly image: string;
      readonly reasoning: string;
      readonly group: string;
    }
  | {
      readonly per: 'call';
      /** USD. */
      readonly price: string;
      readonly quotaPerUnit: string;
      readonly group: string;
    };

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
export const dearestCall = Quota(1_000_000_000_000);

const bounded = (amount: number): Quota => Quota(Math.min(amount, dearestCall));

const perCall = (price: Extract<Price, { per: 'call' }>): Decimal =>
  times(times(factor(price.price), factor(price.quotaPerUnit)), factor(price.group));

/**
 * The charge for a call that was served (contract: text charge). At least 1 where the price is not free, 0 where no
 * tokens were used; a price per call is due whatever was.
 */
export function chargeOf(usage: Usage, price: Price): Quota {
  switch (price.per) {
    case 'call':
      return bounded(roundHalfAway(perCall(price)));
    case 'token': {
      if (usage.prompt + usage.completion === 0) return zero;
      const unit = times(factor(price.model), factor(price.group));
      if (isZero(unit)) return zero;
      const plain = Math.max(usage.prompt - usage.cached - usage.cacheWrite - usage.image, 0);
      const spoken = Math.max(usage.completion - usage.reasoning, 0);
      const weighted = sum([
        integer(plain),
        times(integer(usage.cached), factor(price.cache)),
        times(integer(usage.cacheWrite), factor(price.cacheWrite)),
        times(integer(usage.image), factor(price.image)),
        times(integer(spoken), factor(price.completion)),
        times(integer(usage.reasoning), factor(price.reasoning)),
      ]);
      return bounded(Math.max(roundHalfAway(times(weighted, unit)), 1));
    }
  }
}

/** The dearest any input or output token can get under this price. */
const dearest = (price: Extract<Price, { per: 'token' }>): { input: Decimal; output: Decimal } => ({
  input: [price.cache, price.cacheWrite, price.image].map(factor).reduce(larger, ONE),
  output: larger(factor(price.completion), factor(price.reasoning)),
});

/**
 * What to hold for a call: an upper bound of `chargeOf` for up to `prompt` input and `output` output tokens.
 * Rounded up; at least 1 where the price is not free.
 */
export function reservationOf(prompt: number, output: number, price: Price): Quota {
  switch (price.per) {
    case 'call':
      return bounded(ceiling(perCall(price)));
    case 'token': {
      const unit = times(factor(price.model), factor(price.group));
      if (isZero(unit)) return zero;
      const bound = dearest(price);
      const weighted = add(times(integer(prompt), bound.input), times(integer(output), bound.output));
      return bounded(Math.max(ceiling(times(weighted, unit)), 1));
    }
  }
}

/**
 * The most output tokens for which `reservationOf` with this prompt stays within `quota`; Infinity where output costs
 * next to nothing.
 */
export function affordableOutput(quota: Quota, prompt: number, price: Price): number {
  if (price.per === 'call') return Number.POSITIVE_INFINITY;
  const unit = times(factor(price.model), factor(price.group));
  const bound = dearest(price);
  const perToken = times(bound.output, unit);
  if (isZero(perToken)) return Number.POSITIVE_INFINITY;
  const left = add(integer(quota), negative(times(times(integer(prompt), bound.input), unit)));
  if (isNegative(left)) return 0;
  const output = wholeTimes(left, perToken);
  return output < Number.MAX_SAFE_INTEGER ? output : Number.POSITIVE_INFINITY;
}
