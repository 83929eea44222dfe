import type { Position, Recorded } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { EventStore } from '../ports/storage-ports.js';

/* One subscription to the log per node; everything the node keeps in memory hangs on it. */

export interface TailConsumer {
  /** Called with every batch in order, while the tail is at the position before it; must not throw and must not wait. */
  take(batch: readonly Recorded[]): void;
}

export interface Tail {
  /** Rejects when the log can no longer be followed: what this node knows grows stale, so it must not serve on. */
  readonly ended: Promise<void>;
  position(): Position;
  /** Resolves true once the tail has passed `position`, or false after `timeoutMs`. */
  reached(position: Position, timeoutMs: number): Promise<boolean>;
  add(consumer: TailConsumer): () => void;
  /** Ends the subscription; resolves when it has ended. */
  stop(): Promise<void>;
}

export function followTail(
  store: Pick<EventStore, 'subscribe'>,
  after: Position,
  first: readonly TailConsumer[],
): Tail {
  const consumers = new Set(first);
  const waiting = new Set<{ position: Position; done: () => void }>();
  const abort = new AbortController();
  let position = after;

  const advance = (batch: readonly Recorded[]): void => {
    // At least once: a batch seen before, or its beginning, is dropped here so that no consumer has to know.
    const fresh =
      (batch[0]?.position ?? position) > position ? batch : batch.filter((event) => event.position > position);
    const last = fresh.at(-1);
    if (last === undefined) return;
    for (const consumer of consumers) consumer.take(fresh);
    position = last.position;
    for (const waiter of waiting) if (waiter.position <= position) waiter.done();
  };

  const ended = (async () => {
    for await (const batch of store.subscribe(after, abort.signal)) advance(batch);
  })();
  // The owner learns of a failure from `ended` and `stop`; an unhandled rejection would end the process first.
  ended.catch(() => {});

  return {
    ended,
    position: () => position,
    reached: (wanted, timeoutMs) => {
      if (wanted <= position) return Promise.resolve(true);
      return new Promise((resolve) => {
        const finish = (result: boolean) => {
          clearTimeout(timer);
          waiting.delete(waiter);
          resolve(result);
        };
        const timer = setTimeout(() => finish(false), timeoutMs);
        const waiter = { position: wanted, done: () => finish(true) };
        waiting.add(waiter);
      });
    },
    add: (consumer) => {
      consumers.add(consumer);
      return () => consumers.delete(consumer);
    },
    stop: async () => {
      abort.abort();
      await ended;
    },
  };
}

/** Longest a command waits for this node's memory to contain what it is decided on. */
const patienceMs = 5_000;

/** Waits until the tail has passed `position`. Throws `store-unavailable` when it does not. */
export async function mustReach(tail: Pick<Tail, 'reached'>, position: Position): Promise<void> {
  if (!(await tail.reached(position, patienceMs))) throw new Failure('store-unavailable');
}
