import { Position } from '../../domain/events/events.js';
import type { Moment } from '../../domain/events/moment.js';
import { Instant } from '../../domain/kernel/instant.js';
import { UsageError } from '../command.js';

/* Points in the past, as commands take them. */

const text = { type: 'string' } as const;

/** `--at 2026-11-01T00:00:00Z` or `--position 41`. */
export const momentOptions = { at: text, position: text } as const;

const writtenInstant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Dates beyond the end of a month would be read as days of the next one. */
function isDay(written: string): boolean {
  const read = new Date(`${written}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(written);
}

/** Throws UsageError, which names the option. A day without a time is its beginning, UTC. */
export function instantGiven(name: string, given: string): Instant {
  const milliseconds = writtenInstant.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(milliseconds) || !isDay(given.slice(0, 10)))
    throw new UsageError(`--${name} ${given}: give a day or a time with its zone, as in 2026-11-01T08:30:00Z.`);
  return Instant(milliseconds);
}

function positionGiven(name: string, given: string): Position {
  if (!/^\d{1,15}$/.test(given)) throw new UsageError(`--${name} ${given}: give the position of an event, as in 41.`);
  return Position(given);
}

/** Without either, now. Throws UsageError. */
export function momentGiven({ at, position }: { readonly at?: string; readonly position?: string }): Moment {
  if (at !== undefined && position !== undefined) throw new UsageError('Give --at or --position, not both.');
  if (position !== undefined) return { position: positionGiven('position', position) };
  return { at: at === undefined ? Instant(Date.now()) : instantGiven('at', at) };
}
