import type { ExpectedRevision } from '../../../application/ports/storage-ports.js';
import type { StreamName } from '../../../domain/events/events.js';
import type { EncodedEvent } from '../encoded-event.js';
import type { CallStream } from './call-streams.js';
import type { JournaledAppend } from './journaled-append.js';

/* What a journal holds, as the log takes it. */

interface OnItsWay {
  readonly append: JournaledAppend;
  readonly stream: CallStream;
}

interface StreamAppend {
  readonly stream: StreamName;
  readonly events: EncodedEvent[];
  readonly expected: ExpectedRevision;
}

/**
 * The same as one append for each stream: its events stand together then, and none comes before one of its own.
 * `appendOf`: in which of them each has gone.
 */
export function byStream(batch: readonly OnItsWay[]): {
  readonly appends: readonly StreamAppend[];
  readonly appendOf: readonly number[];
} {
  const appends: StreamAppend[] = [];
  const appendOf: number[] = [];
  const indexOf = new Map<CallStream, number>();
  for (const { append, stream } of batch) {
    const index = indexOf.get(stream);
    const before = index === undefined ? undefined : appends[index];
    if (index === undefined || before === undefined) {
      indexOf.set(stream, appends.length);
      appendOf.push(appends.length);
      appends.push({ stream: append.stream, events: [append.event], expected: append.expected });
    } else {
      before.events.push(append.event);
      appendOf.push(index);
    }
  }
  return { appends, appendOf };
}
