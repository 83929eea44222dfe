import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { enteredQuota, Quota } from '../../domain/kernel/quota.js';
import { type Actor, type UserCommand, type UserEvent, userDecider } from '../../domain/user/user.js';
import type { Handle } from '../handle.js';
import { type IdempotencyStore, idempotencyMark } from '../idempotency.js';
import type { Settings } from '../options/settings.js';
import type { Directory, EventStore } from '../ports/storage-ports.js';
import { quotaStyle, quotaText } from '../quota-text.js';

/*
 * What inviting pays. The registration of the invitee says how much; the inviter earns it once, in a stream of their
 * own, and takes it into the balance when there is enough of it.
 */

interface InviteRewardPorts {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly handle: Handle;
  readonly directory: Pick<Directory, 'settings'>;
  readonly once: IdempotencyStore;
}

type Promised = Extract<UserEvent, { type: 'InviteRewardPromised' }>;

/** What became of a reward that was promised. */
export interface RewardOutcome extends Pick<Promised, 'inviter' | 'quota'> {
  /** null: the inviter is gone, and nobody is given anything. */
  readonly position: Position | null;
}

/** No key of a client's has a blank in it, so nobody's order takes its place. */
const rewardKey = 'invite reward';

/** A unit, as the legacy contract has it; amounts are whole. */
const minTransfer = (settings: Settings): Quota => Quota(Math.max(1, Math.ceil(quotaStyle(settings).quotaPerUnit)));

export function inviteRewards({ store, handle, directory, once }: InviteRewardPorts) {
  const promiseTo = async (invitee: UserId): Promise<Promised | null> => {
    // It came with the registration, so it is at the stream's beginning.
    for await (const page of store.streamPages(streams.user(invitee)))
      for (const { event } of page) if (event.type === 'InviteRewardPromised') return event;
    return null;
  };

  return {
    /** What the invitee's registration promised is earned, however often this is asked for. null: it promised nothing. */
    async give(invitee: UserId): Promise<RewardOutcome | null> {
      const promised = await promiseTo(invitee);
      if (promised === null) return null;
      const { inviter, quota } = promised;
      const stream = streams.user(inviter);
      const { events, position } = await handle(
        userDecider,
        stream,
        { type: 'EarnInviteReward', quota, invitee },
        idempotencyMark(invitee, rewardKey, stream, rewardKey),
      );
      return { inviter, quota, position: events.length === 0 ? null : position };
    },

    /**
     * Of what was earned, into the balance. `key`: the client's name for this order; a repeat changes nothing. Throws
     * `invite-transfer-too-small`, `invite-quota-short`.
     */
    async transfer(actor: Actor, quota: number, key: string | null = null): Promise<Position> {
      const wanted = enteredQuota('quota', quota);
      const content = JSON.stringify(['transfer invite reward', quota]);
      return once({ actor: actor.id, key, content }, async ({ mark }) => {
        // Asked only where the order is new: its repeat has the first result, whatever the least is by then.
        const transferring = async (): Promise<UserCommand> => {
          const settings = directory.settings();
          const min = minTransfer(settings);
          if (wanted < min)
            throw new Failure('invite-transfer-too-small', {
              min,
              allowed: quotaText(min, quotaStyle(settings)),
            });
          return { type: 'TransferInviteReward', quota: wanted };
        };
        const stream = streams.user(actor.id);
        const { position } = await handle(userDecider, stream, transferring, mark(stream));
        return position;
      });
    },
  };
}

export type InviteRewards = ReturnType<typeof inviteRewards>;
