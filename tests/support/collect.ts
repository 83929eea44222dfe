import type { EventStore } from '../../src/application/ports/storage-ports.js';
import type { Position, Recorded } from '../../src/domain/events/events.js';

/** A subscription whose events pile up in `events`, for as long as `stop` has not been called. */
export interface Collected {
  readonly events: Recorded[];
  readonly batches: (readonly Recorded[])[];
  /** Resolves as soon as this many events have come. Rejects when the subscription fails. */
  reached(count: number): Promise<void>;
  /** Ends the subscription; resolves once its loop has ended. */
  stop(): Promise<void>;
}

export function collect(store: EventStore, after: Position): Collected {
  const abort = new AbortController();
  const events: Recorded[] = [];
  const batches: (readonly Recorded[])[] = [];
  let wake: () => void = () => undefined;
  const running = (async () => {
    for await (const batch of store.subscribe(after, abort.signal)) {
      batches.push(batch);
      events.push(...batch);
      wake();
    }
  })();
  const failed = running.then(() => new Promise<never>(() => undefined));
  // Rejections are seen by whoever waits; nobody may be waiting when they come.
  failed.catch(() => undefined);
  return {
    events,
    batches,
    async reached(count) {
      while (events.length < count) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race([woken, failed]);
      }
    },
    async stop() {
      abort.abort();
      await running;
    },
  };
}
