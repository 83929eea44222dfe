import { checkAppend, reusedEventId } from '../../../src/adapters/event-log/append-request.js';
import type {
  AheadResult,
  AppendResult,
  EventStore,
  ExpectedRevision,
} from '../../../src/application/ports/storage-ports.js';
import {
  beginning,
  isEventType,
  type NewEvent,
  Position,
  type Recorded,
  type Revision,
  type StreamName,
} from '../../../src/domain/events/events.js';
import { UnreadableEvent } from '../../../src/domain/events/upcast.js';

/** What lies before the first event of a newer release; throws where nothing does. */
function readable(events: readonly Recorded[]): readonly Recorded[] {
  const index = events.findIndex(({ event }) => !isEventType(event.type));
  const unreadable = events[index];
  if (unreadable === undefined) return events;
  if (index > 0) return events.slice(0, index);
  const { position, event } = unreadable;
  throw new UnreadableEvent(event.type, 'this release knows no events of that type', position);
}

/** The event log of fast tests: keeps the promises of the port, within one process. */
export class MemoryEventStore implements EventStore {
  private readonly log: Recorded[] = [];
  private readonly streams = new Map<StreamName, Recorded[]>();
  private readonly byId = new Map<string, Recorded>();
  /** Called when something has been appended, or a subscription is to end. */
  private readonly sleepers = new Set<() => void>();
  private closed = false;

  async append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    checkAppend(stream, events);
    const known = events.flatMap(({ id }) => this.byId.get(id) ?? []);
    const repeated = known.at(-1);
    if (repeated !== undefined) {
      if (known.length < events.length || known.some((event) => event.stream !== stream)) throw reusedEventId(stream);
      return { ok: true, revision: repeated.revision, position: repeated.position };
    }
    const recorded = this.streams.get(stream) ?? [];
    const actual = recorded.at(-1)?.revision ?? null;
    if (expected !== 'any' && (expected === 'no-stream' ? null : expected) !== actual)
      return { ok: false, conflict: { actual } };
    for (const { id, at, event } of events) {
      const entry = { id, stream, revision: recorded.length, position: Position(this.log.length), at, event };
      recorded.push(entry);
      this.log.push(entry);
      this.byId.set(id, entry);
    }
    this.streams.set(stream, recorded);
    this.wakeAll();
    return { ok: true, revision: recorded.length - 1, position: Position(this.log.length - 1) };
  }

  async appendAhead(
    stream: StreamName,
    event: NewEvent,
    expected: ExpectedRevision,
    onPlaced: (position: Position) => void = () => {},
  ): Promise<AheadResult> {
    const result = await this.append(stream, [event], expected);
    if (result.ok) onPlaced(result.position);
    return result;
  }

  async readStream(stream: StreamName): Promise<readonly Recorded[]> {
    const events = this.streams.get(stream) ?? [];
    for (const event of events) readable([event]);
    return [...events];
  }

  async *streamPages(stream: StreamName, after: Revision = -1): AsyncIterable<readonly Recorded[]> {
    const events = (await this.readStream(stream)).filter(({ revision }) => revision > after);
    if (events.length > 0) yield events;
  }

  async eventsNamed(stream: StreamName, idsBegin: string): Promise<readonly Recorded[]> {
    return (await this.readStream(stream)).filter(({ id }) => id.startsWith(idsBegin));
  }

  async readAll(after: Position, limit: number): Promise<readonly Recorded[]> {
    return readable(this.log.slice(after + 1, after + 1 + limit));
  }

  async head(): Promise<Position> {
    return this.log.at(-1)?.position ?? beginning;
  }

  async *subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]> {
    const wake = () => this.wakeAll();
    signal.addEventListener('abort', wake);
    try {
      for (let next = after + 1; !signal.aborted && !this.closed; ) {
        const batch = readable(this.log.slice(next));
        if (batch.length > 0) {
          next += batch.length;
          yield batch;
        } else await new Promise<void>((resolve) => this.sleepers.add(resolve));
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.wakeAll();
  }

  private wakeAll(): void {
    const sleepers = [...this.sleepers];
    this.sleepers.clear();
    for (const wake of sleepers) wake();
  }
}
