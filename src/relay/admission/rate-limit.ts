import type { Settings } from '../../application/options/settings.js';
import type { Clock } from '../../application/ports/storage-ports.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { KeyedCounts } from '../../rate-limit/keyed-counts.js';
import { WindowCount } from '../../rate-limit/window-count.js';
import { RelayError } from '../contracts/errors.js';

/*
 * The model rate limit: at most so many requests, and so many successful ones, per user and window; all of a user's
 * API keys share it. A request counts in both when it is admitted and gives the second one back when it fails, so
 * parallel requests cannot slip through between check and count. What it costs does not grow with the limits.
 */

class UserCounts {
  readonly total = new WindowCount();
  readonly successful = new WindowCount();
}

/** More users than this within two windows are unheard of; the least recent would be counted from nothing. */
const maxUsers = 100_000;

interface ModelRateLimiter {
  /** Throws 429. Call the result once, when the outcome is known. */
  admit(user: UserId, limit: Settings['modelRateLimit']): (succeeded: boolean) => void;
}

const unlimited = (): void => {};

export function modelRateLimiter(clock: Clock): ModelRateLimiter {
  const users = new KeyedCounts<UserId, UserCounts>(clock, () => new UserCounts(), maxUsers);

  return {
    admit(user, { enabled, total: maxTotal, successful: maxSuccessful, windowSeconds }) {
      if (!enabled) return unlimited;
      const now = clock.now();
      const windowMs = windowSeconds * 1000;
      const { total, successful } = users.of(user, windowMs);
      total.moveTo(now, windowMs);
      successful.moveTo(now, windowMs);
      const minutes = windowSeconds / 60;
      if (maxTotal > 0 && total.count >= maxTotal)
        throw tooMany(
          `at most ${maxTotal} requests per ${minutes} minutes, failed ones included`,
          total.untilOldestEnds(now, windowMs),
        );
      if (successful.count >= maxSuccessful)
        throw tooMany(
          `at most ${maxSuccessful} requests per ${minutes} minutes`,
          successful.untilOldestEnds(now, windowMs),
        );
      if (maxTotal > 0) total.take(now);
      successful.take(now);
      return (succeeded) => {
        if (!succeeded) successful.giveBack(now);
      };
    },
  };
}

function tooMany(message: string, waitMs: number): RelayError {
  const wait = Math.max(1, Math.ceil(waitMs / 1000));
  const text = `${message}; the next one is free in ${wait} seconds`;
  return new RelayError(429, 'rate_limit_exceeded', text, { retryAfter: String(wait) });
}
