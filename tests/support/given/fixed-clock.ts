import type { Clock } from '../../../src/application/ports/storage-ports.js';
import { Instant } from '../../../src/domain/kernel/instant.js';

export interface SettableClock extends Clock {
  /** Moves on by this many milliseconds. */
  advance(ms: number): void;
}

/** A clock that stands until it is moved. */
export function settableClock(start: Instant): SettableClock {
  let now = start;
  return {
    now: () => now,
    advance(ms) {
      now = Instant(now + ms);
    },
  };
}
