import { beginning, type Position, streams } from '../../domain/events/events.js';
import { checkList, checkText, searchText } from '../../domain/kernel/bounds.js';
import { decimal, decimalText, times } from '../../domain/kernel/decimal.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import { maxModelNameBytes } from '../../domain/kernel/names.js';
import { optionDecider, type PriceChangeOrigin } from '../../domain/options/option.js';
import type { PriceSourceSetting } from '../../domain/options/price-source-option.js';
import type { PricePeriods } from '../../domain/pricing/records/model-price.js';
import {
  appliesUnasked,
  type DifferenceKind,
  type PriceDifference,
} from '../../domain/pricing/sources/price-differences.js';
import type { SkippedModel } from '../../domain/pricing/sources/published-price.js';
import type { Actor } from '../../domain/user/user.js';
import { offsetOf, type Page, type PageRequest } from '../../projections/engine/page.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Outbound } from '../ports/outbound-ports.js';
import type { Clock } from '../ports/storage-ports.js';
import { changedPriceOption, differenceReader, type PresentDifferences } from './price-differences.js';
import { type FileOrder, type PriceSourceView, PublishedSources } from './published-sources.js';

/* Prices from outside: read, compared with the present ones, and applied as an operator picks, or an option allows. */

interface PriceUpdatePorts {
  readonly handle: Handle;
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly directory: NodeDirectory;
  readonly origins: () => Promise<ReadonlyMap<string, PriceChangeOrigin>>;
  /** By model, the last record that was not applied by itself; null: it was taken out. */
  readonly approved: () => Promise<ReadonlyMap<string, PricePeriods | null>>;
}

export interface DifferenceFilter {
  /** Part of the name; empty: every model. */
  readonly search: string;
  /** null: all but those that are the same. */
  readonly kinds: readonly DifferenceKind[] | null;
  /** Only models that some channel serves. */
  readonly servedOnly: boolean;
  /** Only those that may be applied by themselves. */
  readonly withinBoundsOnly: boolean;
}

export interface DifferencePage extends Page<PriceDifference> {
  readonly reading: string;
  readonly seenAt: Position;
  readonly counts: ReadonlyMap<DifferenceKind, number>;
  readonly skipped: readonly SkippedModel[];
  /** Of all that are found, how many have a price to apply. */
  readonly applicable: number;
  /** Of those, how many sell below the purchase price to some group. */
  readonly belowPurchase: number;
}

/** What was looked at when the order was given. */
interface SeenDifferences {
  readonly source: string;
  readonly reading: string;
  readonly seenAt: Position;
  /** Also prices below the price of the source for some group: who gives the order has seen them. */
  readonly belowPurchase?: boolean;
}

/** Models in one order. */
const maxApplied = 5_000;
const maxNamed = 10;

const fits = (filter: DifferenceFilter, served: ReadonlySet<string>) => (item: PriceDifference) =>
  (filter.kinds === null ? item.kind !== 'same' : filter.kinds.includes(item.kind)) &&
  (filter.search === '' || item.model.toLowerCase().includes(filter.search.toLowerCase())) &&
  (!filter.servedOnly || served.has(item.model)) &&
  (!filter.withinBoundsOnly || appliesUnasked(item));

interface Updating {
  readonly ports: PriceUpdatePorts;
  readonly sources: PublishedSources;
  readonly differencesOf: ReturnType<typeof differenceReader>;
}

interface Applied {
  readonly position: Position;
  readonly applied: number;
}

const served = ({ directory }: Pick<PriceUpdatePorts, 'directory'>): ReadonlySet<string> =>
  new Set(directory.offers().map(({ model }) => model));

const isBelow = ({ periods, groupsBelow }: PriceDifference): boolean => periods !== null && groupsBelow.length > 0;

const named = (models: readonly string[]): string => models.slice(0, maxNamed).join(', ');

