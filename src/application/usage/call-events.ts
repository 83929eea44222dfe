import type { CallEvent } from '../../domain/call/call.js';
import { maxCorrections } from '../../domain/call/call-correction.js';
import { type Recorded, streams } from '../../domain/events/events.js';
import type { CallId } from '../../domain/kernel/ids.js';
import type { EventStore } from '../ports/storage-ports.js';

/** A call has three events and its corrections at most; what else stands in its stream by mistake is not read to its end. */
const maxEvents = maxCorrections + 3;

/** The events of one call, oldest first; none: there is no such call. */
export async function eventsOfCall(
  store: Pick<EventStore, 'streamPages'>,
  id: CallId,
): Promise<readonly Recorded<CallEvent>[]> {
  const found: Recorded[] = [];
  for await (const page of store.streamPages(streams.call(id))) {
    found.push(...page.slice(0, maxEvents - found.length));
    if (found.length === maxEvents) break;
  }
  return found as Recorded<CallEvent>[];
}
