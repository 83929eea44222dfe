import { type Decimal, decimal, decimalText, integer, larger, times } from '../kernel/decimal.js';
import { longestPrefixMatch } from './model-family.js';
import type { Price } from './pricing.js';

/* Tiers of service: the same model, served sooner, later or elsewhere than usual, at a price of its own. */

/** What a call is served at that asks for no other. Its factor is 1. */
export const usualTier = 'default';

/**
 * In a table: no tier, but the most expensive that an account serves calls at by itself, where they leave the tier to
 * it. Left out: the account serves them at none that costs more than the usual.
 */
const accountTier = 'auto';

/** By tier, what the price of a call is multiplied by. */
export type TierFactors = ReadonlyMap<string, string>;

/** By model, or by the beginning of its name and `*`. */
export type ServiceTierTable = ReadonlyMap<string, TierFactors>;

/** Part of a price, as events in the log hold it. */
export interface ServiceTerms {
  /** By which the call is charged, unless its answer reports one of the others. */
  readonly tier: string;
  readonly factor: string;
  /** Factors by tier. Left out: the call has been served, at `tier`. */
  readonly others?: Readonly<Record<string, string>>;
}

const noFactors: TierFactors = new Map();

/** By tables, which never change. */
const knownFactors = new WeakMap<ServiceTierTable, Map<string, TierFactors>>();
const maxKnown = 10_000;

/** The entry for this model, or for the longest beginning of its name. */
const factorsIn = (table: ServiceTierTable, model: string): TierFactors =>
  table.get(model) ??
  longestPrefixMatch(model, (beginning) => table.get(`${beginning}*`)) ??
  table.get('*') ??
  noFactors;

export function tierFactorsOf(table: ServiceTierTable, model: string): TierFactors {
  let known = knownFactors.get(table);
  if (known === undefined || known.size >= maxKnown) {
    known = new Map();
    knownFactors.set(table, known);
  }
  let found = known.get(model);
  if (found === undefined) {
    found = factorsIn(table, model);
    known.set(model, found);
  }
  return found;
}

const tierName = /^[a-z][\w.-]{0,31}$/;

/** Whether a tier of this name may have a price of its own. */
export const isTierName = (name: string): boolean => name !== usualTier && tierName.test(name);

/** What can be asked for. */
export const pricedTiers = (factors: TierFactors): string[] =>
  [...factors.keys()].filter((tier) => tier !== accountTier);

/** Two names of one tier. */
const otherNames: Readonly<Record<string, string>> = { fast: 'priority', priority: 'fast' };

const nameIn = (isPriced: (tier: string) => boolean, tier: string): string | null => {
  if (isPriced(tier)) return tier;
  const other = Object.hasOwn(otherNames, tier) ? otherNames[tier] : undefined;
  return other !== undefined && isPriced(other) ? other : null;
};

/** The name under which this tier has its factor; null: it has none. */
export const pricedTier = (factors: TierFactors, tier: string): string | null =>
  tier === accountTier ? null : nameIn((name) => factors.has(name), tier);

/** What vendors call the usual one. */
const usualNames = new Set([usualTier, 'standard', 'standard_only', 'on_demand', 'global', 'not_available']);

/** Of tiers that hold together, such as a speed and a region. */
export const joinedTiers = (tiers: readonly string[]): string => tiers.join('+');

/** Of tiers that hold together, by their joined name; null: one of them has no factor. */
export function joinedFactor(factors: TierFactors, joined: string): string | null {
  let product = one;
  for (const tier of joined.split('+')) {
    const factor = factors.get(tier);
    if (factor === undefined) return null;
    product = times(product, decimal(factor));
  }
  return decimalText(product);
}

const one = integer(1);
const isAtMost = (factor: string, bound: Decimal): boolean => larger(decimal(factor), bound) === bound;

/**
 * For a call that asks for these tiers, all of them priced. Of the tiers that its answer may name none counts that costs
 * more than what was requested, so that the reservation covers every charge; a discount needs an answer that reports
 * it. null: charged as usual. `leftToAccount`: the account decides which tier it gets.
 */
export function serviceTermsOf(
  factors: TierFactors,
  asked: readonly string[],
  leftToAccount: boolean,
): ServiceTerms | null {
  const accountFactor = leftToAccount ? factors.get(accountTier) : undefined;
  if (asked.length === 0 && accountFactor === undefined) return null;
  let product = one;
  for (const tier of asked) product = times(product, decimal(factors.get(tier) ?? '1'));
  const bound = [product, decimal(accountFactor ?? '1')].reduce(larger, one);
  const others: Record<string, string> = {};
  for (const [tier, factor] of factors) if (tier !== accountTier && isAtMost(factor, bound)) others[tier] = factor;
  others[usualTier] = '1';
  const isExpensive = product !== one && larger(product, one) === product;
  if (asked.length > 0) others[joinedTiers(asked)] = decimalText(product);
  return isExpensive
    ? { tier: joinedTiers(asked), factor: decimalText(product), others }
    : { tier: usualTier, factor: '1', others };
}

export const withService = (price: Price, service: ServiceTerms | null): Price =>
  service === null ? price : { ...price, service };

/** What a call is charged by that has been served. `reported`: by its answer; undefined: it names no tier. */
export function servedPrice(price: Price, reported: string | undefined): Price {
  const others = price.service?.others;
  if (price.service === undefined || others === undefined) return price;
  const { service, ...usual } = price;
  const named = reported === undefined ? null : nameIn((name) => Object.hasOwn(others, name), reported);
  const tier = reported !== undefined && usualNames.has(reported) ? usualTier : (named ?? service.tier);
  return tier === usualTier ? usual : { ...price, service: { tier, factor: others[tier] ?? service.factor } };
}

/** Prices stay, so that what is worked out of them is kept by object. */
const highestTierPrices = new WeakMap<Price, Price>();

/** The same price at the tier with the highest factor that the call may be served at. */
export function atHighestTier(price: Price): Price {
  const { service } = price;
  if (service?.others === undefined) return price;
  const known = highestTierPrices.get(price);
  if (known !== undefined) return known;
  let top = { tier: service.tier, factor: service.factor };
  for (const [tier, factor] of Object.entries(service.others))
    if (!isAtMost(factor, decimal(top.factor))) top = { tier, factor };
  const made: Price = { ...price, service: top };
  highestTierPrices.set(price, made);
  return made;
}
