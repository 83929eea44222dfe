import { postgresReactionCheckpoints } from '../adapters/reaction-checkpoints.js';
import type { Application } from '../application/application.js';
import { notifier } from '../application/notifications/notifier.js';
import type { NotificationQueue } from '../application/ports/outbound-ports.js';
import type { CallId } from '../domain/kernel/ids.js';
import { rootUserId } from '../projections/models/user-queries.js';
import type { RelayWorkers } from '../relay-process/workers/relay-workers.js';
import { startMaintenance } from './maintenance-jobs.js';
import type { NodeStart } from './node-start.js';
import { startNotifications } from './notification-jobs.js';
import type { NodeMemory } from './open-memory.js';
import type { NodeDatabase } from './open-node-database.js';
import type { NodeLog } from './open-node-log.js';
import type { NodeOutbound } from './open-outbound.js';
import type { NodeProjections } from './open-projections.js';
import type { NodeCalls } from './open-relay-calls.js';
import type { NodeVault } from './open-vault.js';
import { startReactions } from './reaction-jobs.js';
import { startRecovery } from './recovery-jobs.js';
import { startRepairs } from './repair-jobs.js';
import { startSealHeads, startSealing } from './seal-jobs.js';

/* What a node goes on doing beside what it is asked for: it finishes what others, or crashes, have left. */

interface JobParts {
  readonly database: NodeDatabase;
  readonly secrets: NodeVault;
  readonly eventLog: NodeLog;
  readonly readModels: NodeProjections;
  readonly memory: NodeMemory;
  readonly services: NodeOutbound;
  readonly calls: NodeCalls;
  readonly application: Application;
  readonly notificationQueue: NotificationQueue;
  /** null: this process serves all calls itself. */
  readonly workers: RelayWorkers | null;
}

/** Resolves once calls that an earlier process left open have been looked for. */
export async function startBackgroundJobs(node: NodeStart, parts: JobParts): Promise<void> {
  const { memory, calls, application, workers, notificationQueue: queue } = parts;
  const { store, notes, began } = parts.eventLog;
  const { db, progress } = parts.readModels;
  const { vault, personal, sessions } = parts.secrets;
  const { directory, gate, tail } = memory;
  const { handle } = calls;
  const inFlight = workers ?? calls.inFlight;
  const { background, taskStore } = calls;
  const served = { has: (callId: CallId) => inFlight.has(callId) || background.has(callId) };

  await startRecovery(node, {
    ...{ db, handle, gate, tail, progress, notes, began, taskStore },
    inFlight: served,
    whenLost: (look) => workers?.whenLost(look),
  });
  node.closing.add(background.start());
  node.closing.add(calls.taskPoller.start());
  const notify = notifier({ queue, personal, clock: node.clock, limit: node.config.notificationLimit });
  const root = () => rootUserId(db);
  await startReactions(node, {
    ...{ store, tail, handle, vault, personal, directory, gate, taskStore },
    storedResponses: calls.shared.storedResponses,
    checkpoints: postgresReactionCheckpoints(parts.database.pool),
    ...{ notify, root },
    freeClaims: application.users.freeClaims,
    inviteRewards: application.users.inviteRewards,
  });
  await startRepairs(node, {
    ...{ store, tail, gate, directory, pool: parts.database.pool },
    checkpoints: postgresReactionCheckpoints(parts.database.pool),
  });
  startNotifications(node, { ...parts.services, queue, db, personal, vault, directory, sessions });
  startSealing(node, { pool: parts.database.pool, vault });
  startSealHeads(node, { pool: parts.database.pool, directory, notify, root });
  startMaintenance(node, {
    ...{ db, directory, inFlight, notes },
    storedResponses: calls.shared.storedResponses,
    payments: application.payments,
    channels: application.byTheClock,
    channelIntervals: node.config.channels,
    usageLog: application.usageLog,
    priceUpdates: application.priceUpdates,
  });
}
