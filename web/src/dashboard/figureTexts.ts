/* How figures are written. Units that are the same in every language. */

/** 0 to 1 → percent, with a decimal where it is small. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 || value >= 10 ? value.toFixed(0) : value.toFixed(1)}%`;
}

/** 340 → 340 ms, 1500 → 1.5 s; null: no sample. */
export function duration(milliseconds: number | null): string {
  if (milliseconds === null) return '—';
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

export const durations = (p50: number | null, p95: number | null): string =>
  p50 === null && p95 === null ? duration(null) : `${duration(p50)} / ${duration(p95)}`;

/** The next 1, 2 or 5 followed by zeros: where a scale ends. */
export function roundCeiling(value: number): number {
  if (value <= 0) return 0;
  const magnitude = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5].find((one) => value <= one * magnitude) ?? 10;
  return factor * magnitude;
}
