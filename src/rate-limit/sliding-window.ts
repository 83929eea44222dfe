import { KeyedCounts, type MillisecondClock } from './keyed-counts.js';
import { WindowCount } from './window-count.js';

interface WindowRule {
  /** So many, at most, … */
  readonly max: number;
  /** … in any span of so many milliseconds. */
  readonly windowMs: number;
}

/** Beyond them the least recent is forgotten. */
const usualKeys = 10_000;

/** A rate limit by a sliding window, for each key. What is refused does not count. */
export class SlidingWindow<Key extends string | number> {
  private readonly counts: KeyedCounts<Key, WindowCount>;

  constructor(
    private readonly rule: WindowRule,
    private readonly clock: MillisecondClock,
    keys = usualKeys,
  ) {
    this.counts = new KeyedCounts<Key, WindowCount>(clock, () => new WindowCount(), keys);
  }

  /** Milliseconds until there may be one more; 0: now. */
  waitMs(key: Key): number {
    const { max, windowMs } = this.rule;
    const count = this.current(key);
    return count.count < max ? 0 : count.untilOldestEnds(this.clock.now(), windowMs);
  }

  /** Counts one more, whatever the limit. The result takes it back, once. */
  take(key: Key): () => void {
    const count = this.current(key);
    const at = this.clock.now();
    count.take(at);
    let taken = true;
    return () => {
      if (taken) count.giveBack(at);
      taken = false;
    };
  }

  private current(key: Key): WindowCount {
    const { windowMs } = this.rule;
    const count = this.counts.of(key, windowMs);
    count.moveTo(this.clock.now(), windowMs);
    return count;
  }
}
