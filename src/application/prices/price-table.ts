import type { Instant } from '../../domain/kernel/instant.js';
import { legacyPriceMaps } from '../../domain/options/legacy-prices.js';
import { type UnitPrices, unitPricesOf } from '../../domain/pricing/billing.js';
import { bothPrices, quantityPrices } from '../../domain/pricing/example-bill.js';
import { type PriceTables, priceOf } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { ModelPrice } from '../../domain/pricing/records/model-price.js';
import { priceIdentity } from '../../domain/pricing/records/same-price.js';
import { statedPrice, tabledPrice } from '../../domain/pricing/records/tabled-price.js';
import { offsetOf, type Page, type PageRequest } from '../../projections/engine/page.js';
import type { ChangedPrice, ComingPrices } from '../memory/changed-options.js';
import type { Offer } from '../memory/channel-index.js';
import type { NodeDirectory } from '../memory/directory.js';
import { closenessTo } from './price-list.js';

/*
 * The price table as an operator works on it: every model that has a price, is served or was refused for lack of a
 * price. All of it from memory, worked out again only after something has changed.
 */

/** Where the price in force comes from. */
export type PriceOriginKind = 'record' | 'option' | 'built-in' | 'none';

/** `unpriced`: served or called, and without a price. */
export type PriceTableFilter = 'unpriced' | 'differs' | 'coming' | 'served';
export type PriceTableSort = 'name' | 'name-desc' | 'input' | 'input-desc' | 'output' | 'output-desc' | 'refused-desc';

export interface PriceTableRequest extends PageRequest {
  /** Letters of the name, in its order; empty: every model. */
  readonly search: string;
  /** null: any. */
  readonly origin: PriceOriginKind | null;
  readonly filter: PriceTableFilter | null;
  readonly sort: PriceTableSort;
}

export interface PriceTableRow {
  readonly model: string;
  readonly origin: PriceOriginKind;
  /** Some enabled channel serves it. */
  readonly served: boolean;
  /** Calls that were refused lately for lack of a price. */
  readonly refused: number;
  /** For a group whose ratio is 1; null: it has no price. */
  readonly unitPrices: UnitPrices | null;
  /** By the built-in table; null: that has none. */
  readonly listUnitPrices: UnitPrices | null;
  /** The price is another one than the built-in table's, which has one. */
  readonly differs: boolean;
  /** When another price takes effect that is stated or announced; null: none is. */
  readonly comingFrom: Instant | null;
  /** The smallest, over all kinds of what has a purchase price; null: none is stated. */
  readonly margin: string | null;
}

/** By model. */
type RefusedCalls = ReadonlyMap<string, number>;

type PricedDirectory = Pick<
  NodeDirectory,
  'offers' | 'settings' | 'comingPrices' | 'builtInPrices' | 'changedPrices' | 'changedOptions'
>;

interface Entry {
  readonly model: string;
  readonly origin: PriceOriginKind;
  readonly served: boolean;
  readonly price: Price | null;
  readonly list: Price | null;
  readonly differs: boolean;
  readonly comingFrom: Instant | null;
}

const plainPrice = (tables: PriceTables, model: string): Price | null => priceOf(tables, model, '', false);

