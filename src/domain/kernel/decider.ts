import type { Position } from '../events/events.js';

/**
 * One aggregate as three plain values. `decide` refuses (throws a Failure) or returns facts, `[]` for a repeat;
 * `evolve` never refuses: it has happened. Neither knows a clock, a driver or `await`.
 */
export interface Decider<State, Command, Event> {
  readonly initial: State;
  decide(command: Command, state: State): Event[];
  /** `recorded`: the event's place in the log, for what must know when it was last changed. */
  evolve(state: State, event: Event, recorded?: { readonly position: Position }): State;
}
