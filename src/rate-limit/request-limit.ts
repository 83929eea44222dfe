import { rateLimitKey } from '../http/client-network.js';
import type { MillisecondClock } from './keyed-counts.js';
import { SlidingWindow } from './sliding-window.js';

/** How often one client may ask. */
export interface RequestRateLimit {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** Accepts (true) or refuses (false) a request from an address; addresses of one network are one client. null: accepts all. */
export function requestLimit(rule: RequestRateLimit | null, clock: MillisecondClock): (address: string) => boolean {
  if (rule === null) return () => true;
  const window = new SlidingWindow<string>({ max: rule.limit, windowMs: rule.windowSeconds * 1000 }, clock);
  return (address) => {
    const client = rateLimitKey(address);
    if (window.waitMs(client) > 0) return false;
    window.take(client);
    return true;
  };
}
