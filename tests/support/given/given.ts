import { expect } from 'vitest';
import { Position } from '../../../src/domain/events/events.js';
import type { Decider } from '../../../src/domain/kernel/decider.js';
import { Failure, type FailureCode } from '../../../src/domain/kernel/failure.js';

/* Rules of an aggregate as sentences: given(what had happened).when(an order).thenRecorded(what happens). */

interface Outcome<Event> {
  thenRecorded(...events: readonly Event[]): void;
  /** As `thenRecorded`; and the same order, given again, records nothing more. */
  thenRecordedOnce(...events: readonly Event[]): void;
  thenNothing(): void;
  thenRefused(code: FailureCode, details?: Failure['details']): void;
}

export interface Scenario<State, Command, Event> {
  when(command: Command): Outcome<Event>;
  /** What the aggregate knows after its history. */
  thenState(expected: State): void;
}

/** A decider that changes its arguments fails here, not later in somebody else's test. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}

type Decided<Event> = { readonly events: Event[] } | { readonly failure: Failure };

function attempt<Event>(decide: () => Event[]): Decided<Event> {
  try {
    return { events: decide() };
  } catch (error) {
    if (error instanceof Failure) return { failure: error };
    throw error;
  }
}

export const scenariosOf = <State, Command, Event>(decider: Decider<State, Command, Event>) => {
  const fold = (events: readonly Event[], from: State): State =>
    events.reduce(
      (state, event, index) => frozen(decider.evolve(state, frozen(event), { position: Position(index) })),
      from,
    );

  return (...history: readonly Event[]): Scenario<State, Command, Event> => {
    const state = fold(history, frozen(decider.initial));
    return {
      when(command) {
        const decided = attempt(() => decider.decide(frozen(command), state));
        const recorded = (events: readonly Event[]) => expect(decided).toStrictEqual({ events });
        return {
          thenRecorded: (...events) => recorded(events),
          thenRecordedOnce: (...events) => {
            recorded(events);
            expect(decider.decide(command, fold(events, state)), 'the same order again').toStrictEqual([]);
          },
          thenNothing: () => recorded([]),
          thenRefused: (code, details) =>
            expect('failure' in decided ? decided.failure : decided).toMatchObject(
              details === undefined ? { code } : { code, details },
            ),
        };
      },
      thenState: (expected) => expect(state).toStrictEqual(expected),
    };
  };
};
