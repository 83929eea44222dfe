import { Failure, invalidField } from '../kernel/failure.js';
import type { UserId } from '../kernel/ids.js';
import { nearestQuota, type Quota } from '../kernel/quota.js';
import type { UserEvent } from './user.js';

/* What inviting pays: owed by the invitee's registration, earned by the inviter, spent once it is transferred. */

/** Who has invited somebody, and what is due for it. */
export interface Inviter {
  readonly id: UserId;
  readonly reward: Quota;
}

export const promised = (inviter: Inviter | null): UserEvent[] =>
  inviter === null || inviter.reward === 0
    ? []
    : [{ type: 'InviteRewardPromised', inviter: inviter.id, quota: inviter.reward }];

/** Whoever has left meanwhile gets nothing: nobody is there to spend it. */
export const earned = (
  { quota, invitee }: { readonly quota: Quota; readonly invitee: UserId },
  isThere: boolean,
): UserEvent[] => (isThere ? [{ type: 'InviteRewardEarned', quota, invitee }] : []);

/** `left`: earned and not transferred. Throws `invalid-field`, `invite-quota-short`. */
export function transferred(quota: Quota, left: bigint): UserEvent[] {
  if (quota <= 0) throw invalidField('quota', 'an integer from 1');
  if (quota > left) throw new Failure('invite-quota-short', { available: nearestQuota(left) });
  return [{ type: 'InviteRewardTransferred', quota }];
}
