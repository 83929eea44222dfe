import { channels } from '../projections/models/channels.js';
import { usageLog } from '../projections/models/usage-log/usage-log.js';
import { usageLogAfter } from '../projections/models/usage-log/usage-log-queries.js';
import { users as usersModel } from '../projections/models/users.js';
import { apiKeyQueries } from './api-keys/api-key-queries.js';
import type { ApplicationPorts } from './application-ports.js';
import { administratorsLogQueries } from './audit/administrators-log.js';
import { asOfQueries } from './audit/as-of-queries.js';
import { movementEventQueries } from './audit/movement-event.js';
import { quotaHistoryQueries } from './audit/quota-history.js';
import { receiptQueries } from './audit/receipt-queries.js';
import { settingsQueries } from './audit/settings-at.js';
import { whatIfQueries } from './audit/what-if-queries.js';
import { booksQueries } from './books/books-queries.js';
import { channelQueries } from './channels/channel-queries.js';
import { UsageFeed } from './memory/usage-feed.js';
import { notificationQueries } from './notifications/notification-queries.js';
import type { SignInParts } from './open-sign-in.js';
import { optionQueries } from './options/option-queries.js';
import { offerQueries } from './payments/offers.js';
import { paymentQueries } from './payments/payment-queries.js';
import { priceEditingQueries } from './prices/price-editing.js';
import { priceQueries } from './prices/price-queries.js';
import { redemptionQueries } from './redemptions/redemption-queries.js';
import { sealQueries } from './seals/seal-queries.js';
import { securityQueries } from './sign-in/security.js';
import { taskQueries } from './tasks/task-queries.js';
import { callQueries } from './usage/calls.js';
import { lineCosts } from './usage/cost-of-line.js';
import { logExportQueries } from './usage/log-export.js';
import { statementQueries } from './usage/statements.js';
import { trafficQueries } from './usage/traffic.js';
import { usageQueries } from './usage/usage-queries.js';
import { userQueries } from './users/user-queries.js';

/* What the faces can read, each for a viewer. */

/** Longest a read that shows nobody's own write in particular waits for the newest. */
const freshnessTimeoutMs = 500;

/** What a line of the usage log is shown with. */
const usageLogAndNames = [usageLog.name, usersModel.name, channels.name];

interface QueryTerms {
  readonly signIn: Pick<SignInParts, 'methods' | 'factorMemory'>;
  /** Longest a follower of the log waits for a line to be readable. */
  readonly visibilityTimeoutMs: number;
}

function openUsageFeed({ tail, db, progress }: ApplicationPorts, visibilityTimeoutMs: number): UsageFeed {
  return new UsageFeed({
    tail,
    read: (filter, range) => usageLogAfter(db, filter, range),
    holds: (position) => progress.reached(position, visibilityTimeoutMs, usageLogAndNames),
    isBuilding: () => progress.status().some(({ name, status }) => name === usageLog.name && status === 'building'),
  });
}

export function openQueries(ports: ApplicationPorts, { signIn, visibilityTimeoutMs }: QueryTerms) {
  const { store, clock, vault, personal, db, progress, directory, gate, tail, providers } = ports;
  const reading = { db, fresh: () => progress.reached(tail.position(), freshnessTimeoutMs) };
  const usageFeed = openUsageFeed(ports, visibilityTimeoutMs);
  return {
    ...userQueries({ ...reading, vault, personal }),
    ...apiKeyQueries({ ...reading, clock, store, vault, gate }),
    ...channelQueries({ ...reading, vault, providers }),
    ...redemptionQueries({ ...reading, vault }),
    ...offerQueries({ directory, providers }),
    ...optionQueries({ ...reading, directory }),
    ...settingsQueries({ db, tail, progress, directory }),
    ...quotaHistoryQueries({ db, store, tail, progress }),
    ...movementEventQueries({ store }),
    ...asOfQueries({ db, store, tail, progress }),
    ...whatIfQueries({ db, store, tail, progress, directory, clock, settledCalls: ports.settledCalls }),
    ...sealQueries({ sealing: ports.sealing, vault, clock }),
    ...booksQueries({ store }),
    ...administratorsLogQueries({ db, tail, progress, personal }),
    ...priceQueries({ ...reading, directory, clock }),
    ...priceEditingQueries({ directory, clock }),
    ...notificationQueries({ clock, notificationQueue: ports.notificationQueue }),
    ...paymentQueries({ ...reading, directory, providers: ports.paymentProviders }),
    ...signIn.methods,
    ...trafficQueries({ ...reading, traffic: ports.traffic }),
    ...securityQueries({ factors: signIn.factorMemory, personal }),
    ...usageQueries({ ...reading, vault, directory, clock, usageFeed }),
    ...callQueries({ db, progress, store }),
    ...lineCosts({ store, directory }),
    ...receiptQueries({ db, progress, store, clock, vault, sealing: ports.sealing }),
    ...taskQueries({ ...reading, vault, personal, taskStore: ports.taskStore }),
    ...statementQueries({ db, directory, clock, tail, progress }),
    ...logExportQueries({ db, tail, progress }),
  };
}
