import { newEventId } from '../application/event-id.js';
import type { Handle } from '../application/handle.js';
import type { NodeDirectory } from '../application/memory/directory.js';
import type { Balances } from '../application/memory/quota-gate.js';
import type { Tail } from '../application/memory/tail.js';
import type { Notify } from '../application/notifications/notifier.js';
import type { EventStore, PersonalData, ReactionCheckpoints, Vault } from '../application/ports/storage-ports.js';
import type { StoredResponsesOfUser } from '../application/ports/stored-response-ports.js';
import type { TaskStore } from '../application/ports/task-ports.js';
import { dropSecrets } from '../application/reactions/drop-secrets.js';
import { forgetDeletedUsers } from '../application/reactions/forget-deleted-users.js';
import { forgetFactors } from '../application/reactions/forget-factors.js';
import { freeErasedClaims } from '../application/reactions/free-erased-claims.js';
import { giveInviteRewards } from '../application/reactions/give-invite-rewards.js';
import { notifyOwners } from '../application/reactions/notify-owners.js';
import { refundFailedTasks } from '../application/reactions/refund-failed-tasks.js';
import { remindOfQuota } from '../application/reactions/remind-of-quota.js';
import { reportChannels } from '../application/reactions/report-channels.js';
import { reportLowBalances } from '../application/reactions/report-low-balances.js';
import { reportTestRuns } from '../application/reactions/report-test-runs.js';
import { runReactions } from '../application/reactions/run-reactions.js';
import type { InviteRewards } from '../application/users/invite-rewards.js';
import type { UserId } from '../domain/kernel/ids.js';
import type { NodeStart } from './node-start.js';

/** Between two rounds of reactions to what has happened. */
const reactionPauseMs = 2_000;

interface ReactionJobs {
  readonly store: EventStore;
  readonly tail: Tail;
  readonly checkpoints: ReactionCheckpoints;
  readonly handle: Handle;
  readonly vault: Vault;
  readonly personal: PersonalData;
  readonly taskStore: Pick<TaskStore, 'clearOf'>;
  readonly storedResponses: Pick<StoredResponsesOfUser, 'removeAll'>;
  readonly directory: NodeDirectory;
  readonly gate: Balances;
  readonly notify: Notify;
  /** null: nobody has set the gateway up. */
  readonly root: () => Promise<UserId | null>;
  readonly freeClaims: (id: UserId) => Promise<void>;
  readonly inviteRewards: Pick<InviteRewards, 'give'>;
}

/** What is to follow from what has happened. Resolves once all of them know where they go on from. */
export async function startReactions({ clock, log, closing }: NodeStart, jobs: ReactionJobs): Promise<void> {
  const { store, tail, checkpoints, handle, vault, personal, directory, gate, notify, root } = jobs;
  const stop = await runReactions(
    { store, tail, checkpoints },
    [
      dropSecrets({ store, vault }),
      forgetDeletedUsers({ personal, taskContents: jobs.taskStore, storedResponses: jobs.storedResponses }),
      refundFailedTasks({ store, handle }),
      freeErasedClaims(jobs.freeClaims),
      remindOfQuota({ directory, gate, notify, clock, newEventId }),
      reportChannels({ store, root, notify }),
      reportTestRuns({ store, root, notify }),
      reportLowBalances({ store, root, notify }),
      forgetFactors({ handle }),
      notifyOwners({ store, personal, notify }),
      giveInviteRewards({
        rewards: jobs.inviteRewards,
        lapsed: (facts) => log.warn(facts, 'a reward for inviting lapsed: the inviter is gone'),
      }),
    ],
    {
      everyMs: reactionPauseMs,
      failed: (error, reaction) => log.error({ err: error, reaction }, 'a reaction failed; it is tried again'),
    },
  );
  closing.add(stop);
}
