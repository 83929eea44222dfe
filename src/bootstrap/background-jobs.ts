import type pg from 'pg';
import type { Logger } from 'pino';
import { postgresReactionCheckpoints } from '../adapters/reaction-checkpoints.js';
import { newEventId } from '../application/event-id.js';
import type { Handle } from '../application/handle.js';
import type { NodeDirectory } from '../application/memory/directory.js';
import type { Balances } from '../application/memory/quota-gate.js';
import type { Tail } from '../application/memory/tail.js';
import { deliverNotification } from '../application/notifications/deliver-notification.js';
import { notificationDispatcher } from '../application/notifications/notification-dispatcher.js';
import { notifier } from '../application/notifications/notifier.js';
import type { OptionSecrets } from '../application/options/option-secrets.js';
import type { PaymentCommands } from '../application/payments/payment-commands.js';
import type { Mailer, NotificationLimit, NotificationQueue, Outbound } from '../application/ports/outbound-ports.js';
import type {
  CallProgressNotes,
  Clock,
  EventStore,
  PersonalData,
  QuotaGate,
  ReadModelProgress,
  Sessions,
  Vault,
} from '../application/ports/storage-ports.js';
import { keepAwaiting } from '../application/reactions/await-payments.js';
import { dropSecrets } from '../application/reactions/drop-secrets.js';
import { forgetDeletedUsers } from '../application/reactions/forget-deleted-users.js';
import { forgetFactors } from '../application/reactions/forget-factors.js';
import { freeErasedClaims } from '../application/reactions/free-erased-claims.js';
import { giveInviteRewards } from '../application/reactions/give-invite-rewards.js';
import {
  type ChannelIntervals,
  type ChannelsByTheClock,
  keepChannels,
} from '../application/reactions/keep-channels.js';
import { keepReacting } from '../application/reactions/keep-reacting.js';
import { keepRetention } from '../application/reactions/keep-retention.js';
import { keepRecovering } from '../application/reactions/recovery.js';
import { remindOfQuota } from '../application/reactions/remind-of-quota.js';
import { reportChannels } from '../application/reactions/report-channels.js';
import { reportLowBalances } from '../application/reactions/report-low-balances.js';
import { reportTestRuns } from '../application/reactions/report-test-runs.js';
import { tellOwners } from '../application/reactions/tell-owners.js';
import type { UsageLogCommands } from '../application/usage/usage-log-commands.js';
import type { InviteRewards } from '../application/users/invite-rewards.js';
import type { Position } from '../domain/events/events.js';
import type { UserId } from '../domain/kernel/ids.js';
import type { Closing } from '../process/closing.js';
import type { ReadModels } from '../projections/database.js';
import { pendingPayments } from '../projections/models/payment-queries.js';
import { rootUserId } from '../projections/models/user-queries.js';
import type { InFlightCalls } from '../relay/metering/in-flight-calls.js';

/* What a node goes on doing beside what it is asked for: it finishes what others, or crashes, have left. */

/** Between two looks for calls that nobody serves and that have no outcome. */
const recoveryPauseMs = 60_000;

/** Between two rounds of reactions to what has happened. */
const reactionPauseMs = 2_000;

/** Between two looks for orders that may have been paid. */
const paymentsPauseMs = 10_000;

/** Between two looks whether the usage log is to lose a day. */
const retentionPauseMs = 10 * 60_000;

/** Between two looks for notifications that are due. */
const tellingPauseMs = 1_000;

interface UpkeepPorts {
  readonly store: EventStore;
  readonly pool: pg.Pool;
  readonly db: ReadModels;
  readonly handle: Handle;
  readonly clock: Clock;
  readonly tail: Tail;
  readonly progress: ReadModelProgress;
  readonly vault: Vault;
  readonly personal: PersonalData;
  readonly freeClaims: (id: UserId) => Promise<void>;
  readonly inviteRewards: Pick<InviteRewards, 'give'>;
  readonly payments: PaymentCommands;
  readonly channels: ChannelsByTheClock;
  readonly channelIntervals: ChannelIntervals;
  readonly usageLog: Pick<UsageLogCommands, 'retain'>;
  readonly notes: CallProgressNotes;
  readonly underWay: Pick<InFlightCalls, 'has' | 'keepNoting'>;
  /** Has `look` told up to where calls have just been left by whoever served them. */
  readonly whenLost: (look: (upTo: Position) => void) => void;
  readonly directory: NodeDirectory;
  readonly gate: Balances & Pick<QuotaGate, 'chargeLeft'>;
  readonly outbound: Outbound;
  readonly mailer: Mailer;
  readonly sessions: Pick<Sessions, 'languageOf'>;
  readonly secretOf: OptionSecrets;
  readonly queue: NotificationQueue;
  /** Of notifications. */
  readonly limit: NotificationLimit;
  readonly log: Logger;
  /** The end of the log as this process began. */
  readonly began: Position;
}

