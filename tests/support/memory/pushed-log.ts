import type { EventStore } from '../../../src/application/ports/storage-ports.js';
import type { Position, Recorded } from '../../../src/domain/events/events.js';

/** A subscription whose batches come when the test says so, repeats and failures included. */
export class PushedLog implements Pick<EventStore, 'subscribe'> {
  /** Where the subscriber began; null before it did. */
  subscribedAfter: Position | null = null;
  ended = false;
  private readonly waiting: (readonly Recorded[] | Error)[] = [];
  private wake: () => void = () => undefined;

  push(...batch: readonly Recorded[]): void {
    this.waiting.push(batch);
    this.wake();
  }

  fail(error: Error): void {
    this.waiting.push(error);
    this.wake();
  }

  async *subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]> {
    this.subscribedAfter = after;
    signal.addEventListener('abort', () => this.wake());
    while (!signal.aborted) {
      const next = this.waiting.shift();
      if (next instanceof Error) throw next;
      if (next !== undefined) yield next;
      else
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
    }
    this.ended = true;
  }
}
