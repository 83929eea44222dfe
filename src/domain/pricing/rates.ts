import type { Usage } from '../call/usage.js';
import { add, type Decimal, decimal, isNegative, isZero, larger, negative, times, ZERO } from '../kernel/decimal.js';
import type { CallPrice, Price, TokenPrice } from './pricing.js';
import {
  boundOf,
  inputQuantities,
  isOutput,
  isTokens,
  isToolCalls,
  isVideoSeconds,
  outputQuantities,
  type PieceQuantity,
  type Quantity,
  type TokenQuantity,
  tokenQuantities,
} from './quantities.js';

/*
 * What one of a quantity costs, in quota: the factors of a price are multiplied here and nowhere else. A price that
 * depends on more, as on how long the prompt is, has its ratios chosen here; a factor for the whole goes into
 * `multiplierOf`.
 */

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

type Multipliers = Pick<Price, 'group' | 'service'>;

/** What every rate of a price is multiplied by. */
const multiplierOf = ({ group, service }: Multipliers): Decimal =>
  service === undefined ? factor(group) : times(factor(group), factor(service.factor));

/** Of what is priced in USD. */
const fromDollars = (dollars: string, quotaPerUnit: string, price: Multipliers): Decimal =>
  times(times(factor(dollars), factor(quotaPerUnit)), multiplierOf(price));

/** The call as such. */
export const callRate = (price: CallPrice): Decimal => fromDollars(price.price, price.quotaPerUnit, price);

/** An input token. */
export const unitOf = (price: TokenPrice): Decimal => times(factor(price.model), multiplierOf(price));

/** What a token of this kind costs relative to an input token. */
export const quantityRatio = ({ ratios }: TokenPrice, name: TokenQuantity): string =>
  ratios[name] ?? (isOutput(name) ? (ratios.output ?? '1') : (ratios.input ?? '1'));

/** USD of one; undefined: it has no price. */
const dollarsOf = ({ pieces }: Price, name: PieceQuantity): string | undefined =>
  pieces?.dollars[name] ?? (isVideoSeconds(name) ? pieces?.dollars.video : undefined);

function pieceRate(price: Price, name: PieceQuantity): Decimal {
  const { pieces } = price;
  const dollars = dollarsOf(price, name);
  if (pieces === undefined || dollars === undefined) return ZERO;
  // Calls of tools cost the same at every tier.
  return fromDollars(dollars, pieces.quotaPerUnit, isToolCalls(name) ? { group: price.group } : price);
}

/** A piece of this kind has a price. */
export const isSoldBy = (price: Price, name: PieceQuantity): boolean => dollarsOf(price, name) !== undefined;

/** Plain input costs nothing. */
export const isInputFree = (price: TokenPrice): boolean =>
  isZero(unitOf(price)) || isZero(factor(quantityRatio(price, 'input')));

/** Input that is found in a cache costs less than input that is not; a call with a price of its own costs what it did. */
export function isCheaperCached(price: Price): boolean {
  if (price.per === 'call') return true;
  const [input, cached] = [factor(quantityRatio(price, 'input')), factor(quantityRatio(price, 'cachedInput'))];
  return isNegative(add(cached, negative(input)));
}

/** `unit`: of an input token; null: the call as such has its price, and tokens have none. */
export function rateOf(price: Price, name: Quantity, unit: Decimal | null): Decimal {
  if (!isTokens(name)) return pieceRate(price, name);
  return unit === null || price.per === 'call' ? ZERO : times(factor(quantityRatio(price, name)), unit);
}

/** What a token may turn out to be, whatever was known of the call. */
const mayTurnOut = (names: readonly TokenQuantity[]): readonly TokenQuantity[] =>
  names.filter((name) => boundOf(name) === null);
const inputKinds = mayTurnOut(inputQuantities);
const outputKinds = mayTurnOut(outputQuantities);

/** All tokens of a direction may be of these, where a call names them. */
const wholeKinds = tokenQuantities.filter((name) => boundOf(name) === 'whole');

/** The most that what is reserved under this name can turn out to cost. */
export function maxRateOf(price: Price, name: Quantity, unit: Decimal | null): Decimal {
  if (!isTokens(name) || unit === null || price.per === 'call') return rateOf(price, name, unit);
  let max = factor(quantityRatio(price, name));
  for (const kind of isOutput(name) ? outputKinds : inputKinds) max = larger(max, factor(quantityRatio(price, kind)));
  return times(max, unit);
}

/**
 * The most that all tokens of its direction may turn out to cost, of which this is a part. `max` names the kinds that
 * they may be of: with 0, where all its tokens stand under other names.
 */
export function maxRateOfWhole(price: Price, part: Quantity, unit: Decimal | null, max: Usage): Decimal {
  let maxRate = ZERO;
  for (const name of wholeKinds)
    if (max[name] !== undefined && isOutput(name) === isOutput(part))
      maxRate = larger(maxRate, rateOf(price, name, unit));
  return maxRate;
}
