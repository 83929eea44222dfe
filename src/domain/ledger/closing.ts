import type { Position } from '../events/events.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure } from '../kernel/failure.js';
import type { Instant } from '../kernel/instant.js';
import { type Period, periodBounds } from './period.js';

/*
 * Periods whose books are closed. Stream `books` says which, and by which seal; what every account held then stands in
 * streams of their own, `balances-{position}`, as there may be a million of them.
 */

/** A seal over the log, as it is noted elsewhere. */
interface ClosingSeal {
  readonly number: number;
  readonly digest: string;
}

/**
 * `position`: of the last event that counts. `until`: when the period was over. `seal`: covers that event. `sealedTo`: the
 * end of the last seal that covers no later one; -1: there is none. `parts`, `entries`, `digest`: how many events the
 * balances stand in, how many there are, and the SHA-256 over them.
 */
export interface PeriodClosed {
  readonly type: 'PeriodClosed';
  readonly period: Period;
  readonly until: Instant;
  readonly position: Position;
  readonly seal: ClosingSeal;
  readonly sealedTo: Position;
  readonly parts: number;
  readonly entries: number;
  readonly digest: string;
}

/**
 * What accounts held at a position. `kind`: `days` is what API keys have spent, by day, as far as it is not what the closing
 * before says; those come first. Amounts are texts, as sums have no end.
 */
export interface BalancesRecorded {
  readonly type: 'BalancesRecorded';
  readonly position: Position;
  readonly part: number;
  readonly kind: 'days' | 'balances';
  readonly balances: readonly (readonly [account: string, amount: string])[];
}

/**
 * The log of a closed period is in a file. `after`, `last`: it holds what lies behind the one position up to the other,
 * `events` of them, under the seals with these numbers. `digest`: SHA-256 of the file.
 */
export interface PeriodArchived {
  readonly type: 'PeriodArchived';
  readonly period: Period;
  readonly after: Position;
  readonly last: Position;
  readonly events: number;
  readonly seals: { readonly first: number; readonly last: number };
  readonly digest: string;
}

export type BooksEvent = PeriodClosed | BalancesRecorded | PeriodArchived;

type ArchivePeriod = { readonly type: 'ArchivePeriod' } & Omit<PeriodArchived, 'type'>;

type ClosePeriod = { readonly type: 'ClosePeriod' } & Omit<PeriodClosed, 'type'>;

/** Oldest first. */
export interface BooksState {
  readonly closed: readonly PeriodClosed[];
  /** The newest archive of each. */
  readonly archived: readonly PeriodArchived[];
}

export const notReady = (reason: string): Failure => new Failure('period-not-ready', { reason });

/** Calls that have left the log for a file. */
export function logArchived({ period, file }: { readonly period: string; readonly file: string }): Failure {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const reason = `the calls of ${period} are in the archive ${name}: "audit restore" brings them back`;
  return new Failure('log-archived', { period, file: name, reason });
}

/** How long a period has to be over: what happens in its last second is recorded a little later. */
export const graceMs = 60 * 60 * 1_000;

/** The period is over, and none that is later has been closed. Throws `period-not-ready`. */
export function checkClosable({ closed }: BooksState, period: Period, now: Instant): void {
  const { until } = periodBounds(period);
  if (now < until + graceMs) throw notReady(`${period} can be closed an hour after it is over`);
  const last = closed.at(-1);
  if (last !== undefined && until <= last.until)
    throw notReady(`${last.period} is closed already, and periods are closed in their order`);
}

export const closedAs = ({ closed }: Pick<BooksState, 'closed'>, period: Period): PeriodClosed | null =>
  closed.find((closing) => closing.period === period) ?? null;

export const archivedAs = ({ archived }: Pick<BooksState, 'archived'>, period: Period): PeriodArchived | null =>
  archived.find((archive) => archive.period === period) ?? null;

/** How many parts there are. Given again, a part is not recorded again. */
export const balancesDecider: Decider<number, BalancesRecorded, BooksEvent> = {
  initial: 0,
  decide: (part, parts) => (part.part === parts ? [part] : []),
  evolve: (parts) => parts + 1,
};

export const booksDecider: Decider<BooksState, ClosePeriod | ArchivePeriod, BooksEvent> = {
  initial: { closed: [], archived: [] },
  decide(command, state) {
    switch (command.type) {
      case 'ClosePeriod': {
        if (closedAs(state, command.period) !== null) return [];
        const last = state.closed.at(-1);
        if (last !== undefined && (command.until <= last.until || command.position < last.position))
          throw notReady(`${last.period} is closed already, and periods are closed in their order`);
        return [{ ...command, type: 'PeriodClosed' }];
      }
      case 'ArchivePeriod': {
        const { period, digest } = command;
        if (closedAs(state, period) === null) throw notReady(`the books of ${period} are not closed`);
        return archivedAs(state, period)?.digest === digest ? [] : [{ ...command, type: 'PeriodArchived' }];
      }
      default:
        return assertNever(command);
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case 'PeriodClosed':
        return { ...state, closed: [...state.closed, event] };
      case 'PeriodArchived': {
        const others = state.archived.filter(({ period }) => period !== event.period);
        return { ...state, archived: [...others, event] };
      }
      case 'BalancesRecorded':
        return state;
      default:
        return assertNever(event);
    }
  },
};
