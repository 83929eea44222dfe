import type { Intent } from '@blueprintjs/core';

/* How long is long. Limits in milliseconds. */

const judged =
  (good: number, bearable: number) =>
  (ms: number): Intent => {
    if (ms < good) return 'success';
    return ms < bearable ? 'warning' : 'danger';
  };

/** Of a whole call. */
export const durationIntent = judged(101_000, 300_000);

/** Until the first token. */
export const firstTokenIntent = judged(3_000, 10_000);

/** Seconds as they are read: finer where they are few. */
export function inSeconds(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return seconds.toFixed(2);
  return seconds < 100 ? seconds.toFixed(1) : String(Math.round(seconds));
}
