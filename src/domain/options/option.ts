import { beginning, type Position } from '../events/events.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure, invalidField } from '../kernel/failure.js';
import type { SecretId, UserId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import type { PricePeriods } from '../pricing/records/model-price.js';
import { type PriceRecords, pricePeriodAt } from '../pricing/records/price-records.js';
import { isLegacyPriceMap, legacyWrite, showsRecord, viewsChangedBy } from './legacy-prices.js';
import { optionDefinition, prerequisiteOf } from './option-table.js';
import { type BuiltInMap, pinnedEntries, type StoredMap } from './pinned-entries.js';

/*
 * What an operator configures the gateway with: the key/value store of options, and the price table. Stream `options`:
 * the maps of prices among the options are a view of the table, so that one order of changes holds for both.
 */

/** A secret option's value lives in the vault; its event names it only. */
export type OptionValue = { readonly text: string } | { readonly secret: SecretId };

export type OptionChanged = {
  type: 'OptionChanged';
  key: string;
  value: OptionValue;
  /** Who changed it; events of earlier releases do not say. */
  by?: UserId;
  /**
   * Of a map with built-in prices, sorted: the names whose entry, or lack of one, holds whatever is built in. The others
   * follow the built-in table. Left out: all names are pinned, as in events of earlier releases.
   */
  pinned?: readonly string[];
};

/** Where a change of prices came from. */
export type PriceChangeOrigin =
  | { readonly kind: 'editor' | 'import' }
  /** An option of the older clients was written. */
  | { readonly kind: 'option'; readonly key: string }
  /** A source of price updates, by its name. `unasked`: nobody picked it. */
  | { readonly kind: 'source'; readonly name: string; readonly unasked?: true }
  /** An earlier change was taken back. */
  | { readonly kind: 'revert'; readonly position: Position };

export type ModelPricesChanged = {
  type: 'ModelPricesChanged';
  /** null: the table says nothing of the model any more; options and built-in prices do. */
  changes: readonly { readonly model: string; readonly periods: PricePeriods | null }[];
  origin: PriceChangeOrigin;
  /** Left out: nobody did, a source was applied by itself. */
  by?: UserId;
};

export type OptionEvent = OptionChanged | ModelPricesChanged;

interface ModelPriceChange {
  readonly model: string;
  readonly periods: PricePeriods | null;
  /** The change of this model's record that whoever gives the order has seen last, `beginning` for none; null: any. */
  readonly seenAt: Position | null;
}

export type OptionCommand =
  | {
      type: 'ChangeOption';
      key: string;
      value: OptionValue;
      by: UserId;
      /** The change of this option that whoever gives the order has seen last, `beginning` for none; null: any. */
      seenAt?: Position | null;
      /** Of records with dates, those of this instant are changed. Left out: it is no map of prices. */
      at?: Instant;
      /** When the map was read that is written back; left out: nobody knows. */
      readAt?: Instant;
      /** Left out: nothing is built in that changes by itself. */
      builtIn?: BuiltInMap;
      /** Nothing is pinned any more: `value` is what is built in. */
      isReset?: true;
    }
  | {
      type: 'ChangeModelPrices';
      /** Each model once. */
      changes: readonly ModelPriceChange[];
      origin: PriceChangeOrigin;
      /** null: nobody. */
      by: UserId | null;
    };

type Options = {
  readonly values: ReadonlyMap<string, OptionValue>;
  /** By map with built-in prices; see `OptionChanged`. */
  readonly pinned: ReadonlyMap<string, readonly string[]>;
  /** The last change of what each shows: its own, or of a record that shows itself in it. */
  readonly changedAt: ReadonlyMap<string, Position>;
  readonly prices: PriceRecords;
  /** By model, the last change of its record, also one that took it out. */
  readonly pricedAt: ReadonlyMap<string, Position>;
};

const same = (a: OptionValue | undefined, b: OptionValue): boolean =>
  a !== undefined && 'text' in a && 'text' in b && a.text === b.text;

const isFilled = (values: Options['values'], key: string): boolean => {
  const value = values.get(key) ?? { text: optionDefinition(key)?.initial ?? '' };
  return 'secret' in value || value.text.trim() !== '';
};

/** Options nobody here knows are kept for clients that do; each of them stays for ever. */
const maxForeignOptions = 200;

const foreign = (values: Options['values']): number =>
  [...values.keys()].filter((key) => optionDefinition(key) === null).length;

const samePeriods = (one: PricePeriods | null, other: PricePeriods | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Events of a size that every reader can hold. */
const maxChangesInEvent = 100;

function pricesChanged(
  changes: ModelPricesChanged['changes'],
  origin: PriceChangeOrigin,
  by: UserId | null,
): ModelPricesChanged[] {
  const events: ModelPricesChanged[] = [];
  for (let first = 0; first < changes.length; first += maxChangesInEvent) {
    const part = changes.slice(first, first + maxChangesInEvent);
    events.push({ type: 'ModelPricesChanged', changes: part, origin, ...(by === null ? {} : { by }) });
  }
  return events;
}

function changePrices(
  { changes, origin, by }: Extract<OptionCommand, { type: 'ChangeModelPrices' }>,
  { prices, pricedAt }: Options,
): ModelPricesChanged[] {
  for (const { model, seenAt } of changes) {
    const position = pricedAt.get(model) ?? beginning;
    if (seenAt !== null && seenAt !== position)
      throw new Failure('price-changed', { field: model, position: Number(position) });
  }
  const changed = changes.filter(({ model, periods }) => !samePeriods(prices.get(model) ?? null, periods));
  if (prices.size + changed.length > maxRecords) checkCount(prices, changed);
  return pricesChanged(
    changed.map(({ model, periods }) => ({ model, periods })),
    origin,
    by,
  );
}

/** Every node holds them all in memory. */
const maxRecords = 10_000;

function checkCount(prices: PriceRecords, changes: readonly ModelPriceChange[]): void {
  const models = new Set(prices.keys());
  for (const { model, periods } of changes) if (periods !== null) models.add(model);
  if (models.size > maxRecords) throw invalidField('changes', `at most ${maxRecords} models with a record`);
}

/** Whether another period held of a record when the map was read that would change it. */
const isOfOtherPeriod = (
  recorded: ModelPricesChanged['changes'],
  prices: PriceRecords,
  { at, readAt }: { readonly at: Instant; readonly readAt: Instant },
): boolean =>
  recorded.some(({ model }) => {
    const periods = prices.get(model) ?? [];
    return pricePeriodAt(periods, at) !== pricePeriodAt(periods, readAt);
  });

/** The last change of what a map of prices shows may be given as later than it was, for a node may not know it exactly. */
const isStale = (key: string, seenAt: Position, position: Position): boolean =>
  isLegacyPriceMap(key) ? seenAt < position : seenAt !== position;

function storedMap({ values, pinned }: Options, key: string): StoredMap | null {
  const value = values.get(key);
  const names = pinned.get(key);
  if (value === undefined || !('text' in value)) return null;
  return names === undefined ? value : { text: value.text, pinned: names };
}

/** undefined: all of what is written is. */
function pinnedBy(
  { key, value, at, builtIn, isReset }: Extract<OptionCommand, { type: 'ChangeOption' }>,
  state: Options,
): readonly string[] | undefined {
  if (builtIn === undefined || !('text' in value)) return undefined;
  if (isReset) return [];
  const isRecorded = (model: string): boolean => at !== undefined && showsRecord(key, model, state.prices, at);
  return pinnedEntries({ text: value.text, before: storedMap(state, key), builtIn, isRecorded });
}

const sameNames = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

function changeOption(command: Extract<OptionCommand, { type: 'ChangeOption' }>, state: Options): OptionEvent[] {
  const { key, value, by, seenAt = null, at, readAt } = command;
  const { values, changedAt, prices } = state;
  const recorded = at !== undefined && 'text' in value ? legacyWrite(key, value.text, prices, at) : [];
  const pinned = pinnedBy(command, state);
  // Somebody else wanted the same: nobody's change is lost.
  const isSame = same(values.get(key), value) && sameNames(state.pinned.get(key), pinned);
  if (isSame && recorded.length === 0) return [];
  const position = changedAt.get(key) ?? beginning;
  if (seenAt !== null && isStale(key, seenAt, position))
    throw new Failure('option-changed', { field: key, position: Number(position) });
  if (at !== undefined && readAt !== undefined && isOfOtherPeriod(recorded, prices, { at, readAt }))
    throw new Failure('option-changed', { field: key, position: Number(position) });
  const needed = 'text' in value && value.text === 'true' ? prerequisiteOf(key) : null;
  if (needed !== null && !isFilled(values, needed))
    throw new Failure('option-prerequisite-missing', { field: key, needed });
  if (!values.has(key) && optionDefinition(key) === null && foreign(values) >= maxForeignOptions)
    throw invalidField(
      'key',
      `the name of a known option: the limit of ${maxForeignOptions} unknown options is reached`,
    );
  const changed: OptionEvent[] = isSame
    ? []
    : [{ type: 'OptionChanged', key, value, by, ...(pinned === undefined ? {} : { pinned }) }];
  return [...changed, ...pricesChanged(recorded, { kind: 'option', key }, by)];
}

function withPrices(
  { prices, pricedAt, changedAt, ...rest }: Options,
  changes: ModelPricesChanged['changes'],
  position: Position,
): Options {
  const records = new Map(prices);
  const positions = new Map(pricedAt);
  const shown = new Map(changedAt);
  for (const { model, periods } of changes) {
    for (const key of viewsChangedBy(records.get(model) ?? null, periods)) shown.set(key, position);
    if (periods === null) records.delete(model);
    else records.set(model, periods);
    positions.set(model, position);
  }
  return { ...rest, changedAt: shown, prices: records, pricedAt: positions };
}

function withPinned(before: Options['pinned'], { key, pinned }: OptionChanged): Options['pinned'] {
  if (pinned === undefined && !before.has(key)) return before;
  const names = new Map(before);
  if (pinned === undefined) names.delete(key);
  else names.set(key, pinned);
  return names;
}

export const optionDecider: Decider<Options, OptionCommand, OptionEvent> = {
  initial: { values: new Map(), pinned: new Map(), changedAt: new Map(), prices: new Map(), pricedAt: new Map() },
  decide(command, state) {
    switch (command.type) {
      case 'ChangeOption':
        return changeOption(command, state);
      case 'ChangeModelPrices':
        return changePrices(command, state);
      default:
        return assertNever(command);
    }
  },
  evolve(state, event, { position } = { position: beginning }) {
    switch (event.type) {
      case 'OptionChanged':
        return {
          ...state,
          values: new Map(state.values).set(event.key, event.value),
          pinned: withPinned(state.pinned, event),
          changedAt: new Map(state.changedAt).set(event.key, position),
        };
      case 'ModelPricesChanged':
        return withPrices(state, event.changes, position);
      default:
        return assertNever(event);
    }
  },
};
