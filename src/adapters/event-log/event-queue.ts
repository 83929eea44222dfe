import { type Recorded, sizeOf } from '../../domain/events/events.js';

type Batch = readonly Recorded[];

/** Characters of all payloads that may wait. */
export const maxWaitingSize = 16 * 1024 * 1024;

/** What waits for one subscriber: filled by the feed, emptied by `next`, of bounded size. */
export class EventQueue {
  private batches: Batch[] = [];
  private count = 0;
  private size = 0;
  private ended = false;
  private failure: { readonly error: unknown } | null = null;
  private wake: (() => void) | null = null;

  /** `capacity`: events; a single batch may be larger. */
  constructor(private readonly capacity: number) {}

  /** false: no room. The queue has then ended and lost what it held. */
  push(batch: Batch): boolean {
    if (this.ended) return false;
    const size = sizeOf(batch);
    if (this.count > 0 && (this.count + batch.length > this.capacity || this.size + size > maxWaitingSize)) {
      this.end();
      return false;
    }
    this.batches.push(batch);
    this.count += batch.length;
    this.size += size;
    this.wake?.();
    return true;
  }

  /** All that waits, joined, as soon as there is something; null once the queue has ended. One caller at a time. */
  async next(): Promise<Batch | null> {
    while (this.count === 0 && !this.ended) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = null;
    }
    if (this.failure !== null) throw this.failure.error;
    if (this.ended) return null;
    const [first, ...others] = this.batches;
    this.clear();
    return others.length === 0 ? (first ?? null) : [first ?? [], ...others].flat();
  }

  end(): void {
    this.ended = true;
    this.clear();
    this.wake?.();
  }

  private clear(): void {
    this.batches = [];
    this.count = 0;
    this.size = 0;
  }

  /** Ends it with an error that `next` throws. */
  fail(error: unknown): void {
    this.failure = { error };
    this.end();
  }
}
