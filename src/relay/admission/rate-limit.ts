import type { Settings } from '../../application/options/settings.js';
import type { Clock } from '../../application/ports/storage-ports.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { RelayError } from '../contracts/errors.js';

/*
 * The model rate limit: at most so many requests, and so many successful ones, per user and window; all of a user's
 * API keys share it. A request takes its place in both counts when it is admitted and gives the second one back when
 * it fails, so parallel requests cannot slip through between check and count.
 *
 * What a request costs here does not grow with the limits, and who has rested for a window or two is forgotten.
 */

interface Place {
  at: number;
  before: Place | null;
  after: Place | null;
}

/** The places taken in a window, oldest first; any of them can be given back. */
class Places {
  oldest: Place | null = null;
  count = 0;
  private newest: Place | null = null;

  take(at: number): Place {
    const place: Place = { at, before: this.newest, after: null };
    if (this.newest === null) this.oldest = place;
    else this.newest.after = place;
    this.newest = place;
    this.count++;
    return place;
  }

  /** A place that is over already is not given back. */
  giveBack(place: Place): void {
    if (place.before === null && this.oldest !== place) return;
    this.count--;
    if (place.before === null) this.oldest = place.after;
    else place.before.after = place.after;
    if (place.after === null) this.newest = place.before;
    else place.after.before = place.before;
    place.before = null;
    place.after = null;
  }

  /** After the clock was set back: what lies ahead was now, or nobody would be admitted until then. */
  notAfter(now: number): void {
    for (let place = this.newest; place !== null && place.at > now; place = place.before) place.at = now;
  }

  endUntil(from: number): void {
    while (this.oldest !== null && this.oldest.at <= from) this.giveBack(this.oldest);
  }
}

interface Log {
  readonly total: Places;
  readonly successful: Places;
}

interface ModelRateLimiter {
  /** Throws 429. Call the result once, when the outcome is known. */
  admit(user: UserId, limit: Settings['modelRateLimit']): (succeeded: boolean) => void;
}

const unlimited = (): void => {};

export function modelRateLimiter(clock: Clock): ModelRateLimiter {
  /** Who has been here since the last change of shifts, and who in the shift before. */
  let here = new Map<UserId, Log>();
  let before = new Map<UserId, Log>();
  let since = clock.now() as number;

  const logOf = (user: UserId, now: number, windowMs: number): Log => {
    since = Math.min(since, now);
    if (now - since >= windowMs) {
      before = now - since >= 2 * windowMs ? new Map() : here;
      here = new Map();
      since = now;
    }
    let log = here.get(user);
    if (log === undefined) {
      log = before.get(user) ?? { total: new Places(), successful: new Places() };
      here.set(user, log);
    }
    return log;
  };

  return {
    admit(user, { enabled, total, successful, windowSeconds }) {
      if (!enabled) return unlimited;
      const now = clock.now();
      const log = logOf(user, now, windowSeconds * 1000);
      const from = now - windowSeconds * 1000;
      log.total.notAfter(now);
      log.successful.notAfter(now);
      log.total.endUntil(from);
      log.successful.endUntil(from);
      const minutes = windowSeconds / 60;
      if (total > 0 && log.total.count >= total)
        throw tooMany(
          `at most ${total} requests per ${minutes} minutes, failed ones included`,
          log.total.oldest,
          windowSeconds,
          now,
        );
      if (log.successful.count >= successful)
        throw tooMany(
          `at most ${successful} requests per ${minutes} minutes`,
          log.successful.oldest,
          windowSeconds,
          now,
        );
      if (total > 0) log.total.take(now);
      const place = log.successful.take(now);
      return (succeeded) => {
        if (!succeeded) log.successful.giveBack(place);
      };
    },
  };
}

function tooMany(message: string, oldest: Place | null, windowSeconds: number, now: number): RelayError {
  const wait = Math.max(1, Math.ceil(((oldest?.at ?? now) + windowSeconds * 1000 - now) / 1000));
  const told = `${message}; the next one is free in ${wait} seconds`;
  return new RelayError(429, 'rate_limit_exceeded', told, { retryAfter: String(wait) });
}
