/** Milliseconds, to a hundredth. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;

/** The sample that `share` of all samples do not exceed; 0 without samples. */
const percentile = (ascending: readonly number[], share: number): number =>
  hundredths(ascending[Math.max(Math.ceil(ascending.length * share) - 1, 0)] ?? 0);

export function percentilesOf(samples: readonly number[]): Percentiles {
  const ascending = [...samples].sort((a, b) => a - b);
  return { p50: percentile(ascending, 0.5), p90: percentile(ascending, 0.9), p99: percentile(ascending, 0.99) };
}

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = ascending.length / 2;
  const upper = ascending[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((ascending[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

export const medianPercentiles = (rounds: readonly Percentiles[]): Percentiles => ({
  p50: hundredths(median(rounds.map(({ p50 }) => p50))),
  p90: hundredths(median(rounds.map(({ p90 }) => p90))),
  p99: hundredths(median(rounds.map(({ p99 }) => p99))),
});
