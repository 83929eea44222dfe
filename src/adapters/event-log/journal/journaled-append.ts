import type { ExpectedRevision } from '../../../application/ports/storage-ports.js';
import type { NewEvent, StreamName } from '../../../domain/events/events.js';
import type { PayloadVersions, StoredPayload } from '../../../domain/events/upcast.js';
import { Instant } from '../../../domain/kernel/instant.js';
import type { EncodedEvent } from '../encoded-event.js';

/*
 * An append as a line of the journal: its parts between tabs, which neither names nor the JSON of a payload can hold, in
 * the versions they have in the log.
 */

/** One event, to a stream whose revision is known. */
export interface JournaledAppend {
  readonly stream: StreamName;
  readonly event: EncodedEvent;
  readonly expected: ExpectedRevision;
}

export function lineOf({ stream, expected, event: { id, at, event, version, data } }: JournaledAppend): string {
  return `${stream}\t${expected}\t${id}\t${event.type}\t${version}\t${at}\t${data}`;
}

interface LeftAppend {
  readonly stream: StreamName;
  readonly expected: ExpectedRevision;
  readonly event: NewEvent;
}

/** The other way round. Throws UnreadableEvent for what a newer release has written. */
export function appendOf(line: string, payloads: Pick<PayloadVersions, 'upcast'>): LeftAppend {
  const [stream, expected, id, type, version, at, data] = line.split('\t');
  if (stream === undefined || id === undefined || type === undefined || data === undefined)
    throw new Error('A line of the journal lacks a part');
  return {
    stream: stream as StreamName,
    expected: expected === 'no-stream' ? expected : Number(expected),
    event: {
      id,
      at: Instant(Number(at)),
      event: payloads.upcast(type, Number(version), JSON.parse(data) as StoredPayload),
    },
  };
}
