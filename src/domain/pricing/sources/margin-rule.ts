import {
  add,
  type Decimal,
  decimal,
  decimalText,
  isNegative,
  isZero,
  larger,
  negative,
  ratioAtLeast,
  times,
} from '../../kernel/decimal.js';
import { longestPrefixMatch } from '../model-family.js';
import type { ModelPrice, Rates, TokenRate } from '../records/model-price.js';

/*
 * What is asked for more than a source does: by the beginning of a model's name, by vendor, or for all; and the least
 * that a group of users is to pay over the price of the source, with its ratio.
 */

/** Factors as decimal texts. */
export interface MarginRule {
  readonly usual: string;
  /** By vendor, as the source names it. */
  readonly vendors: ReadonlyMap<string, string>;
  /** By the beginning of a model's name; the longest counts, and goes before its vendor. */
  readonly families: ReadonlyMap<string, string>;
  /** By group of users, the least. */
  readonly groups: ReadonlyMap<string, string>;
}

/** By group of users, what its prices are multiplied by; 0: it pays nothing, as somebody has decided. */
type GroupRatios = ReadonlyMap<string, string>;

/** As large as the model asks for, and as each group that has a least one does. */
export function marginOf(
  { usual, vendors, families, groups }: MarginRule,
  groupRatio: GroupRatios,
  { model, vendor }: { readonly model: string; readonly vendor: string | null },
): string {
  const stated =
    longestPrefixMatch(model, (beginning) => families.get(beginning)) ??
    (vendor === null ? undefined : vendors.get(vendor)) ??
    usual;
  let margin = decimal(stated);
  for (const [group, least] of groups) {
    const ratio = decimal(groupRatio.get(group) ?? '1');
    if (!isZero(ratio)) margin = larger(margin, ratioAtLeast(decimal(least), ratio));
  }
  return decimalText(margin);
}

/** There always is this group; one without a ratio pays 1. */
const usualGroup = 'default';

const isLess = (one: Decimal, other: Decimal): boolean => isNegative(add(one, negative(other)));

/** Groups that would pay less than the source takes, unless the rule says how little they may pay. */
export const groupsBelow = ({ groups }: MarginRule, groupRatio: GroupRatios, margin: string): string[] =>
  [...new Set([usualGroup, ...groupRatio.keys(), ...groups.keys()])].flatMap((group) => {
    const ratio = decimal(groupRatio.get(group) ?? '1');
    const least = decimal(groups.get(group) ?? '1');
    return !isZero(ratio) && isLess(times(decimal(margin), ratio), least) ? [group] : [];
  });

const scaled = (text: string, factor: Decimal): string => decimalText(times(decimal(text), factor));

const scaledRate = (rate: TokenRate, factor: Decimal): TokenRate =>
  'usd' in rate ? { usd: scaled(rate.usd, factor) } : rate;

const scaledAll = <Rate, Made>(
  rates: Readonly<Record<string, Rate>>,
  scale: (rate: Rate) => Made,
): Readonly<Record<string, Made>> =>
  Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, scale(rate)]));

/** What a source takes, with the margin; ratios stay what they are. */
function withMargin({ call, tokens, pieces, pictures }: Rates, factor: Decimal): Rates {
  return {
    ...(call === undefined ? {} : { call: scaled(call, factor) }),
    ...(tokens === undefined ? {} : { tokens: scaledAll(tokens, (rate) => scaledRate(rate, factor)) }),
    ...(pieces === undefined ? {} : { pieces: scaledAll(pieces, (usd) => scaled(usd, factor)) }),
    ...(pictures === undefined
      ? {}
      : { pictures: pictures.map((picture) => ({ ...picture, usd: scaled(picture.usd, factor) })) }),
  };
}

/** The selling price beside the purchase price, which is the source's. */
export function soldAt(price: ModelPrice, margin: string): ModelPrice {
  const { call, tokens, pieces, pictures, ...terms } = price;
  const purchase: Rates = {
    ...(call === undefined ? {} : { call }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(pieces === undefined ? {} : { pieces }),
    ...(pictures === undefined ? {} : { pictures }),
  };
  return { ...terms, ...withMargin(purchase, decimal(margin)), purchase };
}
