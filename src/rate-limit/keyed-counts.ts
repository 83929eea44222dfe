import type { LRUCache } from 'lru-cache';
import { growingLru } from '../data-structures/growing-lru.js';

export interface MillisecondClock {
  /** Unix milliseconds. */
  now(): number;
}

/** A window may be shorter, even of no length. */
const minRestMs = 1_000;

/**
 * What is counted for each key (a user, a client's network, a mailbox), in this process's memory: forgets who has rested
 * for two windows, and where there are too many keys the one used least recently.
 */
export class KeyedCounts<Key extends string | number, Count extends object> {
  private readonly kept: LRUCache<Key, Count>;
  private sweptAt: number;

  constructor(
    private readonly clock: MillisecondClock,
    private readonly make: () => Count,
    keys: number,
  ) {
    this.kept = growingLru<Key, Count>(keys, { now: () => clock.now() });
    this.sweptAt = clock.now();
  }

  of(key: Key, windowMs: number): Count {
    const restMs = Math.max(windowMs, minRestMs);
    this.sweep(restMs);
    const count = this.kept.get(key) ?? this.make();
    this.kept.set(key, count, { ttl: 2 * restMs });
    return count;
  }

  /** Once in a window: whoever rests need not come back to be forgotten. Looks at every key. */
  private sweep(restMs: number): void {
    const now = this.clock.now();
    this.sweptAt = Math.min(this.sweptAt, now);
    if (now - this.sweptAt < restMs) return;
    this.sweptAt = now;
    this.kept.purgeStale();
  }
}
