import { mayUse } from '../../domain/call/usage-bound.js';
import { mayThink } from '../metering/unseen-cost.js';
import type { SentRequest } from '../pipeline/attempt-failure.js';
import type { ReservedCall } from '../pipeline/call-context.js';

interface HiddenCosts {
  /** It may think where nobody sees it. */
  readonly thinks: boolean;
  /** What it puts out may be sound, which nobody counts but upstream. */
  readonly hasAudio: boolean;
}

/** What only upstream can see of a call that was put to it so. */
export const hiddenCosts = (
  { resolution: { requestedModel }, reservation }: Pick<ReservedCall, 'resolution' | 'reservation'>,
  { upstreamModel, thinking }: SentRequest,
): HiddenCosts => ({
  thinks: mayThink(thinking, requestedModel, upstreamModel),
  hasAudio: mayUse(reservation.bound, 'audioOutput'),
});
