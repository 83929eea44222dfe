import type { Brand } from './brand.js';
import { Failure } from './failure.js';

/** The integer unit of account; 500000 = 1 USD by default. May be negative (debt, a negative adjustment). */
export type Quota = Brand<number, 'Quota'>;

export const Quota = (raw: unknown): Quota => {
  if (typeof raw !== 'number' || !Number.isSafeInteger(raw))
    throw new Failure('quota-out-of-range', { allowed: `an integer within ±${Number.MAX_SAFE_INTEGER}` });
  // -0 and 0 are one amount; JSON and equality checks must not distinguish them.
  return (raw === 0 ? 0 : raw) as Quota;
};

/** What can be entered in one go: two billion dollars, and still countable when many are added up. */
const maxEntered = 1e15;

/** An amount somebody wrote down. Throws `quota-out-of-range` naming the field. */
export const enteredQuota = (field: string, raw: number): Quota => {
  if (!Number.isSafeInteger(raw) || Math.abs(raw) > maxEntered)
    throw new Failure('quota-out-of-range', { field, allowed: `an integer within ±${maxEntered}` });
  return Quota(raw);
};

/** A sum has no bound, a number has: beyond it, the last that is exact. */
export const representable = (sum: number): number =>
  Math.min(Math.max(sum, -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

/** A sum as the nearest amount that a number represents exactly. */
export const nearestQuota = (sum: bigint): Quota => Quota(representable(Number(sum)));

export const zero = Quota(0);
export const plusQuota = (a: Quota, b: Quota): Quota => Quota(a + b);
export const minus = (a: Quota, b: Quota): Quota => Quota(a - b);
export const max = (a: Quota, b: Quota): Quota => (a > b ? a : b);
