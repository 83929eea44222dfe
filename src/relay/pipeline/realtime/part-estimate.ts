import { reservedUsage, usageBound } from '../../../domain/call/usage-bound.js';
import { Quota } from '../../../domain/kernel/quota.js';
import { reservationOf } from '../../../domain/pricing/pricing.js';
import type { ReservationEstimate } from '../../metering/reservation-estimate.js';

/*
 * What to reserve for the next response of a session: all that its model can take in and put out, or at the least what
 * the conversation holds by now.
 */

const withInput = ({ bound }: ReservationEstimate, tokens: number) =>
  usageBound({ input: Math.min(tokens, bound.input), output: bound.output }, bound);

/** What one response costs at most that takes in so many tokens. */
const costWith = (estimate: ReservationEstimate, input: number): Quota =>
  reservationOf(reservedUsage(withInput(estimate, input)), estimate.price);

const times = (quota: Quota, count: number): Quota => Quota(Math.min(quota * count, Number.MAX_SAFE_INTEGER));

/** `held`: tokens of the conversation at most; `expected`: likely. `responses`: that may be under way at once. */
export function partEstimate(
  estimate: ReservationEstimate,
  held: number,
  expected: number,
  responses: number,
): ReservationEstimate {
  const min = times(costWith(estimate, held), responses);
  const max = times(costWith(estimate, estimate.bound.input), responses);
  return { ...estimate, promptTokens: Math.min(expected, estimate.bound.input), min, minOfKey: min, max };
}

/** Input tokens of one response that so much pays for. */
export function inputPaidBy(estimate: ReservationEstimate, reserved: number): number {
  let [paid, unpaid] = [0, estimate.bound.input + 1];
  if (costWith(estimate, estimate.bound.input) <= reserved) return Number.MAX_SAFE_INTEGER;
  while (unpaid - paid > 1) {
    const tried = Math.floor((paid + unpaid) / 2);
    if (costWith(estimate, tried) <= reserved) paid = tried;
    else unpaid = tried;
  }
  return paid;
}
