import type { Decider } from '../domain/decider.js';
import { beginning, type DomainEvent, type Position, type StreamName } from '../domain/events.js';
import { Failure } from '../domain/failure.js';
import { newEventId } from './event-id.js';
import type { Clock, EventStore } from './ports.js';

/* Load, decide, append, retry on conflict: written once. */

/** What a command led to. `position` is how far a reader must have come to see it; -1 when nothing happened. */
export interface Handled<Event> {
  readonly events: readonly Event[];
  readonly position: Position;
}

/**
 * A command that depends on something outside its stream. It is made anew for every state it is decided on; `seen` is
 * the stream's last position then, and what is observed must be at least that new.
 */
export type Observing<Command> = (seen: Position) => Promise<Command>;

const isObserving = <Command>(order: Command | Observing<Command>): order is Observing<Command> =>
  typeof order === 'function';

const attempts = 20;

/**
 * Runs one command against the newest state of its stream. A lost race is decided anew on the state that won it.
 * Throws the decider's Failure, or `lost-race` when the stream never rests.
 */
export const handle =
  (store: EventStore, clock: Clock) =>
  async <State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    stream: StreamName,
    order: NoInfer<Command | Observing<Command>>,
  ): Promise<Handled<Event>> => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const recorded = await store.readStream(stream);
      // The stream's name says which aggregate wrote it: its events are that aggregate's.
      const state = recorded.reduce((folded, { event }) => decider.evolve(folded, event as Event), decider.initial);
      const last = recorded.at(-1);
      const seen = last?.position ?? beginning;
      const decided = decider.decide(isObserving(order) ? await order(seen) : order, state);
      if (decided.length === 0) return { events: [], position: seen };
      const at = clock.now();
      const result = await store.append(
        stream,
        decided.map((event) => ({ id: newEventId(at), at, event })),
        last?.revision ?? 'no-stream',
      );
      if (result.ok) return { events: decided, position: result.position };
    }
    throw new Failure('lost-race');
  };

export type Handle = ReturnType<typeof handle>;
