import { type UnitPrices, unitPricesOf } from '../../domain/billing.js';
import { billedName, type PriceTables, priceOf } from '../../domain/price-tables.js';
import type { Price } from '../../domain/pricing.js';
import type { ProviderTable } from '../../domain/provider.js';
import { offsetOf, type Page, type PageRequest } from '../../projections/engine/page.js';
import type { NodeDirectory, Offer } from '../memory/directory.js';

/*
 * What can be bought: every model some channel serves, its price, and the groups it is served for. All of it from
 * memory: the list is public, and may cost a visitor's question nothing.
 */

type Sold = Pick<NodeDirectory, 'offers' | 'settings'>;

export interface PricedModel {
  readonly model: string;
  /** For a group whose ratio is 1. Models without a price show what they would cost where they are accepted. */
  readonly price: Price;
  readonly groups: readonly string[];
}

/** Sorted by model. */
export function priceList(directory: Sold): PricedModel[] {
  const { prices } = directory.settings();
  const plain = { ...prices, groupRatio: new Map<string, string>() };
  return directory.offers().flatMap(({ model, groups }) => {
    const price = priceOf(plain, model, '', true);
    return price === null ? [] : [{ model, price, groups }];
  });
}

export type BillingKind = Price['per'];

export interface PriceListRequest extends PageRequest {
  /** Letters of the name, in its order; empty: every model. */
  readonly search: string;
  /** null: either. */
  readonly billing: BillingKind | null;
}

/** For whom prices are told. */
export interface Buyer {
  /** That a call would be made for. */
  readonly group: string;
  /** Names of all groups that may be chosen. */
  readonly groups: readonly string[];
  /** Models without a price are called all the same, at the price there is for those. */
  readonly acceptsUnpriced: boolean;
  /** What others than strangers are told: who answers. */
  readonly seesProviders: boolean;
}

export interface OfferedModel {
  readonly name: string;
  /** A call for the group would be served. */
  readonly available: boolean;
  /** What a call for the group is charged by; null: it has no price, so it is refused. */
  readonly price: Price | null;
  readonly unitPrices: UnitPrices | null;
  /** Of those that may be chosen, the ones it is served for. */
  readonly groups: readonly string[];
  /** null: not told. */
  readonly provider: string | null;
}

const separators = /[\s._/:-]+/g;

const lettersOf = (text: string): string => text.toLowerCase().replace(separators, '');

/** 0: the text stands in the name; 1: its letters do, in this order; null: they do not. */
export function closenessTo(text: string): (name: string) => 0 | 1 | null {
  const wanted = lettersOf(text);
  if (wanted === '') return () => 0;
  return (name) => {
    const letters = lettersOf(name);
    if (letters.includes(wanted)) return 0;
    let at = 0;
    for (const letter of wanted) {
      at = letters.indexOf(letter, at) + 1;
      if (at === 0) return null;
    }
    return 1;
  };
}

const billingOf = ({ modelPrice }: PriceTables, model: string): BillingKind =>
  modelPrice.has(billedName(model)) ? 'call' : 'token';

/** The nearest to what is looked for first, then by name. */
function found(offers: readonly Offer[], { search, billing }: PriceListRequest, prices: PriceTables): Offer[] {
  const closeness = closenessTo(search);
  const near: Offer[] = [];
  const far: Offer[] = [];
  for (const offer of offers) {
    if (billing !== null && billingOf(prices, offer.model) !== billing) continue;
    const close = closeness(offer.model);
    if (close !== null) (close === 0 ? near : far).push(offer);
  }
  return [...near, ...far];
}

/** One page of the list. Only what is on it is priced. */
export function pricesFor(
  buyer: Buyer,
  request: PriceListRequest,
  directory: Sold,
  providers: ProviderTable,
): Page<OfferedModel> {
  const { prices } = directory.settings();
  const offers = found(directory.offers(), request, prices);
  const from = offsetOf(request);
  const items = offers.slice(from, from + request.size).map(({ model, groups, type }): OfferedModel => {
    const price = priceOf(prices, model, buyer.group, buyer.acceptsUnpriced);
    const chosen = groups.filter((group) => buyer.groups.includes(group));
    return {
      name: model,
      available: price !== null && chosen.includes(buyer.group),
      price,
      unitPrices: price === null ? null : unitPricesOf(price),
      groups: chosen,
      provider: buyer.seesProviders ? (providers.get(type)?.name ?? null) : null,
    };
  });
  return { items, count: async () => offers.length };
}
