import { type DomainEvent, Position, type Recorded, type StreamName } from '../../../src/domain/events/events.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { eventId, someInstant } from './events.js';

/** An event as it stands in the log; `revision` is for those who look at it. */
export const recordedAt = (
  position: number,
  stream: StreamName,
  event: DomainEvent,
  { revision = 0, at = someInstant + position }: { revision?: number; at?: number } = {},
): Recorded => ({
  id: eventId(position),
  stream,
  revision,
  position: Position(position),
  at: Instant(at),
  event,
});
