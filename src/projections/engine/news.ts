import { setTimeout as sleep } from 'node:timers/promises';
import type { Position, Recorded } from '../../domain/events/events.js';

/* How projectors learn that the log has grown: they are sent where it ends, and read what they want of it. */

export interface News {
  /** Every event up to here can be read. */
  readonly head: Position;
  /** Some read model has been told to leave an event out. */
  readonly quarantined: boolean;
}

/** The part of the event store that knows when something has been appended. */
export interface NewsSource {
  head(): Promise<Position>;
  subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]>;
}

interface NewsOptions {
  /** Called with why the subscription broke off; it is taken up again after `retryMs`. */
  readonly broke: (error: unknown) => void;
  readonly retryMs?: number;
}

/** The end of the log as it moves on, until the signal aborts. */
export async function* newsOf(
  source: NewsSource,
  signal: AbortSignal,
  { broke, retryMs = 1_000 }: NewsOptions,
): AsyncGenerator<News, void, undefined> {
  while (!signal.aborted) {
    try {
      // Also where the subscription broke over an event that nobody here can read: projectors are to meet it.
      const head = await source.head();
      yield { head, quarantined: false };
      for await (const batch of source.subscribe(head, signal)) {
        const last = batch.at(-1);
        if (last === undefined) continue;
        yield { head: last.position, quarantined: batch.some(({ event }) => event.type === 'EventQuarantined') };
      }
    } catch (error) {
      if (!signal.aborted) broke(error);
    }
    await sleep(retryMs, null, { signal }).catch(() => null);
  }
}
