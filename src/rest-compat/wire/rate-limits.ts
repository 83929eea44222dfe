import type { RequestRateLimit } from '../../rate-limit/request-limit.js';

/** null: the family is switched off. */
export interface RateLimits {
  readonly api: RequestRateLimit | null;
  /** Unknown paths count here. */
  readonly web: RequestRateLimit | null;
}

/** Answered with status 429 and nothing else. */
export class TooManyRequests extends Error {}
