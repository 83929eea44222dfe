import { LRUCache } from 'lru-cache';
import type { DomainEvent, Position, Revision, StreamName } from '../domain/events/events.js';
import type { Decider } from '../domain/kernel/decider.js';
import { markIn } from './idempotency.js';
import type { EventStore } from './ports/storage-ports.js';

/*
 * What streams were folded to last, so that an order reads only what has come since: a stream that is written to all
 * the time would otherwise be read from its start each time. Nothing here is newer than the log or decides anything; the
 * expected revision of the append does.
 */

export interface Folded<State> {
  readonly state: State;
  /** The last event folded; null: there is none. */
  readonly last: { readonly revision: Revision; readonly position: Position } | null;
  /** By the name that an idempotency key has in the stream: where the events begin that were appended under it. */
  readonly marked: ReadonlyMap<string, Revision>;
}

interface FoldsLimits {
  readonly streams: number;
  /** Of all states together, about: characters of text, and some for whatever else is in them. */
  readonly weight: number;
}

interface Entry extends Folded<unknown> {
  readonly evolve: unknown;
  readonly weight: number;
  /** Grows with the stream: events of several readings may be in it, but none that is not in the log. */
  readonly marked: Map<string, Revision>;
}

const perValue = 32;
/** A name of a mark, and where its events begin. */
const perMark = 100;

/** Roughly what a state takes in memory. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return perValue + value.length;
  if (typeof value !== 'object' || value === null) return perValue;
  let weight = perValue;
  const members = value instanceof Map || value instanceof Set ? value : Object.values(value);
  for (const member of members) weight += weightOf(member);
  return weight;
}

export class RecentFolds {
  private readonly entries: LRUCache<StreamName, Entry>;

  constructor(
    private readonly store: Pick<EventStore, 'streamPages'>,
    { streams, weight }: FoldsLimits = { streams: 1_000, weight: 16 * 1024 * 1024 },
  ) {
    // What weighs more than all together may is not kept at all.
    this.entries = new LRUCache({ max: streams, maxSize: weight, sizeCalculation: (entry) => entry.weight });
  }

  /** A stream as its aggregate sees it now; streams may be larger than memory. */
  async fold<State, Event extends DomainEvent>(
    { initial, evolve }: Pick<Decider<State, never, Event>, 'initial' | 'evolve'>,
    stream: StreamName,
  ): Promise<Folded<State>> {
    const entry = this.entries.get(stream);
    // The stream's name says which aggregate wrote it: its events, and what is kept of them, are that aggregate's.
    const known =
      entry?.evolve === evolve
        ? (entry as Entry & Folded<State>)
        : { state: initial, last: null, marked: new Map<string, Revision>() };
    const { marked } = known;
    let { state, last } = known;
    for await (const page of this.store.streamPages(stream, last?.revision))
      for (const { id, event, revision, position } of page) {
        state = evolve(state, event as Event, { position });
        last = { revision, position };
        const mark = markIn(id);
        if (mark !== null && !marked.has(mark)) marked.set(mark, revision);
      }
    const folded = { state, last, marked };
    const weight = weightOf(state) + marked.size * perMark;
    if (last !== known.last) this.keep(stream, { ...folded, evolve, weight });
    return folded;
  }

  private keep(stream: StreamName, entry: Entry): void {
    const other = this.entries.peek(stream);
    // Another order may have read further meanwhile.
    if (other !== undefined && (other.last?.revision ?? -1) > (entry.last?.revision ?? -1)) return;
    this.entries.set(stream, entry);
  }
}