function checkPurchase(picked: readonly PriceDifference[], { belowPurchase = false }: SeenDifferences): void {
  const below = belowPurchase ? [] : picked.filter(isBelow);
  if (below.length === 0) return;
  const groups = [...new Set(below.flatMap(({ groupsBelow }) => groupsBelow))];
  throw new Failure('price-below-purchase', { field: named(below.map(({ model }) => model)), groups: named(groups) });
}

const checkFilter = ({ search }: DifferenceFilter): void => checkText('search', search, searchText);

async function apply(
  { handle, directory }: PriceUpdatePorts,
  picked: readonly PriceDifference[],
  seenAt: Position,
  { origin, by }: { readonly origin: PriceChangeOrigin; readonly by: Actor | null },
): Promise<Applied> {
  if (picked.length === 0 || picked.length > maxApplied)
    throw invalidField('models', `1 to ${maxApplied} models with a price to apply`);
  const records = directory.changedPrices();
  const lastOf = (model: string): Position => records.get(model)?.position ?? beginning;
  const changed = picked.filter(({ model }) => lastOf(model) > seenAt).map(({ model }) => model);
  if (changed.length > 0) throw new Failure('price-changed', { field: named(changed), position: Number(seenAt) });
  const changes = picked.map(({ model, periods }) => ({ model, periods, seenAt: lastOf(model) }));
  const { position } = await (by === null ? handle : handle.by(by))(optionDecider, streams.options, {
    type: 'ChangeModelPrices',
    ...{ changes, origin, by: by?.id ?? null },
  });
  return { position, applied: picked.length };
}

/** What was seen, as far as it is still so. */
async function seen(
  { ports: { directory }, sources, differencesOf }: Updating,
  { source: name, reading: id, seenAt }: SeenDifferences,
): Promise<PresentDifferences> {
  checkText('reading', id, searchText);
  const source = sources.named(name);
  const reading = await sources.readingOf(source);
  if (reading.id !== id) throw new Failure('price-list-changed');
  const option = changedPriceOption(directory, seenAt);
  if (option !== null) throw new Failure('option-changed', { field: option, position: Number(seenAt) });
  return differencesOf(source, reading);
}

