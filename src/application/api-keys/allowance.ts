import { Failure } from '../../domain/kernel/failure.js';
import { Quota } from '../../domain/kernel/quota.js';

/** Half of what can be counted: what calls under way give back on top must still be countable. */
const maxAllowance = (Number.MAX_SAFE_INTEGER - 1) / 2;

/** What an API key may spend. Throws `quota-out-of-range`, which names the field. */
export function allowanceOf(quota: number, field = 'quota'): Quota {
  if (Math.abs(quota) > maxAllowance)
    throw new Failure('quota-out-of-range', { field, allowed: `an integer within ±${maxAllowance}` });
  return Quota(quota);
}
