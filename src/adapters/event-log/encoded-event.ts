import type { DomainEvent, NewEvent } from '../../domain/events/events.js';
import type { PayloadVersions, StoredPayload } from '../../domain/events/upcast.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { Instant } from '../../domain/kernel/instant.js';

/** Characters of one payload. An event is for ever; what is larger than this is no fact but somebody's text. */
const maxPayload = 1024 * 1024;

/** An event with its payload in the form it is stored in. It can be appended as it is, and is not encoded again then. */
export class EncodedEvent implements NewEvent {
  constructor(
    readonly id: string,
    readonly at: Instant,
    readonly event: DomainEvent,
    readonly version: number,
    /** The JSON text of a StoredPayload: one line. */
    readonly data: string,
  ) {}
}

/** The JSON of a payload never holds a raw line break: one line per event needs no escaping. */
export const encodePayload = (data: StoredPayload): string => JSON.stringify(data);

/** Throws Failure `event-too-large`. */
export function encodeEvent(event: NewEvent, payloads: Pick<PayloadVersions, 'stored' | 'current'>): EncodedEvent {
  if (event instanceof EncodedEvent) return event;
  const { type } = event.event;
  const data = encodePayload(payloads.stored(event.event, event.ordered));
  if (data.length > maxPayload)
    throw new Failure('event-too-large', { event: type, size: data.length, allowed: maxPayload });
  return new EncodedEvent(event.id, event.at, event.event, payloads.current(type), data);
}
