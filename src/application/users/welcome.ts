import type { UserId } from '../../domain/kernel/ids.js';
import { Quota } from '../../domain/kernel/quota.js';
import type { Inviter } from '../../domain/user/invite-reward.js';
import type { GrantReason } from '../../domain/user/user.js';
import type { Settings } from '../options/settings.js';

export interface Welcome {
  readonly grants: readonly { readonly quota: Quota; readonly reason: GrantReason }[];
  readonly inviter: Inviter | null;
}

/**
 * What every new user is given, however they register; and, where somebody has invited them, what is added and what the
 * inviter is promised.
 */
export const welcome = (
  {
    quotaForNewUser,
    quotaForInvitee,
    quotaForInviter,
  }: Pick<Settings, 'quotaForNewUser' | 'quotaForInvitee' | 'quotaForInviter'>,
  inviter: UserId | null = null,
): Welcome => ({
  grants: [
    { quota: Quota(quotaForNewUser), reason: 'signup' },
    ...(inviter === null ? [] : [{ quota: Quota(quotaForInvitee), reason: 'invitee' } as const]),
  ],
  inviter: inviter === null ? null : { id: inviter, reward: Quota(quotaForInviter) },
});
