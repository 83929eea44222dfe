import type { Position } from '../../domain/events/events.js';
import { decimal, isDecimal, isSame } from '../../domain/kernel/decimal.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { recordedPriceOf } from '../../domain/pricing/price-tables.js';
import type { Price, TokenPrice } from '../../domain/pricing/pricing.js';
import type { ModelPrice } from '../../domain/pricing/records/model-price.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { optionHistory, optionTextsBefore } from '../../projections/models/option-history.js';
import { type PriceChangeRow, priceChanges, priceHistory } from '../../projections/models/price-history.js';
import { mayDo } from '../authorise.js';
import type { ReadModelProgress } from '../ports/storage-ports.js';
import { type PriceFactor, priceFactors } from './price-factors.js';

/* Who set the factors of a price, and when: read from what has become of the options before the call. */

export interface PriceOrigin extends Pick<PriceFactor, 'factor' | 'value' | 'option' | 'entry'> {
  /** It stands in the record of the model in the price table; `option` is null then. */
  readonly inRecord: boolean;
  /**
   * The change by which the option came to hold it. `built-in`: no change did. `unknown`: the history is being built,
   * does not say, or says it further back than is looked.
   */
  readonly setBy: PriceChange | 'built-in' | 'unknown';
}

interface PriceChange {
  readonly at: Instant;
  /** For root, like the history itself; null: for others, or it was not recorded. */
  readonly by: UserId | null;
  /** null: not for this viewer. */
  readonly position: Position | null;
}

interface PriceOriginPorts {
  readonly db: ReadModels;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
}

/** Priced by what stood there at that place in the log. */
interface PricedCall {
  readonly price: Price;
  readonly model: string;
  readonly group: string;
  readonly position: Position;
}

const patienceMs = 500;
/** Changes of one option that are looked at, and how long their texts may be together. */
const changesRead = 20;
const maxTextLength = 131_072;

/** Changes of one record that are looked at: the node may not have heard of the newest when it priced the call. */
const recordsRead = 5;

interface PricedBy {
  readonly change: PriceChangeRow;
  readonly period: ModelPrice;
}

/** In whatever order they are named. */
function sameRatios(one: TokenPrice['ratios'], other: TokenPrice['ratios']): boolean {
  const names = Object.keys(one) as (keyof TokenPrice['ratios'])[];
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** Whether the record makes this price, whatever is multiplied and added for the call. */
function isPriceOf(record: ModelPrice, model: string, price: Price): boolean {
  const { group } = price;
  const made = recordedPriceOf(record, model, { group, quotaPerUnit: '1' });
  if (made.per === 'call') return price.per === 'call' && made.price === price.price;
  if (price.per === 'call') return false;
  return made.model === price.model && sameRatios(made.ratios, price.ratios);
}

const ofOptions: ReadonlySet<PriceOrigin['factor']> = new Set(['group', 'quotaPerUnit']);

/** Tiers of service and tools stand in options where the record says nothing of them. */
function isOfRecord(factor: PriceOrigin['factor'], { period: { serviceTiers, pieces } }: PricedBy): boolean {
  if (ofOptions.has(factor)) return false;
  if (factor.startsWith('service:')) return serviceTiers !== undefined;
  return !factor.startsWith('calls:') || Object.hasOwn(pieces ?? {}, factor);
}

const isValue = (found: string | null, wanted: string): boolean =>
  found !== null && isDecimal(found) && isSame(decimal(found), decimal(wanted));

/** What a text made of the factor; null where it cannot be read, as an earlier release may have stored it. */
function valueIn(source: PriceFactor, text: string | null): string | null {
  if (text === null) return null;
  try {
    return source.valueIn(text);
  } catch {
    return null;
  }
}

/** Without the entries that only follow what is built in; null: it is too long, or a secret. */
function statedText({ text, pinned }: { readonly text: string | null; readonly pinned: string | null }): string | null {
  if (text === null || pinned === null) return text;
  const names = new Set(JSON.parse(pinned) as string[]);
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).filter(([name]) => names.has(name))));
}

/** With who has set them, and where in the log: what of it somebody may see is for the caller to decide. */
export function priceOrigins({ db, progress }: PriceOriginPorts) {
  const originOf = async (source: PriceFactor, before: Position): Promise<PriceOrigin['setBy']> => {
    if (source.option === null) return 'built-in';
    const changes = await optionTextsBefore(db, source.option, before, { max: changesRead, maxLength: maxTextLength });
    const stated = changes.map((change) => valueIn(source, statedText(change)));
    if (changes[0] !== undefined && changes[0].pinned !== null && stated[0] === null) return 'built-in';
    const holds = stated.map((value) => isValue(value, source.value));
    // The node may not yet have heard of the newest ones when it priced the call.
    const newest = holds.indexOf(true);
    if (newest < 0) return changes.length < changesRead ? 'built-in' : 'unknown';
    const end = holds.indexOf(false, newest);
    const since = changes[(end < 0 ? holds.length : end) - 1];
    if (since === undefined || (end < 0 && changes.length === changesRead)) return 'unknown';
    return { at: since.at, by: since.by_user, position: since.position };
  };

  /** The record that the call was priced by; null: by none. */
  const recordOf = async ({ price, model, position }: Omit<PricedCall, 'group'>): Promise<PricedBy | null> => {
    const before = { position, model: '' };
    for (const change of await priceChanges(db, { model, before, max: recordsRead })) {
      const period = change.periods?.find((one) => isPriceOf(one, model, price));
      if (period !== undefined) return { change, period };
    }
    return null;
  };

  return async ({ price, model: called, group, position }: PricedCall): Promise<readonly PriceOrigin[]> => {
    const model = price.like ?? called;
    const isUpToDate = await progress.reached(position, patienceMs, [optionHistory.name, priceHistory.name]);
    const record = isUpToDate ? await recordOf({ price, model, position }) : null;
    const origins: PriceOrigin[] = [];
    // One after the other: the texts of each may be large.
    for (const source of priceFactors(price, model, group)) {
      const { factor, value, option, entry } = source;
      if (record !== null && isOfRecord(factor, record)) {
        const { at, by_user: by, position } = record.change;
        origins.push({
          factor,
          value,
          option: null,
          entry: model,
          inRecord: true,
          setBy: { at, by, position },
        });
        continue;
      }
      const setBy = isUpToDate || option === null ? await originOf(source, position) : 'unknown';
      origins.push({ factor, value, option, entry, inRecord: false, setBy });
    }
    return origins;
  };
}

/** As a viewer may see them: by whom, and by which event, is for root and auditors. */
export function disclosedPriceOrigins(ports: PriceOriginPorts) {
  const originsOf = priceOrigins(ports);
  return async (viewer: Actor, call: PricedCall): Promise<readonly PriceOrigin[]> => {
    const origins = await originsOf(call);
    if (mayDo(viewer, 'root-reading')) return origins;
    return origins.map((origin) =>
      typeof origin.setBy === 'string'
        ? origin
        : { ...origin, setBy: { at: origin.setBy.at, by: null, position: null } },
    );
  };
}
