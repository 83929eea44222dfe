import { rateLimitKey } from '../../http/client-network.js';
import type { TokenBuckets } from '../../rate-limit/token-bucket.js';
import type { GraphqlCaller } from './context.js';
import { RequestRefused } from './errors.js';

/*
 * What one caller may make the process do, in the unit of `limits.ts`: whoever is signed in has an allowance, whatever
 * the address; of everybody else it is the place they come from that has one.
 */

/** Throws `too-much-work`. */
export function payFor(buckets: TokenBuckets, payer: string | number, cost: number): void {
  const short = buckets.spend(payer, cost);
  if (short !== null) throw new RequestRefused('too-much-work', { ...short });
}

/** The id of the user who is signed in, else the place. */
export async function payerOf(caller: GraphqlCaller, address: string): Promise<string | number> {
  const user = await caller.identified();
  return user?.id ?? rateLimitKey(address);
}
