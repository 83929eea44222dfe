import { add, type Decimal, isZero, ZERO } from '../kernel/decimal.js';
import { invalidField } from '../kernel/failure.js';
import { Instant } from '../kernel/instant.js';
import { type Amounts, lessBy, type Measure, noAmounts, onlyOf, together } from './amounts.js';
import { modelKey } from './model-key.js';
import type { Difference, DifferenceClass, ExportRow, OwnCall, OwnDoubt } from './sides.js';
import {
  type CallRules,
  compareCall,
  comparePair,
  compareRow,
  groupedBy,
  type Pairing,
  pairedByTime,
  uncosted,
} from './single-calls.js';
import { compareWindow, moveOverBorders, newWindow, type Window, windowStart } from './windows.js';

/*
 * What a provider's export says beside what the log says. Ours and the differences are theirs, in every measure and to the
 * last digit: what is put down to no cause is a difference of its own.
 */

/** Rows, calls and doubts held at once; windows come of rows and calls. */
export const maxHeld = 1_000_000;
const maxDifferences = 10_000;

export interface ReconciliationRules {
  /** null: each row is one call. */
  readonly widthMs: number | null;
  readonly skewMs: number;
  readonly told: ReadonlySet<Measure>;
  readonly perRow: Decimal;
  /** What the export calls a model, and what it is called here. */
  readonly modelNames: ReadonlyMap<string, string>;
  /** What of the export counts; null: what it covers. */
  readonly from: Instant | null;
  readonly to: Instant | null;
}

interface Total {
  readonly ours: Amounts;
  readonly theirs: Amounts;
  readonly differences: Amounts;
}

export interface ReconciliationResult {
  /** What was compared: `to` is not within it. */
  readonly from: Instant;
  readonly to: Instant;
  readonly rows: number;
  /** Rows that are not within it. */
  readonly rowsOutside: number;
  readonly calls: number;
  readonly total: Total;
  /** US dollars of the export beside calls of which nobody knows what they cost: in no total. */
  readonly costNotCompared: Decimal;
  readonly byClass: Readonly<Record<DifferenceClass, { readonly found: number; readonly amounts: Amounts }>>;
  readonly found: number;
  /** Ten thousand at most. */
  readonly differences: readonly Difference[];
}

/** Costs that are off by no more than the tolerance are what rounding leaves, and nothing to look after. */
export const isReconciled = ({ found, byClass }: Pick<ReconciliationResult, 'found' | 'byClass'>): boolean =>
  found === byClass.rounding.found;

/** What names several answers names none. */
function callsByAnswer(calls: readonly OwnCall[]): ReadonlyMap<string, OwnCall> {
  const named = new Map<string, OwnCall | null>();
  for (const call of calls)
    if (call.answerId !== null) named.set(call.answerId, named.has(call.answerId) ? null : call);
  return new Map([...named].flatMap(([id, call]): [string, OwnCall][] => (call === null ? [] : [[id, call]])));
}

const outcome = () => ({ found: 0, amounts: noAmounts });

export class Reconciliation {
  private readonly rows: ExportRow[] = [];
  private readonly calls: OwnCall[] = [];
  private readonly doubts: OwnDoubt[] = [];
  private readonly differences: Difference[] = [];
  private found = 0;
  private comparedCalls = 0;
  private ours = noAmounts;
  private theirs = noAmounts;
  private costNotCompared = ZERO;
  private readonly byClass: Record<DifferenceClass, { found: number; amounts: Amounts }> = {
    'missing-here': outcome(),
    'missing-there': outcome(),
    ...{ price: outcome(), tokens: outcome(), rounding: outcome(), 'unknown-outcome': outcome() },
  };

  constructor(private readonly rules: ReconciliationRules) {}

  /** All rows come before the first call. Throws `invalid-field` where there are too many. */
  takeRow(row: ExportRow): void {
    this.hold(this.rows, row);
  }

