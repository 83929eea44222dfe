import { postgresDetachedLog } from '../adapters/archives/detached-log.js';
import { postgresSettledCalls } from '../adapters/event-log/settled-calls.js';
import { postgresIds } from '../adapters/ids.js';
import { postgresNotificationQueue } from '../adapters/notification-queue.js';
import { postgresPendingIdempotencyKeys } from '../adapters/pending-idempotency-keys.js';
import { sealReading } from '../adapters/seals/seal-reading.js';
import { webauthnPasskeys } from '../adapters/sign-in/passkeys.js';
import { totpCodes } from '../adapters/sign-in/totp.js';
import { openApplication } from '../application/application.js';
import { identitySource } from '../application/memory/directory-source.js';
import { notifyOfGuessing } from '../application/notifications/notify-of-guessing.js';
import { setupCode } from '../application/sign-in/setup-code.js';
import { rootUserId } from '../projections/models/user-queries.js';
import { channelBalances } from '../relay/probes/channel-balance.js';
import { upstreamModels } from '../relay/probes/channel-models.js';
import { channelProbe } from '../relay/probes/channel-probe.js';
import { engineProbe } from '../relay/probes/engine-probe.js';
import { providerTable } from '../relay/providers/registry.js';
import type { NodeStart } from './node-start.js';
import type { NodeMemory } from './open-memory.js';
import type { NodeDatabase } from './open-node-database.js';
import type { NodeLog } from './open-node-log.js';
import type { NodeOutbound } from './open-outbound.js';
import type { NodeProjections } from './open-projections.js';
import type { NodeCalls } from './open-relay-calls.js';
import type { NodeVault } from './open-vault.js';
import { printSetupCode } from './print-setup-code.js';

/* What the faces can ask for, over everything that has been opened. */

interface ApplicationParts {
  readonly database: NodeDatabase;
  readonly secrets: NodeVault;
  readonly eventLog: NodeLog;
  readonly readModels: NodeProjections;
  readonly memory: NodeMemory;
  readonly services: NodeOutbound;
  readonly calls: NodeCalls;
  readonly version: string;
  /** Of the gateway, as this machine reaches it. */
  readonly url: () => string;
}

/** Resolves once a set-up that was cut short has been finished. */
export async function openNodeApplication({ config, log, clock, passwords }: NodeStart, parts: ApplicationParts) {
  const { database, secrets, eventLog, readModels, memory, services, calls } = parts;
  const { db, lists, progress } = readModels;
  const { vault, personal, sessions, tickets } = secrets;
  const { handle, warn, proxies, runtime, taskStore } = calls;
  const notificationQueue = postgresNotificationQueue(database.pool);
  const application = openApplication({
    ...{ clock, handle, warn, vault, personal, sessions, tickets, progress, proxies, notificationQueue, taskStore },
    store: eventLog.store,
    storedResponses: calls.shared.storedResponses,
    ...memory,
    ...services,
    db: lists,
    sealing: sealReading(database.pool),
    archives: postgresDetachedLog(database.pool),
    settledCalls: postgresSettledCalls(database.pool),
    ids: postgresIds(database.pool),
    unsettledOrders: postgresPendingIdempotencyKeys(database.pool),
    identitySource: identitySource(db, personal),
    passwords,
    codes: totpCodes,
    passkeyChecks: webauthnPasskeys,
    guessed: notifyOfGuessing({ queue: notificationQueue, personal, clock, limit: config.notificationLimit, log }),
    allowHttp: config.outbound.allowHttp,
    probe: channelProbe({ ...runtime.ports, root: () => rootUserId(db) }),
    balances: channelBalances(runtime.ports),
    upstreamModels: upstreamModels(runtime.ports),
    engines: engineProbe(runtime.ports),
    setupCode: config.server.setupCodeRequired ? setupCode((code) => printSetupCode(log, parts.url(), code)) : null,
    providers: providerTable,
    version: parts.version,
    releasesUrl: config.releasesUrl,
  });
  await application.setup.resume();
  return { application, notificationQueue };
}
