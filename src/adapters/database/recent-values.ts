import { LRUCache } from 'lru-cache';
import type { Clock } from '../../application/ports/storage-ports.js';

interface Entry<Value> {
  readonly value: Promise<Value | null>;
  readonly since: number;
}

interface RecentValuesOptions {
  /** How many values are kept; the least recently used goes first. */
  readonly capacity: number;
  /** How long a value is believed without asking again. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
}

/** Keeps what was loaded last, and lets all who want the same value at once share one load. */
export class RecentValues<Key extends string | number, Value> {
  private readonly entries: LRUCache<Key, Entry<Value>>;

  constructor(private readonly options: RecentValuesOptions) {
    this.entries = new LRUCache({ max: options.capacity });
  }

  /** `load` is called at once when it is called at all. null and failures are not kept. */
  get(key: Key, load: () => Promise<Value | null>): Promise<Value | null> {
    const now = this.options.clock.now();
    const found = this.entries.get(key);
    // A clock that was set back must not keep a value for as long as it was set back by.
    if (found !== undefined && now >= found.since && now - found.since < this.options.maxAgeMs) return found.value;
    const entry: Entry<Value> = { value: load(), since: now };
    this.entries.set(key, entry);
    const forget = () => {
      if (this.entries.peek(key) === entry) this.entries.delete(key);
    };
    entry.value.then((value) => value === null && forget(), forget);
    return entry.value;
  }

  delete(key: Key): void {
    this.entries.delete(key);
  }
}
