import { Failure } from '../domain/kernel/failure.js';
import type { MillisecondClock } from './keyed-counts.js';
import { SlidingWindow } from './sliding-window.js';

/** Who may try something how often. */
export interface RecentAttempts<Id> {
  /** Throws `too-many-attempts`, with the seconds to wait; then it does not count. `withdrawn`: it shall not either. */
  count(id: Id): { withdrawn(): void };
}

export function recentAttempts<Id extends string | number>(
  { max, withinMs }: { readonly max: number; readonly withinMs: number },
  clock: MillisecondClock,
): RecentAttempts<Id> {
  const window = new SlidingWindow<Id>({ max, windowMs: withinMs }, clock);
  return {
    count(id) {
      refuseEarly(window.waitMs(id));
      return { withdrawn: window.take(id) };
    },
  };
}

/** Throws `too-many-attempts` where there is anything to wait for. */
export function refuseEarly(waitMs: number): void {
  if (waitMs > 0) throw new Failure('too-many-attempts', { seconds: Math.ceil(waitMs / 1000) });
}
