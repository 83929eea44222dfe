import {
  add,
  type Decimal,
  decimal,
  decimalText,
  isNegative,
  isZero,
  larger,
  negative,
  times,
} from '../kernel/decimal.js';
import type { Instant } from '../kernel/instant.js';
import { type Amounts, countsOf, isNothing, lessBy, type Measure, noAmounts, onlyOf } from './amounts.js';
import { costParts, countParts, doubted, restOf } from './explained.js';
import type { Difference, DifferenceClass, ExportRow, OwnCall, OwnDoubt } from './sides.js';

/* Rows of one call each: paired by request id, else by model, time and tokens. */

export interface CallRules {
  readonly model: string;
  readonly skewMs: number;
  readonly told: ReadonlySet<Measure>;
  readonly perRow: Decimal;
}

export interface Pairing {
  readonly row: ExportRow;
  readonly call: OwnCall;
}

const isWithin = (at: Instant, { begun, ended }: Pick<OwnCall, 'begun' | 'ended'>, skewMs: number): boolean =>
  at >= begun - skewMs && at <= ended + skewMs;

/** Calls that could be meant, in the order of their ends, each taken once. */
class Waiting {
  private readonly calls: OwnCall[];
  private readonly taken = new Set<OwnCall>();
  /** All before it are taken. */
  private first = 0;

  constructor(calls: readonly OwnCall[]) {
    this.calls = [...calls].sort((a, b) => a.ended - b.ended);
  }

  /** Of those that fit, the one that ended first: rows that come later may need the others. */
  take(at: Instant, skewMs: number, isFitting: (call: OwnCall) => boolean = () => true): OwnCall | null {
    while (this.first < this.calls.length && this.isPassed(this.calls[this.first], at, skewMs)) this.first += 1;
    for (let index = this.first, tried = 0; index < this.calls.length && tried < maxTried; index++) {
      const call = this.calls[index] as OwnCall;
      if (this.taken.has(call)) continue;
      tried += 1;
      if (!isWithin(at, call, skewMs) || !isFitting(call)) continue;
      this.taken.add(call);
      return call;
    }
    return null;
  }

  /** Rows come in the order of time. */
  private isPassed(call: OwnCall | undefined, at: Instant, skewMs: number): boolean {
    return call !== undefined && (this.taken.has(call) || call.ended + skewMs < at);
  }

  left(): OwnCall[] {
    return this.calls.filter((call) => !this.taken.has(call));
  }
}

const maxTried = 2_000;

/** Rows and calls of one model, none of which has been paired by its id. */
export function pairedByTime(
  rows: readonly ExportRow[],
  calls: readonly OwnCall[],
  { told, skewMs }: Pick<CallRules, 'told' | 'skewMs'>,
): { readonly pairs: Pairing[]; readonly rows: ExportRow[]; readonly calls: OwnCall[] } {
  const counts = (amounts: Amounts) => countsOf(onlyOf(amounts, told));
  const pairs: Pairing[] = [];
  const byTokens = new Map<string, Waiting>();
  const name = (amounts: Amounts) => Object.values(counts(amounts)).map(decimalText).join();
  for (const [key, same] of groupedBy(calls, ({ amounts }) => name(amounts))) byTokens.set(key, new Waiting(same));
  const unpaired: ExportRow[] = [];
  for (const row of [...rows].sort((a, b) => a.from - b.from)) {
    const call = byTokens.get(name(row.amounts))?.take(row.from, skewMs) ?? null;
    if (call === null) unpaired.push(row);
    else pairs.push({ row, call });
  }
  const left = new Waiting([...byTokens.values()].flatMap((waiting) => waiting.left()));
  const without = unpaired.filter((row) => {
    const call = left.take(row.from, skewMs, ({ amounts }) => isNear(counts(row.amounts), counts(amounts)));
    if (call !== null) pairs.push({ row, call });
    return call === null;
  });
  return { pairs, rows: without, calls: left.left() };
}

export function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const half = decimal('0.5');

const isHalfOf = (a: Decimal, b: Decimal): boolean => {
  const more = larger(a, b);
  const less = more === a ? b : a;
  return !isNegative(add(less, negative(times(more, half))));
};

/** So much alike that one call was counted in two ways: tokens of one side are the same, or both are of one size. */
const isNear = (a: Amounts, b: Amounts): boolean => {
  const isSame = (measure: Measure) => isZero(add(a[measure], negative(b[measure])));
  if (isSame('prompt') || isSame('output')) return true;
  return isHalfOf(a.prompt, b.prompt) && isHalfOf(a.output, b.output);
};

interface Place {
  readonly model: string;
  readonly from: Instant;
  readonly to: Instant;
  readonly line: number | null;
  readonly requestIds: readonly string[];
}

const at = (place: Place, parts: readonly { class: DifferenceClass; amounts: Amounts }[]): Difference[] =>
  parts.map((part) => ({ ...part, ...place }));

/** What the two sides of a call differ by. */
export function comparePair({ row, call }: Pairing, doubts: readonly OwnDoubt[], rules: CallRules): Difference[] {
  const compared = call.hasCost ? rules.told : uncosted(rules.told);
  const apart = onlyOf(lessBy(row.amounts, call.amounts), compared);
  if (isNothing(apart)) return [];
  const place = {
    model: rules.model,
    from: row.from,
    to: row.to,
    line: row.line,
    requestIds: [call.requestId],
  };
  const settle = { rates: compared.has('cost') ? call.rates : null, tolerance: rules.perRow };
  const inDoubt = doubted(apart, doubts, true);
  if (inDoubt === null) return at(place, countParts('tokens', apart, settle));
  const rest = restOf(apart, [inDoubt.part]);
  const parts = isNothing(countsOf(rest)) ? costParts(rest.cost, rules.perRow) : countParts('tokens', rest, settle);
  return at(place, [inDoubt.part, ...parts]);
}

export const uncosted = (told: ReadonlySet<Measure>): ReadonlySet<Measure> =>
  new Set([...told].filter((measure) => measure !== 'cost'));

/** A row that no call here stands for; `doubts`: that could be it. */
export function compareRow(
  row: ExportRow,
  doubts: readonly OwnDoubt[],
  { model, told, skewMs }: CallRules,
): { readonly differences: Difference[]; readonly doubt: OwnDoubt | null } {
  const amounts = onlyOf(row.amounts, told);
  const place = { model, from: row.from, to: row.to, line: row.line };
  const near = doubts.filter((doubt) => isWithin(row.from, doubt, skewMs));
  for (const doubt of near) {
    const explained = doubted(amounts, [doubt], told.has('calls'));
    if (explained === null || !isNothing(restOf(amounts, [explained.part]))) continue;
    return { differences: at({ ...place, requestIds: [doubt.requestId] }, [explained.part]), doubt };
  }
  return { differences: at({ ...place, requestIds: [] }, [{ class: 'missing-here', amounts }]), doubt: null };
}

/** A call that the export does not have. */
export function compareCall(call: OwnCall, { model, told }: CallRules): Difference[] {
  const compared = call.hasCost ? told : uncosted(told);
  const amounts = onlyOf(lessBy(noAmounts, call.amounts), compared);
  const place = { model, from: call.begun, to: call.ended, line: null, requestIds: [call.requestId] };
  return at(place, [{ class: 'missing-there', amounts }]);
}
