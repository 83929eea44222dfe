import type { DomainEvent, Position, StreamName } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import type { Decider } from '../../domain/kernel/decider.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { EventStore } from '../ports/storage-ports.js';

/* What one thing was: its own stream, folded up to a point in the past. */

export interface ChangePlace {
  readonly position: Position;
  readonly at: Instant;
}

interface AsOf<State> {
  readonly state: State;
  /** The event that made it so; null: nothing had happened to it by then. */
  readonly since: ChangePlace | null;
  /** What it is now. */
  readonly present: State;
}

/** Throws what reading throws. Streams may be larger than memory: a page at a time is held. */
export async function stateAsOf<State, Event extends DomainEvent>(
  store: Pick<EventStore, 'streamPages'>,
  { initial, evolve }: Pick<Decider<State, never, Event>, 'initial' | 'evolve'>,
  stream: StreamName,
  moment: Moment,
): Promise<AsOf<State>> {
  let present: Omit<AsOf<State>, 'present'> = { state: initial, since: null };
  let then = present;
  /** Of the latest event that is not later than the moment: where a clock was set back, it need not be the last one. */
  let latest: Instant | null = null;
  for await (const page of store.streamPages(stream))
    for (const { event, position, at } of page) {
      const state = evolve(present.state, event as Event, { position });
      if (state !== present.state) present = { state, since: { position, at } };
      if ('position' in moment ? position > moment.position : at > moment.at || (latest !== null && at < latest))
        continue;
      latest = at;
      then = present;
    }
  return { ...then, present: present.state };
}