async function differencePage(
  { ports, sources, differencesOf }: Updating,
  name: string,
  filter: DifferenceFilter,
  page: PageRequest,
): Promise<DifferencePage> {
  checkFilter(filter);
  const source = sources.named(name);
  const reading = await sources.readingOf(source);
  const { items, skipped, seenAt } = await differencesOf(source, reading);
  const offered = served(ports);
  const found = items.filter(fits(filter, offered));
  const counts = new Map<DifferenceKind, number>();
  for (const { kind, model } of items)
    if (!filter.servedOnly || offered.has(model)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const from = offsetOf(page);
  return {
    items: found.slice(from, from + page.size),
    count: async () => found.length,
    ...{ reading: reading.id, seenAt, counts, skipped },
    applicable: found.filter(({ periods }) => periods !== null).length,
    belowPurchase: found.filter(isBelow).length,
  };
}

async function applyPicked(
  updating: Updating,
  order: SeenDifferences,
  models: readonly string[],
  by: Actor,
): Promise<Applied> {
  checkList('models', models, maxApplied, { max: maxModelNameBytes });
  const wanted = new Set(models);
  const { items } = await seen(updating, order);
  const picked = items.filter(({ model, periods }) => wanted.has(model) && periods !== null);
  if (picked.length !== wanted.size) throw invalidField('models', 'models of this source with a price to apply');
  checkPurchase(picked, order);
  return apply(updating.ports, picked, order.seenAt, { origin: { kind: 'source', name: order.source }, by });
}

interface WholeClass {
  readonly filter: DifferenceFilter;
  /** How many prices to apply were seen. */
  readonly count: number;
}

async function applyClass(
  updating: Updating,
  order: SeenDifferences,
  { filter, count }: WholeClass,
  by: Actor,
): Promise<Applied> {
  checkFilter(filter);
  const { items } = await seen(updating, order);
  const picked = items.filter(fits(filter, served(updating.ports))).filter(({ periods }) => periods !== null);
  if (picked.length !== count) throw new Failure('price-list-changed');
  checkPurchase(picked, order);
  return apply(updating.ports, picked, order.seenAt, { origin: { kind: 'source', name: order.source }, by });
}

async function updateUnasked({ ports, sources, differencesOf }: Updating, source: PriceSourceSetting): Promise<number> {
  const reading = await sources.fetch(source);
  if (source.apply === 'never') return 0;
  const { items, seenAt } = await differencesOf(source, reading);
  const picked = items.filter(appliesUnasked).slice(0, maxApplied);
  if (picked.length === 0) return 0;
  const origin = { kind: 'source', name: source.name, unasked: true } as const;
  await apply(ports, picked, seenAt, { origin, by: null });
  return picked.length;
}

/** What a group pays over the source's price, by group. */
function groupMargins({ directory }: PriceUpdatePorts, margin: string): readonly GroupMargin[] {
  const factor = decimal(margin);
  return [...directory.settings().prices.groupRatio].map(([group, ratio]) => ({
    group,
    margin: decimalText(times(factor, decimal(ratio))),
  }));
}

interface GroupMargin {
  readonly group: string;
  readonly margin: string;
}

export function priceUpdates(ports: PriceUpdatePorts) {
  const sources = new PublishedSources(ports);
  const updating: Updating = { ports, sources, differencesOf: differenceReader(ports) };
  return {
    /** Sources that are configured, and the file that was given last. */
    priceSources(actor: Actor): readonly PriceSourceView[] {
      authorise(actor, 'root');
      return sources.all();
    },

    groupMargins(actor: Actor, margin: string): readonly GroupMargin[] {
      authorise(actor, 'root');
      return groupMargins(ports, margin);
    },

    /** Sorted by model. Throws `price-source-unknown`, and what reading throws where it was not read here before. */
    async priceDifferences(actor: Actor, name: string, filter: DifferenceFilter, page: PageRequest) {
      authorise(actor, 'root');
      return differencePage(updating, name, filter, page);
    },

    /** Throws `price-source-failed`, `price-list-unreadable`; the source's state shows it afterwards too. */
    async fetchPriceSource(actor: Actor, name: string): Promise<PriceSourceView> {
      authorise(actor, 'root');
      await sources.fetch(sources.named(name, 'name'));
      return sources.named(name);
    },

    /** Throws `price-list-unreadable`. */
    async readPublishedFile(actor: Actor, order: FileOrder): Promise<PriceSourceView> {
      authorise(actor, 'root');
      return sources.readFile(order);
    },

    /**
     * All of these models or none. Throws `price-list-changed` where the source was read anew since, `price-changed`
     * and `option-changed` where a price was changed since, naming it; `price-below-purchase` where some group would pay
     * less than the source takes and the order does not say that it may.
     */
    async applyPrices(actor: Actor, order: SeenDifferences, models: readonly string[]): Promise<Applied> {
      authorise(actor, 'root');
      return applyPicked(updating, order, models, actor);
    },

    /** The same for everything that the filter finds. */
    async applyAllPrices(actor: Actor, order: SeenDifferences, whole: WholeClass): Promise<Applied> {
      authorise(actor, 'root');
      return applyClass(updating, order, whole, actor);
    },

    /** Fetches a source by the clock, and applies what it may. How many prices it changed. */
    updateUnasked: (source: PriceSourceSetting) => updateUnasked(updating, source),

    /** Those that are fetched by the clock, and when each was tried last. */
    dailySources: () =>
      sources
        .configured()
        .filter(({ daily }) => daily)
        .map((source) => ({ source, triedAt: sources.triedAt(source.name) })),
  };
}

export type PriceUpdates = ReturnType<typeof priceUpdates>;
