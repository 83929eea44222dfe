import type { Brand } from './brand.js';
import { invalidField } from './failure.js';

/** Milliseconds since 1970-01-01 UTC. */
export type Instant = Brand<number, 'Instant'>;

export const Instant = (raw: unknown): Instant => {
  if (typeof raw !== 'number' || !Number.isSafeInteger(raw))
    throw invalidField('instant', 'an integer: milliseconds since 1970');
  return raw as Instant;
};

/** The end of the year 9999: what comes later no calendar can show. */
export const lastSecond = 253_402_300_799;

/** A moment somebody wrote down as unix seconds. Throws `invalid-field`. */
export const instantOf = (field: string, seconds: number): Instant => {
  if (!Number.isSafeInteger(seconds) || seconds < 0 || seconds > lastSecond)
    throw invalidField(field, `unix seconds from 0 to ${lastSecond}`);
  return (seconds * 1000) as Instant;
};

/** Whole unix seconds, rounded down: the unit of the legacy contract. */
export const unixSeconds = (at: Instant): number => Math.floor(at / 1000);
