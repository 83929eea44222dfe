import type { Settings } from '../../application/options/settings.js';
import type { Shortage } from '../../application/ports/quota-gate-ports.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { plainQuotaText, RelayError, secondsToWait } from '../contracts/errors.js';
import type { ReservationEstimate } from '../metering/reservation-estimate.js';

/** `2026-03-01T00:00:00Z` */
const timeText = (at: Instant): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** The answer to a call that was not admitted. */
export function paymentRefusal(
  shortage: Shortage,
  estimate: Pick<ReservationEstimate, 'min' | 'minOfKey'>,
  settings: Settings,
): RelayError {
  const min = shortage.short === 'user' ? estimate.min : estimate.minOfKey;
  const show = (quota: number): string =>
    plainQuotaText(quota, settings.prices.quotaPerUnit, settings.flag('DisplayInCurrencyEnabled'));
  const amounts = `available ${show(shortage.available)}, needed ${show(min)}`;
  switch (shortage.short) {
    case 'user':
      return new RelayError(403, 'insufficient_user_quota', `the quota of the user is not sufficient: ${amounts}`);
    case 'api-key':
      return new RelayError(
        403,
        'pre_consume_token_quota_failed',
        `the quota of the token is not sufficient: ${amounts}`,
      );
    case 'budget': {
      const { budget, resetsAt, resetsInMs } = shortage;
      const code = 'token_budget_exceeded';
      const whole = `the ${budget.period} budget of the token, ${show(budget.quota)},`;
      // Waiting is of no use then, and a status that clients take for a reason to ask again would be wrong.
      if (min > budget.quota) return new RelayError(403, code, `${whole} is less than the call may cost: ${amounts}`);
      const message = `${whole} is not sufficient: ${amounts}; it begins anew at ${timeText(resetsAt)}`;
      const wait = String(Math.ceil(resetsInMs / 1000));
      const soon = new RelayError(429, code, message, { retryAfter: wait });
      // Agents answer a 429 by asking on for as long as it takes, silently. Of hours there is nothing to wait for.
      return secondsToWait(soon) === null ? new RelayError(402, code, message) : soon;
    }
  }
}
