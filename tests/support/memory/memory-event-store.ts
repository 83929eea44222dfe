import { checkAppend, reusedEventId } from '../../../src/adapters/event-log/append-request.js';
import type {
  AppendResult,
  DurableEventStore,
  DurableResult,
  ExpectedRevision,
  OnCommitted,
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

/** How far each event is from the one before it. */
type Spacing = () => number;

/** For tests that name positions. */
export const dense: Spacing = () => 1;

export const maxSpacing = 997;

/** Some hundred places each, as where positions are bytes of a file; the same in each run. */
function sparse(): Spacing {
  let state = 20_261_128;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return 1 + (state % maxSpacing);
  };
}

/**
 * The event log of fast tests: keeps the promises of the port, within one process. Of positions that is their order and no
 * more, so whatever is tested with it may count by none.
 */
export class MemoryEventStore implements DurableEventStore {
  private readonly log: Recorded[] = [];
  private readonly streams = new Map<StreamName, Recorded[]>();
  private readonly byId = new Map<string, Recorded>();
  /** Called when something has been appended, or a subscription is to end. */
  private readonly sleepers = new Set<() => void>();
  private closed = false;

  constructor(private readonly spacing: Spacing = sparse()) {}

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
    let position = this.end();
    for (const { id, at, event, ordered } of events) {
      position = Position(Number(position) + this.spacing());
      const place = { id, stream, revision: recorded.length, position, at, event };
      const entry = ordered === undefined ? place : { ...place, ordered };
      recorded.push(entry);
      this.log.push(entry);
      this.byId.set(id, entry);
    }
    this.streams.set(stream, recorded);
    this.wakeAll();
    return { ok: true, revision: recorded.length - 1, position };
  }

  async appendDurable(
    stream: StreamName,
    event: NewEvent,
    expected: ExpectedRevision,
    onCommitted: OnCommitted = () => {},
  ): Promise<DurableResult> {
    const result = await this.append(stream, [event], expected);
    if (result.ok) onCommitted(result.position);
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

  async readAll(after: Position, limit: number): Promise<readonly Recorded[]> {
    const first = this.countUpTo(after);
    return readable(this.log.slice(first, first + limit));
  }

  async readNewest(limit: number): Promise<readonly Recorded[]> {
    return readable(this.log.slice(-limit));
  }

  async head(): Promise<Position> {
    return this.end();
  }

  estimateBetween(after: Position, upTo: Position): number {
    return Math.max(0, this.countUpTo(upTo) - this.countUpTo(after));
  }

  async *subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]> {
    const wake = () => this.wakeAll();
    signal.addEventListener('abort', wake);
    try {
      for (let next = this.countUpTo(after); !signal.aborted && !this.closed; ) {
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

  private end(): Position {
    return this.log.at(-1)?.position ?? beginning;
  }

  /** Events up to a position, and at it. */
  private countUpTo(position: Position): number {
    let [low, high] = [0, this.log.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.log[middle]?.position ?? beginning) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private wakeAll(): void {
    const sleepers = [...this.sleepers];
    this.sleepers.clear();
    for (const wake of sleepers) wake();
  }
}