  takeCall(call: OwnCall): void {
    this.hold(this.calls, call);
  }

  takeDoubt(doubt: OwnDoubt): void {
    this.hold(this.doubts, doubt);
  }

  private hold<Held>(list: Held[], held: Held): void {
    if (list.length >= maxHeld) throw invalidField('from', `a time of at most ${maxHeld} rows and calls`);
    list.push(held);
  }

  /** What the export covers, or what of it was asked for. Calls before and after it are of use within `skewMs`. */
  period(): { readonly from: Instant; readonly to: Instant } {
    const { widthMs, from, to } = this.rules;
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const row of this.rows) {
      first = Math.min(first, row.from);
      last = Math.max(last, row.to);
    }
    if (this.rows.length === 0) [first, last] = [from ?? 0, to ?? from ?? 0];
    const width = widthMs ?? 1;
    const begin = windowStart(from ?? first, width);
    const whole = to === null ? Math.max(windowStart(last - (widthMs === null ? 0 : 1), width) + width, begin) : to;
    return {
      from: Instant(begin),
      to: Instant(Math.max(begin, widthMs === null ? whole : Math.ceil(whole / width) * width)),
    };
  }

  result(): ReconciliationResult {
    const period = this.period();
    const rows = this.rows.filter((row) => row.from >= period.from && row.from < period.to);
    const keyOf = (model: string) => modelKey(this.rules.modelNames.get(model) ?? model);
    const sides = {
      rows: groupedBy(rows, ({ model }) => keyOf(model)),
      calls: groupedBy(this.calls, ({ model }) => modelKey(model)),
      doubts: groupedBy(this.doubts, ({ model }) => modelKey(model)),
    };
    const pairs = this.rules.widthMs === null ? this.takePairs(rows) : null;
    for (const model of [...new Set([...sides.rows.keys(), ...sides.calls.keys()])].sort()) {
      const of = { rows: sides.rows.get(model) ?? [], calls: sides.calls.get(model) ?? [] };
      const doubts = sides.doubts.get(model) ?? [];
      if (pairs === null) this.compareWindows(model, { ...of, doubts }, period);
      else this.compareCalls(model, { ...of, doubts }, { period, pairs });
    }
    const { found, differences, byClass, ours, theirs, costNotCompared } = this;
    return {
      ...period,
      ...{ rows: rows.length, rowsOutside: this.rows.length - rows.length, calls: this.comparedCalls },
      total: { ours, theirs, differences: lessBy(theirs, ours) },
      ...{ costNotCompared, byClass, found, differences },
    };
  }

  /** By an id, whatever the model is called: first by the provider's of the answer, then by ours of the request. */
  private takePairs(rows: readonly ExportRow[]): ReadonlyMap<ExportRow, OwnCall> {
    const pairs = new Map<ExportRow, OwnCall>();
    const taken = new Set<OwnCall>();
    for (const known of [callsByAnswer(this.calls), new Map(this.calls.map((call) => [call.requestId, call]))])
      for (const row of rows) {
        const call = row.requestId === null || pairs.has(row) ? undefined : known.get(row.requestId);
        if (call === undefined || taken.has(call)) continue;
        taken.add(call);
        pairs.set(row, call);
      }
    return pairs;
  }

  private compareCalls(
    model: string,
    { rows, calls, doubts }: { rows: readonly ExportRow[]; calls: readonly OwnCall[]; doubts: readonly OwnDoubt[] },
    { period, pairs }: { period: { from: Instant; to: Instant }; pairs: ReadonlyMap<ExportRow, OwnCall> },
  ): void {
    const rules: CallRules = { ...this.rules, model };
    const paired = new Set(pairs.values());
    const byId = rows.flatMap((row): Pairing[] => {
      const call = pairs.get(row);
      return call === undefined ? [] : [{ row, call }];
    });
    const left = pairedByTime(
      rows.filter((row) => !pairs.has(row)),
      calls.filter((call) => !paired.has(call)),
      rules,
    );
    const rests = groupedBy(
      doubts.filter(({ most }) => isZero(most.calls)),
      ({ requestId }) => requestId,
    );
    for (const pairing of [...byId, ...left.pairs])
      this.count(comparePair(pairing, rests.get(pairing.call.requestId) ?? [], rules), pairing);
    let lost = doubts.filter(({ most }) => !isZero(most.calls));
    for (const row of left.rows) {
      const { differences, doubt } = compareRow(row, lost, rules);
      if (doubt !== null) lost = lost.filter((other) => other !== doubt);
      this.count(differences, { row, call: null });
    }
    const isCovered = ({ begun, ended }: OwnCall) => begun >= period.from && ended < period.to;
    for (const call of left.calls.filter(isCovered)) this.count(compareCall(call, rules), { row: null, call });
  }

  private count(
    differences: readonly Difference[],
    { row, call }: { readonly row: ExportRow | null; readonly call: OwnCall | null },
  ): void {
    const { told } = this.rules;
    const hasCost = call?.hasCost ?? true;
    const compared = hasCost ? told : uncosted(told);
    if (!hasCost && row !== null) this.costNotCompared = add(this.costNotCompared, row.amounts.cost);
    if (row !== null) this.theirs = together(this.theirs, onlyOf(row.amounts, compared));
    if (call !== null) this.comparedCalls += 1;
    if (call !== null) this.ours = together(this.ours, onlyOf(call.amounts, compared));
    for (const difference of differences) this.note(difference);
  }

  private note(difference: Difference): void {
    this.found += 1;
    const sum = this.byClass[difference.class];
    sum.found += 1;
    sum.amounts = together(sum.amounts, difference.amounts);
    if (this.differences.length < maxDifferences) this.differences.push(difference);
  }

  private compareWindows(
    model: string,
    { rows, calls, doubts }: { rows: readonly ExportRow[]; calls: readonly OwnCall[]; doubts: readonly OwnDoubt[] },
    period: { from: Instant; to: Instant },
  ): void {
    const { skewMs, told, perRow } = this.rules;
    const widthMs = this.rules.widthMs ?? 1;
    const windows = windowsOf({ rows, calls }, { widthMs, period });
    const rules = { model, widthMs, skewMs, told, perRow };
    moveOverBorders(windows, rules);
    let rest = doubts;
    for (const window of windows.filter(({ isOutside }) => !isOutside)) {
      const end = window.start + widthMs;
      const near = rest.filter(({ begun, ended }) => ended + skewMs >= window.start && begun - skewMs < end);
      const compared = compareWindow(window, near, rules);
      rest = rest.filter((doubt) => !compared.doubts.has(doubt));
      this.comparedCalls += window.calls.length;
      this.ours = together(this.ours, compared.ours);
      this.theirs = together(this.theirs, compared.theirs);
      this.costNotCompared = add(this.costNotCompared, compared.notCompared);
      for (const difference of compared.differences) this.note(difference);
    }
  }
}

/** Those with rows or calls, in the order of time, and one before and behind them for calls that ran over the border. */
function windowsOf(
  { rows, calls }: { rows: readonly ExportRow[]; calls: readonly OwnCall[] },
  { widthMs, period }: { widthMs: number; period: { from: Instant; to: Instant } },
): readonly Window[] {
  const windows = new Map<number, Window>();
  const at = (start: number): Window => {
    const known = windows.get(start) ?? newWindow(start, start < period.from || start >= period.to);
    windows.set(start, known);
    return known;
  };
  at(period.from - widthMs);
  at(period.to);
  for (const row of rows) {
    const window = at(windowStart(row.from, widthMs));
    window.theirs = together(window.theirs, row.amounts);
    window.rows += 1;
    window.line ??= row.line;
  }
  for (const call of calls) at(windowStart(call.ended, widthMs)).calls.push(call);
  return [...windows.values()].sort((a, b) => a.start - b.start);
}
