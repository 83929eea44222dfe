import type { Usage } from '../call/usage.js';
import { type Decimal, decimalText, times } from '../kernel/decimal.js';
import type { Quota } from '../kernel/quota.js';
import { priceAtLength, pricesByTier } from './context-tiers.js';
import { chargeOf, exactCharge, exactCount, type Price, tokenUnit } from './pricing.js';
import { isTokens, type PieceQuantity, type Quantity, type TokenQuantity, tokenQuantities } from './quantities.js';
import { callRate, isSoldBy, quantityRatio, rateOf, unitOf } from './rates.js';

/* How a charge came about, line by line: for whoever wants to see the calculation, which is done nowhere else. */

export interface BillingLine {
  /** What was used; `call` where the call as such has its price. */
  readonly quantity: Quantity | 'call';
  readonly count: number;
  /** Relative to an input token; null: not counted in tokens. */
  readonly ratio: string | null;
  /** Quota for one, all factors applied. */
  readonly unitPrice: string;
  /** Quota for all of them, not rounded. */
  readonly amount: string;
}

export interface Billing {
  readonly lines: readonly BillingLine[];
  /** The sum of the lines, before rounding. */
  readonly exact: string;
  /** The charge: rounded once, at least 1 where something was used that is not free. */
  readonly total: Quota;
  /** The tier it was served at, and the factor of all lines but those of tools. Left out: the usual one. */
  readonly serviceTier?: string;
  readonly serviceFactor?: string;
}

/** What was used, tokens first and always in the same order. */
const namesIn = (usage: Usage): Quantity[] =>
  [...tokenQuantities, ...(Object.keys(usage) as Quantity[]).filter((name) => !isTokens(name)).sort()].filter(
    (name) => (usage[name] ?? 0) > 0,
  );

/** Where the call as such has its price, tokens have none; of the rest, seconds and pictures may have none either. */
const isBilled = (price: Price, name: Quantity): boolean =>
  price.per === 'token' || (!isTokens(name) && isSoldBy(price, name));

export function billingOf(usage: Usage, price: Price): Billing {
  const unit = tokenUnit(price);
  const lines: BillingLine[] = [];
  const line = (quantity: BillingLine['quantity'], count: number, ratio: string | null, rate: Decimal): void => {
    const amount = decimalText(times(exactCount(count), rate));
    lines.push({ quantity, count, ratio, unitPrice: decimalText(rate), amount });
  };
  const inForce = price.per === 'call' ? price : priceAtLength(price, usage);
  if (inForce.per === 'call') line('call', 1, null, callRate(inForce));
  for (const name of namesIn(usage)) {
    if (!isBilled(inForce, name)) continue;
    const ratio = inForce.per === 'token' && isTokens(name) ? quantityRatio(inForce, name) : null;
    line(name, usage[name] ?? 0, ratio, rateOf(inForce, name, unit));
  }
  const sum = { lines, exact: decimalText(exactCharge(usage, price, unit)), total: chargeOf(usage, price) };
  return price.service === undefined
    ? sum
    : { ...sum, serviceTier: price.service.tier, serviceFactor: price.service.factor };
}

/** Quota for one of each, all factors applied: what a line of a calculation will name as its `unitPrice`. */
export type UnitPrices = Readonly<Partial<Record<TokenQuantity | 'call', string>>>;

/** What any call may use has a price here; of the rest, what costs otherwise than the plain tokens of its side. */
const alwaysListed: ReadonlySet<TokenQuantity> = new Set(['input', 'cachedInput', 'cacheWrite', 'output']);

/** Before anything is used: what it would cost. Pieces beside the tokens are in `piecePricesOf`. */
export function unitPricesOf(price: Price): UnitPrices {
  if (price.per === 'call') return { call: decimalText(callRate(price)) };
  const unit = unitOf(price);
  const listed = tokenQuantities.filter((name) => alwaysListed.has(name) || price.ratios[name] !== undefined);
  return Object.fromEntries(listed.map((name) => [name, decimalText(rateOf(price, name, unit))]));
}

/** Of a call whose prompt has more tokens than `over`. */
export interface TierUnitPrices {
  readonly over: number;
  readonly unitPrices: UnitPrices;
}

/** By ascending length; none where the price is the same at every length. */
export const tierUnitPrices = (price: Price): readonly TierUnitPrices[] =>
  price.per === 'call' ? [] : pricesByTier(price).map(({ over, price }) => ({ over, unitPrices: unitPricesOf(price) }));

/** Quota for one of what is sold by the piece, all factors applied, as a line of a calculation will name it. */
export interface PieceUnitPrice {
  readonly quantity: PieceQuantity;
  readonly unitPrice: string;
}

/** Of everything that has a price of its own beside the tokens, or beside the call. */
export const piecePricesOf = (price: Price): PieceUnitPrice[] =>
  (Object.keys(price.pieces?.dollars ?? {}) as PieceQuantity[]).map((quantity) => ({
    quantity,
    unitPrice: decimalText(rateOf(price, quantity, null)),
  }));
