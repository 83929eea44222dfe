import { add, type Decimal, integer, isNegative, isZero, negative, times, ZERO } from '../kernel/decimal.js';
import { Instant } from '../kernel/instant.js';
import {
  type Amounts,
  byMeasure,
  countsOf,
  isNothing,
  lessBy,
  type Measure,
  noAmounts,
  onlyOf,
  type TokenRates,
  together,
} from './amounts.js';
import { costParts, countParts, doubted, type Part, restOf } from './explained.js';
import type { Difference, OwnCall, OwnDoubt } from './sides.js';
import { countOf, subsetOf } from './subset.js';

/* Rows that tell of many calls: compared by model and window of time. */

export interface Window {
  readonly start: number;
  /** Not within what the export covers: it only takes and gives calls of its border. */
  readonly isOutside: boolean;
  theirs: Amounts;
  rows: number;
  line: number | null;
  calls: OwnCall[];
}

interface WindowRules {
  readonly model: string;
  readonly widthMs: number;
  /** How far the clocks of both sides may differ. */
  readonly skewMs: number;
  /** What the export says anything about. */
  readonly told: ReadonlySet<Measure>;
  /** What a row may be off by for being rounded. */
  readonly perRow: Decimal;
}

export const windowStart = (at: number, widthMs: number): number => Math.floor(at / widthMs) * widthMs;

export const newWindow = (start: number, isOutside: boolean): Window => ({
  ...{ start, isOutside },
  ...{ theirs: noAmounts, rows: 0, line: null, calls: [] },
});

const oursOf = ({ calls }: Pick<Window, 'calls'>): Amounts =>
  calls.reduce((sum, { amounts }) => together(sum, amounts), noAmounts);

const countsToldOf = (told: ReadonlySet<Measure>): Measure[] => [...told].filter((measure) => measure !== 'cost');

const countsApart = (window: Window, told: ReadonlySet<Measure>): Amounts =>
  countsOf(onlyOf(lessBy(window.theirs, oursOf(window)), told));

/** Those nearest to an instant first. */
const nearest = (calls: readonly OwnCall[], at: number): OwnCall[] =>
  [...calls].sort((a, b) => Math.abs(a.ended - at) - Math.abs(b.ended - at));

/**
 * A call that ran over the border of two windows is counted by its provider in either. Those that make a window agree, and
 * only those, are moved to where the provider has them.
 */
export function moveOverBorders(windows: readonly Window[], rules: WindowRules): void {
  for (const [index, right] of windows.entries()) {
    const left = windows[index - 1];
    if (left !== undefined && left.start + rules.widthMs === right.start) settleBorder(left, right, rules);
  }
}

function settleBorder(left: Window, right: Window, { told, skewMs }: WindowRules): void {
  const border = right.start;
  const [mended, other] = left.isOutside ? [right, left] : [left, right];
  if (mended.isOutside) return;
  const apart = countsApart(mended, told);
  if (isNothing(apart)) return;
  const movable = nearest(
    [
      ...left.calls.filter(({ ended }) => ended + skewMs >= border),
      ...right.calls.filter(({ begun }) => begun - skewMs < border),
    ],
    border,
  );
  const isMended = new Set(mended.calls);
  // What leaves the window counts against it.
  const items = movable.map((call) =>
    isMended.has(call) ? byMeasure((m) => negative(call.amounts[m])) : call.amounts,
  );
  const chosen = subsetOf(items, apart, countsToldOf(told));
  if (chosen === null) return;
  const moved = new Set(chosen.flatMap((index) => movable[index] ?? []));
  const stay = (window: Window) => window.calls.filter((call) => !moved.has(call));
  const come = (window: Window) => (window === mended ? other : mended).calls.filter((call) => moved.has(call));
  const [ofMended, ofOther] = [
    [...stay(mended), ...come(mended)],
    [...stay(other), ...come(other)],
  ];
  mended.calls = ofMended;
  other.calls = ofOther;
}

/** The rates of all these calls, where they are the same. */
function commonRates(calls: readonly OwnCall[]): TokenRates | null {
  const first = calls[0]?.rates ?? null;
  return calls.every(({ rates }) => rates === first) ? first : null;
}

const maxNamed = 20;
const idsOf = (things: readonly { readonly requestId: string }[]): string[] =>
  things.slice(0, maxNamed).map(({ requestId }) => requestId);

interface ComparedWindow {
  readonly ours: Amounts;
  readonly theirs: Amounts;
  /** What upstream charged where it is not known of each call what it costs: in no total. */
  readonly notCompared: Decimal;
  readonly differences: readonly Difference[];
  /** Doubts that explained something, and no more than that. */
  readonly doubts: ReadonlySet<OwnDoubt>;
}

