import { type Decimal, decimal, decimalText, larger, quotient } from '../../kernel/decimal.js';
import { Failure } from '../../kernel/failure.js';
import type { Instant } from '../../kernel/instant.js';
import { billedName, type PriceTables, withoutNearest } from '../price-tables.js';
import type { ModelPrice, PricePeriods } from '../records/model-price.js';
import { type PriceRecords, pricePeriodAt, startOfDay } from '../records/price-records.js';
import { readPricePeriods } from '../records/read-model-price.js';
import { isPricedBy } from '../records/recorded-price.js';
import type { Steps } from './list-json.js';
import { groupsBelow, type MarginRule, marginOf, soldAt } from './margin-rule.js';
import { type PriceView, priceView, ratioBetween, tokenName } from './price-view.js';
import { type PresentPrice, proposedPrice } from './proposed-price.js';
import type { PublishedPrice, PublishedPrices, SkippedModel } from './published-price.js';

/* What a price list would change, model by model, if it were applied. */

const differenceKinds = ['new', 'dearer', 'cheaper', 'other-kind', 'gone', 'same'] as const;
export type DifferenceKind = (typeof differenceKinds)[number];

/**
 * Why a change waits for a person. `beyond-bounds`: it moves further than a price may by itself. `to-zero`: something
 * would cost nothing. `new-model`, `new-quantity`: it had no price. `other-kind`: from tokens to calls or back.
 * `set-by-hand`: a person has set the present price. `below-purchase`: some group would pay less than the source takes.
 */
const cautions = [
  ...(['beyond-bounds', 'to-zero', 'new-model', 'new-quantity', 'other-kind', 'set-by-hand'] as const),
  'below-purchase',
] as const;
export type Caution = (typeof cautions)[number];

/** One amount of a price, under its name in a PriceView; null: it has none. */
export interface PriceMove {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The day from which it holds; null: at once. */
  readonly from: string | null;
}

export interface PriceDifference {
  readonly model: string;
  readonly vendor: string | null;
  readonly kind: DifferenceKind;
  readonly moves: readonly PriceMove[];
  /** The largest of its moves, as a factor above 1; null: nothing can be compared. */
  readonly factor: string | null;
  /** What the record would be; null: nothing is proposed. */
  readonly periods: PricePeriods | null;
  /** Of the selling price over that of the source. */
  readonly margin: string;
  /** Groups that would pay less than the source takes. */
  readonly groupsBelow: readonly string[];
  readonly isFree: boolean;
  readonly unread: readonly string[];
  readonly cautions: readonly Caution[];
}

export interface ComparingTerms {
  readonly tables: PriceTables;
  /** What is announced, by ascending day. */
  readonly coming: readonly { readonly from: Instant; readonly tables: PriceTables }[];
  /** All records, whenever they hold. */
  readonly records: PriceRecords;
  readonly at: Instant;
  readonly margin: MarginRule;
  /** By how much a price may move by itself, either way: a factor above 1. */
  readonly bound: string;
  /** Models whose present record this source has given. */
  readonly fromSource: ReadonlySet<string>;
  readonly setByHand: ReadonlySet<string>;
  /**
   * Of models whose present record was applied by itself: what somebody had stated last; null: nothing. What moves by
   * itself day after day stays within the bound of that.
   */
  readonly approved?: ReadonlyMap<string, PricePeriods | null>;
}

export interface PriceDifferences {
  readonly items: readonly PriceDifference[];
  readonly skipped: readonly SkippedModel[];
}

const unit = decimal('1');

const amountOf = (view: PriceView | null, name: string): Decimal | null => {
  const stated = view?.amounts.get(name);
  if (stated !== undefined || view === null) return stated ?? null;
  const token = tokenName(name);
  return token === null ? null : view.kind(token.kind, token.over);
};

const nothingMoved = '1';

/** Also where they are nearer than a millionth: ratios of the built-in tables are rounded. */
function isEqual(before: Decimal | null, after: Decimal | null): boolean {
  if (before === null || after === null) return before === after;
  const factor = ratioBetween(before, after);
  return factor === null ? before.digits === after.digits : decimalText(factor) === nothingMoved;
}

const shownPlaces = 10;

const textOf = (amount: Decimal | null): string | null =>
  amount === null ? null : decimalText(amount.scale > shownPlaces ? quotient(amount, unit, shownPlaces) : amount);

function movesBetween(before: PriceView | null, after: PriceView | null, from: string | null): PriceMove[] {
  const names = new Set([...(before?.amounts.keys() ?? []), ...(after?.amounts.keys() ?? [])]);
  const moves: PriceMove[] = [];
  for (const name of names) {
    const was = amountOf(before, name);
    const is = amountOf(after, name);
    if (!isEqual(was, is)) moves.push({ name, before: textOf(was), after: textOf(is), from });
  }
  return moves;
}

