import { add, type Decimal, integer, isZero, negative, ZERO } from '../kernel/decimal.js';

/* What a provider's export and the log are compared by. All of it is exact. */

/** `prompt`: all tokens of input, `cached` among them. `cost`: US dollars. */
export const comparedMeasures = ['calls', 'prompt', 'cached', 'output', 'cost'] as const;
export type Measure = (typeof comparedMeasures)[number];

export type Amounts = Readonly<Record<Measure, Decimal>>;

export const noAmounts: Amounts = { calls: ZERO, prompt: ZERO, cached: ZERO, output: ZERO, cost: ZERO };

/** Each measure worked out from its name. */
export const byMeasure = <Value>(of: (measure: Measure) => Value): Record<Measure, Value> => ({
  calls: of('calls'),
  prompt: of('prompt'),
  cached: of('cached'),
  output: of('output'),
  cost: of('cost'),
});

export const together = (a: Amounts, b: Amounts): Amounts => byMeasure((measure) => add(a[measure], b[measure]));
export const lessBy = (a: Amounts, b: Amounts): Amounts =>
  together(
    a,
    byMeasure((measure) => negative(b[measure])),
  );

/** What is not among these measures is 0. */
export const onlyOf = (amounts: Amounts, kept: ReadonlySet<Measure>): Amounts =>
  byMeasure((measure) => (kept.has(measure) ? amounts[measure] : ZERO));

export const isNothing = (amounts: Amounts): boolean => comparedMeasures.every((measure) => isZero(amounts[measure]));

const countsAlone: ReadonlySet<Measure> = new Set<Measure>(['calls', 'prompt', 'cached', 'output']);

/** Without what it cost. */
export const countsOf = (amounts: Amounts): Amounts => onlyOf(amounts, countsAlone);

export const ofCost = (cost: Decimal): Amounts => ({ ...noAmounts, cost });

/** As numbers of the log are. */
export const countsFrom = (
  counts: Readonly<Record<Exclude<Measure, 'cost'>, number>>,
  cost: Decimal | null,
): Amounts => ({
  calls: integer(counts.calls),
  prompt: integer(counts.prompt),
  cached: integer(counts.cached),
  output: integer(counts.output),
  cost: cost ?? ZERO,
});

/** Of a token of each kind, in US dollars. `prompt`: of input that no cache has. */
export interface TokenRates {
  readonly prompt: Decimal;
  readonly cached: Decimal;
  readonly output: Decimal;
}