const sameStatement = (one: ModelPrice | null, other: ModelPrice | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

interface Known {
  readonly tables: PriceTables;
  readonly builtIn: PriceTables;
  readonly changed: ReadonlyMap<string, ChangedPrice>;
  readonly coming: readonly ComingPrices[];
  readonly served: ReadonlySet<string>;
  /** Models whose price in an option holds whatever is built in. */
  readonly pinned: ReadonlySet<string>;
}

function originOf({ tables, builtIn, changed, pinned }: Known, model: string, price: Price | null): PriceOriginKind {
  const record = changed.get(model)?.periods ?? null;
  if (record !== null) return 'record';
  if (price === null) return 'none';
  if (pinned.has(model)) return 'option';
  return sameStatement(tabledPrice(tables, model), tabledPrice(builtIn, model)) ? 'built-in' : 'option';
}

function comingFrom({ coming }: Known, model: string, identity: string): Instant | null {
  for (const { from, tables } of coming) if (priceIdentity(plainPrice(tables, model)) !== identity) return from;
  return null;
}

function entryOf(known: Known, model: string): Entry {
  const price = plainPrice(known.tables, model);
  const list = plainPrice(known.builtIn, model);
  const identity = priceIdentity(price);
  return {
    model,
    origin: originOf(known, model, price),
    served: known.served.has(model),
    price,
    list,
    differs: list !== null && price !== null && priceIdentity(list) !== identity,
    comingFrom: comingFrom(known, model, identity),
  };
}

const byName = (one: { readonly model: string }, other: { readonly model: string }): number =>
  one.model < other.model ? -1 : one.model > other.model ? 1 : 0;

/** Made anew by the directory with each change, like the offers. */
const entriesOf = new WeakMap<PriceTables, { readonly offers: readonly Offer[]; readonly entries: readonly Entry[] }>();

function allEntries(directory: PricedDirectory): readonly Entry[] {
  const { prices: tables } = directory.settings();
  const offers = directory.offers();
  const found = entriesOf.get(tables);
  if (found?.offers === offers) return found.entries;
  const known: Known = {
    tables,
    builtIn: directory.builtInPrices(),
    changed: directory.changedPrices(),
    coming: directory.comingPrices(),
    served: new Set(offers.map(({ model }) => model)),
    pinned: new Set(legacyPriceMaps.flatMap((key) => directory.changedOptions().get(key)?.pinned ?? [])),
  };
  const recorded = [...known.changed].flatMap(([model, { periods }]) => (periods === null ? [] : [model]));
  const models = new Set([...tables.modelRatio.keys(), ...tables.modelPrice.keys(), ...recorded, ...known.served]);
  const entries = [...models].map((model) => entryOf(known, model)).sort(byName);
  entriesOf.set(tables, { offers, entries });
  return entries;
}

/** With those that nobody has priced or serves, and that were called all the same. */
function withCalled(entries: readonly Entry[], refused: RefusedCalls): readonly Entry[] {
  const known = new Set(entries.map(({ model }) => model));
  const unlisted = [...refused.keys()].filter((model) => !known.has(model));
  if (unlisted.length === 0) return entries;
  const unknown = unlisted.map(
    (model): Entry => ({
      ...{ model, origin: 'none', served: false, price: null, list: null, differs: false, comingFrom: null },
    }),
  );
  return [...entries, ...unknown].sort(byName);
}

const passes: Readonly<Record<PriceTableFilter, (entry: Entry) => boolean>> = {
  unpriced: ({ price }) => price === null,
  differs: ({ differs }) => differs,
  coming: (entry) => entry.comingFrom !== null,
  served: ({ served }) => served,
};

/** What is charged by call comes after tokens, what has no price last, whichever way round. */
function priceRankOf(price: Price | null, side: 'input' | 'output'): { readonly kind: number; readonly price: number } {
  if (price === null) return { kind: 2, price: 0 };
  const unitPrices = unitPricesOf(price);
  if (price.per === 'call') return { kind: 1, price: Number(unitPrices.call) };
  return { kind: 0, price: Number(unitPrices[side]) };
}

/** `entries`: what is nearest to what is looked for first; that order holds for names, else prices do. */
function inOrder(entries: readonly Entry[], sort: PriceTableSort, refused: RefusedCalls): readonly Entry[] {
  if (sort === 'name') return entries;
  if (sort === 'name-desc') return entries.toSorted(byName).reverse();
  if (sort === 'refused-desc') {
    const calls = ({ model }: Entry): number => refused.get(model) ?? 0;
    return entries.toSorted((one, other) => calls(other) - calls(one));
  }
  const side = sort.startsWith('input') ? 'input' : 'output';
  const sign = sort === side ? 1 : -1;
  return entries
    .map((entry) => ({ entry, rank: priceRankOf(entry.price, side) }))
    .sort(({ rank: one }, { rank: other }) => one.kind - other.kind || sign * (one.price - other.price))
    .map(({ entry }) => entry);
}

/** The nearest to what is looked for first. */
function found(entries: readonly Entry[], { search, origin, filter }: PriceTableRequest): readonly Entry[] {
  const closeness = closenessTo(search);
  const near: Entry[] = [];
  const far: Entry[] = [];
  for (const entry of entries) {
    if (origin !== null && entry.origin !== origin) continue;
    if (filter !== null && !passes[filter](entry)) continue;
    const close = closeness(entry.model);
    if (close !== null) (close === 0 ? near : far).push(entry);
  }
  return [...near, ...far];
}

function lowestMargin(tables: PriceTables, model: string): string | null {
  const record = statedPrice(tables, model);
  if (record?.purchase === undefined) return null;
  const { selling, purchase } = bothPrices(tables, model, record);
  let lowest: string | null = null;
  for (const { margin } of quantityPrices(selling, purchase))
    if (margin !== null && (lowest === null || Number(margin) < Number(lowest))) lowest = margin;
  return lowest;
}

/** One page of the table. */
export function priceTablePage(
  directory: PricedDirectory,
  request: PriceTableRequest,
  refused: RefusedCalls,
): Page<PriceTableRow> {
  const { prices: tables } = directory.settings();
  const entries = inOrder(found(withCalled(allEntries(directory), refused), request), request.sort, refused);
  const from = offsetOf(request);
  const items = entries.slice(from, from + request.size).map(
    ({ model, origin, served, price, list, differs, comingFrom }): PriceTableRow => ({
      ...{ model, origin, served, differs, comingFrom },
      refused: refused.get(model) ?? 0,
      unitPrices: price === null ? null : unitPricesOf(price),
      listUnitPrices: list === null ? null : unitPricesOf(list),
      margin: lowestMargin(tables, model),
    }),
  );
  return { items, count: async () => entries.length };
}

/** Every model that has a price of its own in some way, by name. */
export const pricedModels = (directory: PricedDirectory): readonly string[] =>
  allEntries(directory).flatMap(({ model, origin }) => (origin === 'none' ? [] : [model]));
