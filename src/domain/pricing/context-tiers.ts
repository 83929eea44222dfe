import { promptTokens, type Usage } from '../call/usage.js';
import { type Decimal, decimal, decimalText, isZero, ratioOf, times } from '../kernel/decimal.js';
import type { Price, PriceRates, TokenPrice } from './pricing.js';
import { isOutput, type TokenQuantity, tokenQuantities } from './quantities.js';

/* Models whose whole call is priced anew beyond a length of the prompt. */

/** Part of a price, as events in the log hold it. */
export interface ContextTier {
  /** In tokens of every kind of input. A prompt of more tokens than this is priced so, and its answer too. */
  readonly over: number;
  /** All of them, relative to an input token below the first tier. */
  readonly ratios: PriceRates<TokenQuantity>;
}

/** As operators and price lists state it: by what the price below the first tier is multiplied. */
export interface ContextTierFactors {
  readonly over: number;
  /** A kind that is not named follows `input` or `output`; these are 1 where they are not named. */
  readonly factors: PriceRates<TokenQuantity>;
}

/** Every kind that has a ratio of its own below the tier, or that the tier names, has one in it. */
export function tierRatios(ratios: PriceRates<TokenQuantity>, { over, factors }: ContextTierFactors): ContextTier {
  const inTier: Partial<Record<TokenQuantity, string>> = {};
  for (const name of tokenQuantities) {
    const side = isOutput(name) ? 'output' : 'input';
    const usual = ratios[name] ?? (factors[name] === undefined && name !== side ? undefined : (ratios[side] ?? '1'));
    if (usual === undefined) continue;
    inTier[name] = decimalText(times(decimal(usual), decimal(factors[name] ?? factors[side] ?? '1')));
  }
  return { over, ratios: inTier };
}

/** By prices, which are never changed: what a call in each of its tiers is charged by. */
const knownInTiers = new WeakMap<TokenPrice, Map<ContextTier, TokenPrice>>();

function inTier(price: TokenPrice, tier: ContextTier): TokenPrice {
  let priced = knownInTiers.get(price);
  if (priced === undefined) {
    priced = new Map();
    knownInTiers.set(price, priced);
  }
  const known = priced.get(tier);
  if (known !== undefined) return known;
  const { tiers: _, ...rest } = price;
  const made: TokenPrice = { ...rest, ratios: tier.ratios };
  priced.set(tier, made);
  return made;
}

/** The tier that a call with this usage is priced in; undefined: none. */
export function tierAtLength({ tiers }: TokenPrice, usage: Usage): ContextTier | undefined {
  if (tiers === undefined) return undefined;
  const length = promptTokens(usage);
  return tiers.findLast(({ over }) => length > over);
}

/** What a call with this usage is charged by. */
export function priceAtLength(price: TokenPrice, usage: Usage): TokenPrice {
  const tier = tierAtLength(price, usage);
  return tier === undefined ? price : inTier(price, tier);
}

const dividedBy = (ratios: PriceRates<TokenQuantity>, input: Decimal): PriceRates<TokenQuantity> =>
  Object.fromEntries(
    Object.entries(ratios).map(([name, ratio]) => [name, decimalText(ratioOf(decimal(ratio), input))]),
  );

/**
 * What a call with this usage is charged by, for whoever knows ratios to plain input only: there `model` is what an input
 * token really costs. For reading, not for charging: ratios are rounded. Unchanged where plain input is free.
 */
export function priceByPlainInput(price: TokenPrice, usage: Usage): TokenPrice {
  const inForce = priceAtLength(price, usage);
  const { input: plain = '1', ...others } = inForce.ratios;
  const input = decimal(plain);
  if (isZero(input) || plain === '1') return inForce;
  const ratios: Partial<Record<TokenQuantity, string>> = {};
  for (const [name, ratio] of Object.entries(others)) {
    ratios[name as TokenQuantity] = decimalText(ratioOf(decimal(ratio), input));
  }
  // What is put out costs as much as what comes in where nothing is said of it, in a tier too.
  if (others.output === undefined) ratios.output = decimalText(ratioOf(decimal('1'), input));
  const tiers = inForce.tiers?.map(({ over, ratios }) => ({ over, ratios: dividedBy(ratios, input) }));
  const model = decimalText(times(decimal(inForce.model), input));
  return { ...inForce, model, ratios, ...(tiers === undefined ? {} : { tiers }) };
}

/** Everything that a call whose prompt is no longer than this usage's may be charged by. */
export function pricesUpToLength(price: TokenPrice, max: Usage): readonly TokenPrice[] {
  if (price.tiers === undefined) return [price];
  const length = promptTokens(max);
  return [price, ...price.tiers.filter(({ over }) => length > over).map((tier) => inTier(price, tier))];
}

/** What calls in each tier are charged by. */
export const pricesByTier = (price: TokenPrice): readonly { readonly over: number; readonly price: TokenPrice }[] =>
  (price.tiers ?? []).map((tier) => ({ over: tier.over, price: inTier(price, tier) }));

/** Without tiers that no prompt of this usage reaches. The same object where none goes. */
export function withTiersUpTo(price: Price, max: Usage): Price {
  if (price.per === 'call' || price.tiers === undefined) return price;
  const length = promptTokens(max);
  const reached = price.tiers.filter(({ over }) => length > over);
  if (reached.length === price.tiers.length) return price;
  const { tiers: _, ...rest } = price;
  if (reached.length > 0) return { ...rest, tiers: reached };
  let plain = withoutTiers.get(price);
  if (plain === undefined) {
    plain = rest;
    withoutTiers.set(price, plain);
  }
  return plain;
}

/** Prices stay, so that what is worked out of them is kept by object: most calls reach no tier. */
const withoutTiers = new WeakMap<TokenPrice, TokenPrice>();