export function compareWindow(window: Window, doubts: readonly OwnDoubt[], rules: WindowRules): ComparedWindow {
  const { told, widthMs, model } = rules;
  const hasCost = told.has('cost') && window.calls.every((call) => call.hasCost);
  const compared = hasCost ? told : new Set([...told].filter((measure) => measure !== 'cost'));
  const theirs = onlyOf(window.theirs, compared);
  const ours = onlyOf(oursOf(window), compared);
  const found = partsOf(window, doubts, lessBy(theirs, ours), { ...rules, told: compared });
  const end = window.start + widthMs;
  const place = { model, from: Instant(window.start), to: Instant(end), line: window.line };
  return {
    ...{ ours, theirs, notCompared: hasCost ? ZERO : window.theirs.cost },
    differences: found.parts.map(({ requestIds, ...part }) => ({ ...part, ...place, requestIds })),
    doubts: new Set(found.doubts),
  };
}

interface NamedPart extends Part {
  readonly requestIds: readonly string[];
}

interface Found {
  readonly parts: readonly NamedPart[];
  readonly doubts: readonly OwnDoubt[];
}

function partsOf(window: Window, doubts: readonly OwnDoubt[], apart: Amounts, rules: WindowRules): Found {
  const tolerance = times(rules.perRow, integer(Math.max(window.rows, 1)));
  const named = (parts: readonly Part[], requestIds: readonly string[] = []) =>
    parts.map((part) => ({ ...part, requestIds }));
  if (isNothing(apart)) return { parts: [], doubts: [] };
  if (isNothing(countsOf(apart))) {
    // Without counts of its own, what is charged here stands for calls that are not known.
    if (window.calls.length > 0) return { parts: named(costParts(apart.cost, tolerance)), doubts: [] };
    return { parts: named([{ class: 'missing-here', amounts: apart }]), doubts: [] };
  }
  if (window.rows === 0) {
    const parts: Part[] = [{ class: 'missing-there', amounts: apart }];
    return { parts: named(parts, idsOf(window.calls)), doubts: [] };
  }
  const inDoubt = doubted(apart, doubts, rules.told.has('calls'));
  if (inDoubt !== null) {
    const rest = restOf(apart, [inDoubt.part]);
    const ofDoubts = named([inDoubt.part], idsOf(inDoubt.doubts));
    return { parts: [...ofDoubts, ...plainParts(window, rest, rules, tolerance)], doubts: inDoubt.doubts };
  }
  return { parts: plainParts(window, apart, rules, tolerance), doubts: [] };
}

/** Of what no doubt explains. */
function plainParts(window: Window, apart: Amounts, rules: WindowRules, tolerance: Decimal): NamedPart[] {
  if (isNothing(apart)) return [];
  const { told } = rules;
  const rates = told.has('cost') ? commonRates(window.calls) : null;
  const counts = countsOf(apart);
  if (window.calls.length === 0) return [{ class: 'missing-here', amounts: apart, requestIds: [] }];
  const lacking = lackingThere(window, counts, told);
  if (lacking !== null) {
    const lost = lacking.reduce((sum, { amounts }) => together(sum, amounts), noAmounts);
    const amounts = onlyOf(
      byMeasure((measure) => negative(lost[measure])),
      told,
    );
    const rest = restOf(apart, [{ class: 'missing-there', amounts }]);
    return [
      { class: 'missing-there', amounts, requestIds: idsOf(lacking) },
      ...costParts(rest.cost, tolerance).map((part) => ({ ...part, requestIds: [] })),
    ];
  }
  const kind = isZero(counts.calls) ? 'tokens' : isNegative(counts.calls) ? 'missing-there' : 'missing-here';
  return countParts(kind, apart, { rates, tolerance }).map(unnamed);
}

const unnamed = (part: Part): NamedPart => ({ ...part, requestIds: [] });

/** Calls of ours that are exactly what the export has less. */
function lackingThere({ calls }: Window, counts: Amounts, told: ReadonlySet<Measure>): readonly OwnCall[] | null {
  const less = byMeasure((measure) => negative(counts[measure]));
  if (countsToldOf(told).some((measure) => isNegative(less[measure]))) return null;
  if (told.has('calls') && countOf(less.calls) === 0) return null;
  const fitting = calls.filter(({ amounts }) =>
    countsToldOf(told).every((measure) => !isNegative(add(less[measure], negative(amounts[measure])))),
  );
  const chosen = subsetOf(
    fitting.map(({ amounts }) => amounts),
    less,
    countsToldOf(told),
  );
  return chosen?.flatMap((index) => fitting[index] ?? []) ?? null;
}
