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
