import type { Recorded } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Movement } from '../../domain/ledger/movements.js';
import { tallyOf } from '../engine/tallies.js';

/* What inviting adds to the rows of users, batch by batch: apart from their wallets, as it is seldom. */

export interface Invitations {
  readonly id: UserId;
  invited_count: number;
  rewarded_count: number;
  invite_quota: bigint;
  invite_quota_ever: bigint;
}

const noInvitations = (id: UserId): Invitations => ({
  id,
  invited_count: 0,
  rewarded_count: 0,
  invite_quota: 0n,
  invite_quota_ever: 0n,
});

export function bookInvitations(invitations: Map<UserId, Invitations>, { cause, postings }: Movement): void {
  if (cause !== 'invite-reward' && cause !== 'invite-transfer') return;
  for (const posting of postings) {
    if (posting.owner !== 'inviter') continue;
    const tally = tallyOf(invitations, posting.id, noInvitations);
    tally.invite_quota += posting.amount;
    if (cause === 'invite-transfer') continue;
    tally.invite_quota_ever += posting.amount;
    tally.rewarded_count += 1;
  }
}

export function countInvited(invitations: Map<UserId, Invitations>, { event }: Recorded): void {
  if (event.type === 'UserRegistered' && event.inviter !== null)
    tallyOf(invitations, event.inviter, noInvitations).invited_count += 1;
}