interface LargestMove {
  readonly factor: Decimal;
  readonly isUp: boolean;
}

function largestOf(moves: readonly PriceMove[]): LargestMove | null {
  let largest: LargestMove | null = null;
  for (const { before, after } of moves) {
    if (before === null || after === null) continue;
    const factor = ratioBetween(decimal(before), decimal(after));
    if (factor === null || (largest !== null && larger(factor, largest.factor) === largest.factor)) continue;
    largest = { factor, isUp: Number(after) > Number(before) };
  }
  return largest;
}

const isBeyond = (factor: Decimal, bound: string): boolean => {
  const max = decimal(bound);
  return larger(factor, max) !== max && decimalText(factor) !== decimalText(max);
};

interface Sides {
  readonly before: PriceView | null;
  readonly after: PriceView | null;
}

/** `bound`: by how much it may move by itself. */
function cautionsFor(
  { before, after }: Sides,
  moves: readonly PriceMove[],
  largest: LargestMove | null,
  bound: string,
): Caution[] {
  const found: Caution[] = [];
  if (before === null) found.push('new-model');
  else if (before.per !== after?.per) found.push('other-kind');
  else if (moves.some((move) => move.before === null || move.after === null)) found.push('new-quantity');
  if (largest !== null && isBeyond(largest.factor, bound)) found.push('beyond-bounds');
  // What costs nothing now has no factor to be bounded by.
  const isFree = (amount: string | null): boolean => amount !== null && decimal(amount).digits === 0n;
  if (moves.some((move) => isFree(move.after))) found.push('to-zero');
  else if (moves.some((move) => isFree(move.before))) found.push('beyond-bounds');
  return [...new Set(found)];
}

function kindOf({ before, after }: Sides, moves: readonly PriceMove[], largest: LargestMove | null): DifferenceKind {
  if (before === null) return 'new';
  if (before.per !== after?.per) return 'other-kind';
  if (moves.length === 0) return 'same';
  if (largest !== null) return largest.isUp ? 'dearer' : 'cheaper';
  const isLess = moves.some((move) => move.after === null || Number(move.after) < Number(move.before ?? 0));
  return isLess ? 'cheaper' : 'dearer';
}

/** What each day's tables would be with what is proposed. */
class ProposedTables {
  private readonly byDay = new Map<string, { before: PriceTables; after: PriceTables }>();
  readonly proposed = new Map<string, PricePeriods>();
  /** See `approved` of the terms. */
  readonly approved: PriceTables;

  constructor(private readonly terms: ComparingTerms) {
    this.approved = approvedTables(terms);
  }

  /** '': today. */
  sides(day: string): { readonly before: PriceTables; readonly after: PriceTables } {
    const known = this.byDay.get(day);
    if (known !== undefined) return known;
    const { tables, coming, at } = this.terms;
    const instant = day === '' ? at : startOfDay(day);
    const before = coming.findLast(({ from }) => from <= instant)?.tables ?? tables;
    const records = new Map(before.records);
    for (const [model, periods] of this.proposed) {
      const price = pricePeriodAt(periods, instant);
      if (price !== null) records.set(model, price);
    }
    const made = { before, after: { ...before, records } };
    this.byDay.set(day, made);
    return made;
  }
}

/** The present tables as if nothing had been applied by itself. */
function approvedTables({ tables, approved = new Map(), at }: ComparingTerms): PriceTables {
  if (approved.size === 0) return tables;
  const records = new Map(tables.records);
  for (const [model, periods] of approved) {
    const price = periods === null ? null : pricePeriodAt(periods, at);
    if (price === null) records.delete(model);
    else records.set(model, price);
  }
  return { ...tables, records };
}

const plainRecord: ModelPrice = { tokens: { input: { usd: '2' } } };

/** Periods that an operator has announced go on where the list announces none. */
function withAnnounced(periods: PricePeriods, records: PricePeriods | undefined, at: Instant): PricePeriods {
  if (periods.length > 1) return periods;
  const announced = (records ?? []).filter(({ from }) => from !== undefined && startOfDay(from) > at);
  return [...periods, ...announced];
}

const skippedBy = (model: string, error: unknown): SkippedModel => {
  if (!(error instanceof Failure)) throw error;
  return { model, reason: 'too-large', member: String(error.details.field ?? '') };
};

const modelsPerStep = 10;

