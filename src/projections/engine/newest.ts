import type { Position } from '../../domain/events/events.js';
import { UnreadableEvent } from '../../domain/events/upcast.js';
import { Instant } from '../../domain/kernel/instant.js';
import type { EventFeed, FoldContext, Projection, ProjectionContext } from './projection.js';
import { concerning } from './quarantine.js';

/* How far in time a fold will come, for read models that forget: who builds one anew skips what it would forget again. */

/** Events looked at, from the end of the log. */
const lookBack = 1_000;

/** `context` for one run of a fold, from its beginning or from where it goes on. The log is looked at when first asked. */
export function foldContext(
  context: ProjectionContext,
  feed: Pick<EventFeed, 'readNewest' | 'readStream'>,
  projection: Projection,
  quarantined: ReadonlySet<Position>,
): FoldContext {
  let newest: Promise<Instant | null> | null = null;
  const look = async (): Promise<Instant | null> => {
    const coming = concerning(projection, quarantined, await feed.readNewest(lookBack));
    return coming.length === 0 ? null : Instant(Math.max(...coming.map(({ at }) => at)));
  };
  return {
    ...context,
    readStream: (stream) => feed.readStream(stream),
    newest() {
      newest ??= look().catch((error: unknown) => {
        // Whoever folds stops when it comes to that event, and not before.
        if (error instanceof UnreadableEvent) return null;
        newest = null;
        throw error;
      });
      return newest;
    },
  };
}
