import type { Clock } from '../../application/ports/storage-ports.js';
import { rateLimitKey } from '../../http/place.js';

/*
 * How often one client may ask: one IPv4 address, or the part of an IPv6 address that a subscriber gets. In this
 * process's memory, which forgets the least recent first.
 */

export interface RequestRateLimit {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** null: the family is switched off. */
export interface RateLimits {
  readonly api: RequestRateLimit | null;
  /** Unknown paths count here. */
  readonly web: RequestRateLimit | null;
}

/** Answered with status 429 and nothing else. */
export class TooManyRequests extends Error {}

const addressesKept = 10_000;

/**
 * Sliding window: a request is refused while the `limit`-th last accepted one is younger than the window. Refused
 * requests do not count. The function returned accepts (true) or refuses (false) a request of a client.
 */
export function slidingWindow(rule: RequestRateLimit | null, clock: Clock): (client: string) => boolean {
  if (rule === null) return () => true;
  const { limit, windowSeconds } = rule;
  const accepted = new Map<string, number[]>();

  return (address) => {
    const client = rateLimitKey(address);
    const now = clock.now();
    const times = accepted.get(client) ?? [];
    // A clock that was set back: what lies ahead was now.
    for (let at = times.length - 1; at >= 0 && (times[at] ?? 0) > now; at--) times[at] = now;
    const decisive = times.at(-limit);
    const admitted = decisive === undefined || decisive <= now - windowSeconds * 1000;
    if (admitted) times.push(now);
    if (times.length >= limit * 2) times.splice(0, times.length - limit);
    // Set anew so that the map stays in order of use.
    accepted.delete(client);
    accepted.set(client, times);
    if (accepted.size > addressesKept) {
      const [oldest] = accepted.keys();
      if (oldest !== undefined) accepted.delete(oldest);
    }
    return admitted;
  };
}
