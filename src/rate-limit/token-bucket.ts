import type { LRUCache } from 'lru-cache';
import { growingLru } from '../data-structures/growing-lru.js';
import type { MillisecondClock } from './keyed-counts.js';

interface BucketRule {
  /** What a client that has rested may spend at once; filled up again, evenly, within a minute. */
  readonly perMinute: number;
}

const minuteMs = 60_000;

/** How much work one client may make, in any unit. */
export class TokenBucket {
  private left: number;
  /** Unix milliseconds of the last filling. */
  private filledAt: number;

  constructor(
    private readonly rule: BucketRule,
    private readonly clock: MillisecondClock,
  ) {
    this.left = rule.perMinute;
    this.filledAt = clock.now();
  }

  /** Spends what is there to be spent; else spends nothing and says in how many seconds it will be there. */
  spend(amount: number): { readonly retryAfterSeconds: number } | null {
    const { perMinute } = this.rule;
    const now = this.clock.now();
    this.left = this.filled(now);
    this.filledAt = now;
    // What costs more than anybody can ever have is paid with all of it: other limits say what is too much at all.
    const price = Math.min(amount, perMinute);
    if (this.left >= price) {
      this.left -= price;
      return null;
    }
    return { retryAfterSeconds: Math.ceil((price - this.left) / (perMinute / 60)) };
  }

  /** Whether so much is left, without spending it. */
  has(amount: number): boolean {
    return this.filled(this.clock.now()) >= amount;
  }

  private filled(now: number): number {
    const { perMinute } = this.rule;
    return Math.min(perMinute, this.left + (Math.max(0, now - this.filledAt) * perMinute) / minuteMs);
  }
}

const usualClients = 20_000;

/** One for each client; forgets the one that was seen least recently, whose bucket was nearly full again. */
export class TokenBuckets {
  private readonly buckets: LRUCache<string | number, TokenBucket>;

  constructor(
    private readonly rule: BucketRule,
    private readonly clock: MillisecondClock,
    clients = usualClients,
  ) {
    this.buckets = growingLru(clients);
  }

  /** As of `TokenBucket.spend`. */
  spend(client: string | number, amount: number): { readonly retryAfterSeconds: number } | null {
    let bucket = this.buckets.get(client);
    if (bucket === undefined) {
      bucket = new TokenBucket(this.rule, this.clock);
      this.buckets.set(client, bucket);
    }
    return bucket.spend(amount);
  }

  has(client: string | number, amount: number): boolean {
    return this.buckets.peek(client)?.has(amount) ?? this.rule.perMinute >= amount;
  }
}
