import type { Clock } from '../../application/ports/storage-ports.js';
import { TokenBuckets } from '../../rate-limit/token-bucket.js';

/** API keys that nobody has, shown from one address: a mistyped configuration needs far fewer. */
const usualPerMinute = 60;

/** How many keys that nobody has each place has shown. */
export interface WrongKeys {
  /** Whether the place may show another key that is not known here. */
  mayShow(place: string): boolean | Promise<boolean>;
  /** It was one that nobody has. */
  shown(place: string): void;
}

export function countWrongKeys(clock: Clock, perMinute = usualPerMinute): WrongKeys {
  const buckets = new TokenBuckets({ perMinute }, clock);
  return {
    mayShow: (place) => buckets.has(place, 1),
    shown: (place) => void buckets.spend(place, 1),
  };
}
