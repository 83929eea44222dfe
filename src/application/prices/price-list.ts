import type { ProviderTable } from '../../domain/channel/provider.js';
import type { UnitPrices } from '../../domain/pricing/billing.js';
import { priceByPlainInput } from '../../domain/pricing/context-tiers.js';
import { isPricedPerCall, type PriceTables, priceOf } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { quantityRatio } from '../../domain/pricing/rates.js';
import { offsetOf, type Page, type PageRequest } from '../../projections/engine/page.js';
import type { ComingPrices } from '../memory/changed-options.js';
import type { Offer } from '../memory/channel-index.js';
import type { NodeDirectory } from '../memory/directory.js';
import {
  type AnnouncedPrice,
  announcedPrice,
  type ComingShownPrices,
  noPrices,
  replacesTokens,
  type ServiceTierFactor,
  type ShownPrices,
  shownComing,
  shownPrice,
  shownPrices,
  shownServiceTiers,
} from './shown-prices.js';

/*
 * What can be bought: every model some channel serves, its price, and the groups it is served for. All of it from
 * memory: the list is public, and may cost a visitor's question nothing.
 */

type Sold = Pick<NodeDirectory, 'offers' | 'settings' | 'comingPrices'>;

export interface PricedModel {
  readonly model: string;
  /** For a group whose ratio is 1. Models without a price show what they would cost where they are accepted. */
  readonly price: Price;
  readonly serviceTiers: readonly ServiceTierFactor[];
  /** null: no other price is announced. */
  readonly coming: AnnouncedPrice | null;
  readonly groups: readonly string[];
}

interface PricedModels {
  readonly prices: PriceTables;
  readonly coming: readonly ComingPrices[];
  readonly models: readonly PricedModel[];
}

/** Everybody may ask: worked out once, and not again before models or prices change, which makes new objects of them. */
const pricedModels = new WeakMap<readonly Offer[], PricedModels>();

const withoutGroups = (tables: PriceTables): PriceTables => ({ ...tables, groupRatio: new Map() });

/** Sorted by model. */
export function priceList(directory: Sold): readonly PricedModel[] {
  const offers = directory.offers();
  const { prices } = directory.settings();
  const coming = directory.comingPrices();
  const known = pricedModels.get(offers);
  if (known?.prices === prices && known.coming === coming) return known.models;
  const plain = withoutGroups(prices);
  const plainComing = coming.map(({ from, tables }) => ({ from, tables: withoutGroups(tables) }));
  const models = offers.flatMap(({ model, groups }): PricedModel[] => {
    const price = shownPrice(plain, model, '', true);
    if (price === null) return [];
    const announced = announcedPrice(plainComing, plain, { model, group: '', acceptsUnpriced: true });
    return [{ model, price, serviceTiers: shownServiceTiers(plain, model), coming: announced, groups }];
  });
  pricedModels.set(offers, { prices, coming, models });
  return models;
}

export type BillingKind = Price['per'];

/** `nearest`: what is nearest to what is looked for first, then by name. */
export type PriceListSort = 'nearest' | 'name-desc' | PriceSort;
type PriceSort = 'input' | 'input-desc' | 'output' | 'output-desc';

export interface PriceListRequest extends PageRequest {
  /** Letters of the name, in its order; empty: every model. */
  readonly search: string;
  /** null: either. */
  readonly billing: BillingKind | null;
  readonly sort: PriceListSort;
}

/** For whom prices are listed. */
interface Buyer {
  /** That a call would be made for. */
  readonly group: string;
  /** Names of all groups that may be chosen. */
  readonly groups: readonly string[];
  /** Models without a price are called all the same, at the price there is for those. */
  readonly acceptsUnpriced: boolean;
  /** Disclosed to users who are signed in only: who answers. */
  readonly seesProviders: boolean;
}

