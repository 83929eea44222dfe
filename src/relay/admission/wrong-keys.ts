import type { Clock } from '../../application/ports/storage-ports.js';
import { TokenBuckets } from '../../rate-limit/token-bucket.js';

/** API keys that nobody has, shown from one address: a mistyped configuration needs far fewer. */
const usualPerMinute = 60;

/** How many keys that nobody has each place has shown. */
export interface WrongKeys {
  /** Whether the place may show another key that is not known here. */
  mayShow(network: string): boolean | Promise<boolean>;
  /** It was one that nobody has. */
  shown(network: string): void;
}

export function countWrongKeys(clock: Clock, perMinute = usualPerMinute): WrongKeys {
  const buckets = new TokenBuckets({ perMinute }, clock);
  return {
    mayShow: (network) => buckets.has(network, 1),
    shown: (network) => void buckets.spend(network, 1),
  };
}
