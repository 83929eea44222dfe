import { streamKey } from '../../domain/events/events.js';
import { UserId } from '../../domain/kernel/ids.js';
import type { InviteRewards, RewardOutcome } from '../users/invite-rewards.js';
import type { Reaction } from './run-reactions.js';

interface GiveInviteRewardsPorts {
  readonly rewards: Pick<InviteRewards, 'give'>;
  /** Called with a reward that nobody is there to get. */
  readonly lapsed: (facts: Pick<RewardOutcome, 'inviter' | 'quota'> & { readonly invitee: UserId }) => void;
}

/** Who has invited a new user earns what was promised for it. Registering does it at once; this, where that failed. */
export const giveInviteRewards = ({ rewards, lapsed }: GiveInviteRewardsPorts): Reaction => ({
  name: 'give-invite-rewards',
  asks: ({ stream, event }) => (event.type === 'InviteRewardPromised' ? stream : null),
  async react(stream) {
    const invitee = UserId(streamKey(stream));
    const outcome = await rewards.give(invitee);
    if (outcome?.position === null) lapsed({ inviter: outcome.inviter, quota: outcome.quota, invitee });
  },
});
