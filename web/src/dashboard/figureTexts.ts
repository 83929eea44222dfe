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

export const durations = (p50: number | null, p95: number | null): string => `${duration(p50)} / ${duration(p95)}`;