export interface OfferedModel extends Omit<ShownPrices, 'unitPrices'> {
  readonly name: string;
  /** A call for the group would be served. */
  readonly available: boolean;
  /** What a call for the group is charged by, relative to plain input; null: it has no price, so it is refused. */
  readonly price: Price | null;
  readonly unitPrices: UnitPrices | null;
  readonly serviceTiers: readonly ServiceTierFactor[];
  /** Another price that is announced; null: none is. */
  readonly coming: ComingShownPrices | null;
  /** Of those that may be chosen, the ones it is served for. */
  readonly groups: readonly string[];
  /** null: not disclosed. */
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

const billingOf = (prices: PriceTables, model: string): BillingKind =>
  isPricedPerCall(prices, model) ? 'call' : 'token';

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

type Side = 'input' | 'output';

/**
 * How expensive it is, to be compared and never shown. What is charged by call or by the piece comes after tokens, what
 * has no price last.
 */
function priceRankOf(
  price: Price | null,
  side: Side,
  model: string,
): { readonly kind: number; readonly price: number } {
  if (price === null) return { kind: 2, price: 0 };
  if (price.per === 'call') return { kind: 1, price: side === 'input' ? Number(price.price) : 0 };
  if (replacesTokens(price, model)) return { kind: 1, price: 0 };
  return { kind: 0, price: Number(price.model) * Number(quantityRatio(price, side)) };
}

/** `descending` turns prices round, and nothing else: what cannot be compared stays at the end. */
function byPrice(offers: readonly Offer[], prices: PriceTables, sort: PriceSort, acceptsUnpriced: boolean): Offer[] {
  const side = sort === 'input' || sort === 'input-desc' ? 'input' : 'output';
  const sign = sort === side ? 1 : -1;
  // The ratio of a group is the same for all models: without one, the order is that of every group.
  const priced = offers.map((offer) => ({
    offer,
    rank: priceRankOf(priceOf(prices, offer.model, '', acceptsUnpriced), side, offer.model),
  }));
  priced.sort(({ rank: one }, { rank: other }) => one.kind - other.kind || sign * (one.price - other.price));
  return priced.map(({ offer }) => offer);
}

interface Orders {
  readonly prices: PriceTables;
  readonly sorted: Map<string, readonly Offer[]>;
}

/**
 * Everybody may ask, so all models are priced once for each order, and not again before models or prices change. Offers
 * and tables are the directory's, which makes new ones then.
 */
const ordersOf = new WeakMap<readonly Offer[], Orders>();

function sortedBy(
  offers: readonly Offer[],
  prices: PriceTables,
  sort: PriceSort,
  acceptsUnpriced: boolean,
): readonly Offer[] {
  let orders = ordersOf.get(offers);
  if (orders?.prices !== prices) {
    orders = { prices, sorted: new Map() };
    ordersOf.set(offers, orders);
  }
  const name = `${sort} ${acceptsUnpriced}`;
  const known = orders.sorted.get(name);
  if (known !== undefined) return known;
  const sorted = byPrice(offers, prices, sort, acceptsUnpriced);
  orders.sorted.set(name, sorted);
  return sorted;
}

/** What the request is for, in its order. */
function listed(directory: Sold, request: PriceListRequest, { acceptsUnpriced }: Buyer): readonly Offer[] {
  const { sort } = request;
  const { prices } = directory.settings();
  const offers = directory.offers();
  if (sort === 'nearest') return found(offers, request, prices);
  const isFound = new Set(found(offers, request, prices));
  const all = sort === 'name-desc' ? offers.toReversed() : sortedBy(offers, prices, sort, acceptsUnpriced);
  return all.filter((offer) => isFound.has(offer));
}

/** One page of the list. Only what is on it is priced, unless prices are what it is sorted by. */
export function pricesFor(
  buyer: Buyer,
  request: PriceListRequest,
  directory: Sold,
  providers: ProviderTable,
): Page<OfferedModel> {
  const { prices } = directory.settings();
  const coming = directory.comingPrices();
  const offers = listed(directory, request, buyer);
  const from = offsetOf(request);
  const items = offers.slice(from, from + request.size).map(({ model, groups, type }): OfferedModel => {
    const price = shownPrice(prices, model, buyer.group, buyer.acceptsUnpriced);
    const announced = announcedPrice(coming, prices, { ...buyer, model });
    const chosen = groups.filter((group) => buyer.groups.includes(group));
    return {
      name: model,
      available: price !== null && chosen.includes(buyer.group),
      price: price?.per === 'token' ? priceByPlainInput(price, {}) : price,
      ...(price === null ? noPrices : shownPrices(price, model)),
      serviceTiers: price === null ? [] : shownServiceTiers(prices, model),
      coming: announced === null ? null : shownComing(announced, model),
      groups: chosen,
      provider: buyer.seesProviders ? (providers.get(type)?.name ?? null) : null,
    };
  });
  return { items, count: async () => offers.length };
}
