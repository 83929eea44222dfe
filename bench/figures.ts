/* Statistics, and how figures are rounded. */

/** Milliseconds, to a hundredth. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export const rounded = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places;

/** The sample that `share` of all samples do not exceed; 0 without samples. */
const percentile = (ascending: ArrayLike<number>, share: number): number =>
  rounded(ascending[Math.max(Math.ceil(ascending.length * share) - 1, 0)] ?? 0, 2);

export function percentilesOf(samples: readonly number[]): Percentiles {
  const ascending = Float64Array.from(samples).sort();
  const at = (share: number): number => percentile(ascending, share);
  return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), max: at(1) };
}

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = ascending.length / 2;
  const upper = ascending[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((ascending[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** Of each percentile, the median of the rounds. */
export function medianPercentiles(rounds: readonly Percentiles[]): Percentiles {
  const of = (name: keyof Percentiles): number => rounded(median(rounds.map((round) => round[name])), 2);
  return { p50: of('p50'), p90: of('p90'), p95: of('p95'), p99: of('p99'), max: of('max') };
}