/** Resolves once calls that an earlier process left open have been looked for. */
export async function startBackgroundJobs(ports: UpkeepPorts, closing: Closing): Promise<void> {
  const {
    store,
    pool,
    db,
    handle,
    clock,
    tail,
    progress,
    vault,
    personal,
    freeClaims,
    inviteRewards,
    payments,
    channels,
    channelIntervals,
    usageLog,
    notes,
    underWay,
    whenLost,
    log,
    began,
  } = ports;
  const { queue, limit, directory, gate } = ports;
  const root = () => rootUserId(db);
  const notify = notifier({ queue, personal, clock, limit });
  const recovering = await keepRecovering(
    { db, handle, clock, gate, notes, isUnderWay: (callId) => underWay.has(callId) },
    {
      progress,
      began,
      position: () => tail.position(),
      everyMs: recoveryPauseMs,
      recovered: ({ released, settled }) => log.warn({ released, settled }, 'ended calls that a process left open'),
      failed: (error) => log.error({ err: error }, 'calls left open could not be ended; it is tried again'),
      behind: () =>
        log.warn(
          'the ledger does not know all calls yet that an earlier process left open; it is asked again and again',
        ),
    },
  );
  closing.add(() => recovering.stop());
  whenLost((upTo) => recovering.look(upTo));
  closing.add(
    await keepReacting(
      { store, tail, places: postgresReactionCheckpoints(pool) },
      [
        dropSecrets({ store, vault }),
        forgetDeletedUsers({ personal }),
        freeErasedClaims(freeClaims),
        remindOfQuota({ directory, gate, notify, clock, newEventId }),
        reportChannels({ store, root, notify }),
        reportTestRuns({ store, root, notify }),
        reportLowBalances({ store, root, notify }),
        forgetFactors({ handle }),
        tellOwners({ store, personal, notify }),
        giveInviteRewards({
          rewards: inviteRewards,
          lapsed: (facts) => log.warn(facts, 'a reward for inviting lapsed: the inviter is gone'),
        }),
      ],
      {
        everyMs: reactionPauseMs,
        failed: (error, reaction) => log.error({ err: error, reaction }, 'a reaction failed; it is tried again'),
      },
    ),
  );
  closing.add(
    notificationDispatcher(
      {
        ...{ queue, personal, clock, log },
        tell: (user, notification) =>
          deliverNotification({ ...ports, settings: () => directory.settings() }, user, notification),
      },
      { everyMs: tellingPauseMs, backoffMs: [5, 30, 300, 1800, 7200, 21_600].map((seconds) => seconds * 1000) },
    ),
  );
  closing.add(
    keepAwaiting(
      { open: (after, most) => pendingPayments(db, after, most), clock, payments },
      {
        everyMs: paymentsPauseMs,
        failed: (error, order) => log.warn({ err: error, order }, 'an order of quota could not be asked about'),
      },
    ),
  );
  closing.add(
    keepChannels(channels, channelIntervals, (error) =>
      log.error({ err: error }, 'the balances of channels could not be asked for; it is tried again'),
    ),
  );
  closing.add(
    keepRetention(
      { settings: () => directory.settings(), clock, usageLog },
      {
        everyMs: retentionPauseMs,
        cleared: ({ before, lines }) =>
          log.info({ before: new Date(before).toISOString(), lines }, 'the usage log was cleared, as an option says'),
        failed: (error) =>
          log.warn({ reason: String(error) }, 'the usage log cannot be cleared now; it is tried again'),
      },
    ),
  );
  closing.add(
    underWay.keepNoting(notes, (error) => log.warn({ reason: String(error) }, 'calls under way cannot be noted now')),
  );
}
