import type { NewEvent, StreamName } from '../../domain/events/events.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** What no engine stores as it is: NUL, and halves of surrogate pairs. */
const unstorable = /[\0\p{Surrogate}]/u;

/**
 * Holds an append to what every engine can store: one event or more, each with a lower-case UUID of its own, in a
 * stream whose name is plain text. Throws an Error: breaking these is a bug of the caller.
 */
export function checkAppend(stream: StreamName, events: readonly NewEvent[]): void {
  if (stream === '' || unstorable.test(stream)) throw new Error(`Not a stream name: ${JSON.stringify(stream)}`);
  if (events.length === 0) throw new Error(`Nothing to append to ${stream}`);
  for (const { id } of events) if (!uuid.test(id)) throw new Error(`Not a lower-case UUID: ${JSON.stringify(id)}`);
  if (events.length > 1 && new Set(events.map(({ id }) => id)).size < events.length)
    throw new Error(`One event id twice in one append to ${stream}`);
}

/** Some of the event ids are in the log, but not as this append would have put them there: a bug of the caller. */
export const reusedEventId = (stream: StreamName): Error =>
  new Error(`An append to ${stream} reuses the event ids of another append`);
