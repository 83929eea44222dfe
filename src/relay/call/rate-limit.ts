import type { Clock } from '../../application/ports.js';
import type { Settings } from '../../application/settings.js';
import type { UserId } from '../../domain/ids.js';
import { RelayError } from '../errors.js';

/*
 * The model rate limit: at most so many requests, and so many successful ones, per user and window; all of a user's
 * API keys share it. A request takes its place in both counts when it is admitted and gives the second one back when
 * it fails, so parallel requests cannot slip through between check and count.
 */

interface Log {
  total: number[];
  successful: number[];
}

export interface ModelRateLimiter {
  /** Throws 429. Call the result once, when the outcome is known. */
  admit(user: UserId, limit: Settings['modelRateLimit']): (succeeded: boolean) => void;
}

const unlimited = (): void => {};

export function modelRateLimiter(clock: Clock): ModelRateLimiter {
  const logs = new Map<UserId, Log>();

  return {
    admit(user, { enabled, total, successful, windowSeconds }) {
      if (!enabled) return unlimited;
      const now = clock.now();
      const from = now - windowSeconds * 1000;
      const log = logs.get(user) ?? { total: [], successful: [] };
      log.total = log.total.filter((at) => at > from);
      log.successful = log.successful.filter((at) => at > from);
      logs.set(user, log);
      const minutes = windowSeconds / 60;
      if (total > 0 && log.total.length >= total)
        throw tooMany(
          `at most ${total} requests per ${minutes} minutes, failed ones included`,
          log.total[0],
          windowSeconds,
          now,
        );
      if (log.successful.length >= successful)
        throw tooMany(`at most ${successful} requests per ${minutes} minutes`, log.successful[0], windowSeconds, now);
      if (total > 0) log.total.push(now);
      log.successful.push(now);
      return (succeeded) => {
        if (succeeded) return;
        const place = log.successful.indexOf(now);
        if (place >= 0) log.successful.splice(place, 1);
      };
    },
  };
}

function tooMany(message: string, oldest: number | undefined, windowSeconds: number, now: number): RelayError {
  const wait = Math.max(1, Math.ceil(((oldest ?? now) + windowSeconds * 1000 - now) / 1000));
  return new RelayError(429, 'rate_limit_exceeded', message, undefined, '', String(wait));
}
