import type { Brand } from './brand.js';
import { invalidField } from './failure.js';

/** Milliseconds since 1970-01-01 UTC. */
export type Instant = Brand<number, 'Instant'>;

export const Instant = (raw: unknown): Instant => {
  if (typeof raw !== 'number' || !Number.isSafeInteger(raw)) throw invalidField('instant', 'integer milliseconds');
  return raw as Instant;
};

/** Whole unix seconds, rounded down: the unit of the legacy contract. */
export const unixSeconds = (at: Instant): number => Math.floor(at / 1000);