/** Proposals for all models that the list prices. */
function* proposals(
  { form, models }: PublishedPrices,
  terms: ComparingTerms,
  into: Map<string, PricePeriods>,
  skipped: SkippedModel[],
): Steps<void> {
  const { tables, records, at, margin } = terms;
  const plainTables = { ...tables, records: new Map(models.map(({ model }) => [model, plainRecord])) };
  let count = 0;
  for (const { model, vendor, periods, isFree } of models) {
    if (++count % modelsPerStep === 0) yield;
    if (billedName(model) !== model) {
      skipped.push({ model, reason: 'name-invalid', member: null });
      continue;
    }
    const present: PresentPrice = { tables, plainTables, record: tables.records.get(model) ?? null };
    const factor = marginOf(margin, tables.groupRatio, { model, vendor });
    const made = periods.map((price) => proposedPrice(model, isFree ? price : soldAt(price, factor), present, form));
    if (!made.every(isPricedBy)) {
      skipped.push({ model, reason: 'not-counted', member: null });
      continue;
    }
    try {
      into.set(model, readPricePeriods('periods', withAnnounced(made, records.get(model), at)));
    } catch (error) {
      skipped.push(skippedBy(model, error));
    }
  }
}

function differenceOf(
  published: PublishedPrice,
  periods: PricePeriods,
  days: ProposedTables,
  terms: ComparingTerms,
): PriceDifference {
  const { model, vendor, isFree, unread } = published;
  const viewsOn = (day: string): Sides => {
    const { before, after } = days.sides(day);
    return { before: priceView(before, model), after: priceView(after, model) };
  };
  const now = viewsOn('');
  const moves = movesBetween(now.before, now.after, null);
  const approved = terms.approved?.has(model) === true ? priceView(days.approved, model) : null;
  const drift = approved === null ? [] : movesBetween(approved, now.after, null);
  for (const { from } of periods) {
    if (from === undefined || startOfDay(from) <= terms.at) continue;
    const then = viewsOn(from);
    moves.push(...movesBetween(then.before, then.after, from));
    if (approved !== null) drift.push(...movesBetween(approved, then.after, from));
  }
  const largest = now.before === null ? null : largestOf(moves);
  const kind = kindOf(now, moves, largest);
  const byHand: Caution[] = terms.setByHand.has(model) ? ['set-by-hand'] : [];
  const { groupRatio } = terms.tables;
  const margin = marginOf(terms.margin, groupRatio, published);
  const below = isFree || kind === 'same' ? [] : groupsBelow(terms.margin, groupRatio, margin);
  const belowPurchase: Caution[] = below.length > 0 ? ['below-purchase'] : [];
  return {
    ...{ model, vendor, kind, moves, isFree, unread },
    factor: largest === null ? null : decimalText(largest.factor),
    periods: kind === 'same' ? null : periods,
    ...{ margin, groupsBelow: below },
    cautions:
      kind === 'same'
        ? []
        : [
            ...new Set([
              ...cautionsFor(now, moves, largest, terms.bound),
              ...driftCautions(drift, terms.bound),
              ...byHand,
              ...belowPurchase,
            ]),
          ],
  };
}

/** Of all that has moved by itself since somebody stated the price. */
function driftCautions(drift: readonly PriceMove[], bound: string): Caution[] {
  const largest = largestOf(drift);
  return largest !== null && isBeyond(largest.factor, bound) ? ['beyond-bounds'] : [];
}

const goneModel = (model: string): PriceDifference => ({
  ...{ model, vendor: null, kind: 'gone', moves: [], factor: null, periods: null, margin: '1' },
  ...{ groupsBelow: [], isFree: false, unread: [], cautions: [] },
});

/** Sorted by model. */
export function* priceDifferences(published: PublishedPrices, given: ComparingTerms): Steps<PriceDifferences> {
  // What is priced like another model has no price that could move.
  const terms: ComparingTerms = {
    ...given,
    tables: withoutNearest(given.tables),
    coming: given.coming.map(({ from, tables }) => ({ from, tables: withoutNearest(tables) })),
  };
  const skipped: SkippedModel[] = [...published.skipped];
  const days = new ProposedTables(terms);
  yield* proposals(published, terms, days.proposed, skipped);
  const items: PriceDifference[] = [];
  let count = 0;
  for (const price of published.models) {
    if (++count % modelsPerStep === 0) yield;
    const periods = days.proposed.get(price.model);
    if (periods !== undefined) items.push(differenceOf(price, periods, days, terms));
  }
  const listed = new Set([...published.models, ...published.skipped].map(({ model }) => model));
  for (const model of terms.fromSource) if (!listed.has(model)) items.push(goneModel(model));
  return { items: items.sort((one, other) => (one.model < other.model ? -1 : 1)), skipped };
}

/** Whether it may be applied by itself. */
export const appliesUnasked = ({ periods, cautions: found }: PriceDifference): boolean =>
  periods !== null && found.length === 0;
