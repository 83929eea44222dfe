import type { DomainEvent, Recorded, Revision, StreamName } from '../../domain/events/events.js';
import type { EventStore } from '../ports/storage-ports.js';

/*
 * Folded streams, kept fresh by the tail. An entry is registered before its stream is read, so an event that lands
 * meanwhile is applied after the read, by revision: it can be neither lost nor applied twice, whichever of the two,
 * read or tail, is ahead.
 */

/** A decider's state, or one that also depends on where in the log an event stands. */
export interface Fold<State, Event extends DomainEvent> {
  readonly initial: State;
  evolve(state: State, event: Event, recorded: Recorded): State;
}

interface Entry<State> {
  state: State;
  revision: Revision;
  /** Events that came while the stream was being read; null once it has been. */
  arrived: Recorded[] | null;
  loading: Promise<void>;
}

export interface StreamFolds<State> {
  get(stream: StreamName): Promise<State>;
  take(recorded: Recorded): void;
}

export function foldStreams<State, Event extends DomainEvent>(
  store: Pick<EventStore, 'streamPages'>,
  { initial, evolve }: Fold<State, Event>,
  capacity: number,
): StreamFolds<State> {
  const entries = new Map<StreamName, Entry<State>>();

  const apply = (entry: Entry<State>, recorded: Recorded): void => {
    const { revision, event } = recorded;
    if (revision <= entry.revision) return;
    entry.state = evolve(entry.state, event as Event, recorded);
    entry.revision = revision;
  };

  /** Drops the oldest entry that has been read: one under way would miss what the tail brings meanwhile. */
  const makeRoom = (): void => {
    if (entries.size < capacity) return;
    for (const [stream, { arrived }] of entries) {
      if (arrived !== null) continue;
      entries.delete(stream);
      return;
    }
  };

  const load = async (stream: StreamName, entry: Entry<State>): Promise<void> => {
    try {
      for await (const page of store.streamPages(stream)) for (const recorded of page) apply(entry, recorded);
      for (const recorded of entry.arrived ?? []) apply(entry, recorded);
      entry.arrived = null;
    } catch (error) {
      if (entries.get(stream) === entry) entries.delete(stream);
      throw error;
    }
  };

  return {
    async get(stream) {
      let entry = entries.get(stream);
      if (entry === undefined) {
        makeRoom();
        const created: Entry<State> = { state: initial, revision: -1, arrived: [], loading: Promise.resolve() };
        entries.set(stream, created);
        created.loading = load(stream, created);
        entry = created;
      }
      if (entry.arrived !== null) await entry.loading;
      return entry.state;
    },
    take(recorded) {
      const entry = entries.get(recorded.stream);
      if (entry === undefined) return;
      if (entry.arrived === null) apply(entry, recorded);
      else entry.arrived.push(recorded);
    },
  };
}
