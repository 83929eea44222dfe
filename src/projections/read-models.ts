import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import type { Database, ReadModels } from './database.js';
import { type Projection, schemaOf } from './engine/projection.js';
import { readConnections } from './engine/read-connections.js';
import { administratorsLog } from './models/administrators-log/administrators-log.js';
import { apiKeys } from './models/api-keys.js';
import { channelFailures } from './models/channel-failures.js';
import { channelHistory } from './models/channel-history.js';
import { channels } from './models/channels.js';
import { keptObjects } from './models/kept-objects.js';
import { ledger } from './models/ledger/ledger.js';
import { optionHistory } from './models/option-history.js';
import { options } from './models/options.js';
import { payments } from './models/payments.js';
import { priceHistory } from './models/price-history.js';
import { priceRepairs } from './models/price-repairs.js';
import { quotaHistory } from './models/quota-history/quota-history.js';
import { redemptions } from './models/redemptions.js';
import { tasks } from './models/tasks.js';
import { usageLog } from './models/usage-log/usage-log.js';
import { usageStats } from './models/usage-stats/usage-stats.js';
import { users } from './models/users.js';
import { wallets } from './models/wallets.js';

/** Every read model there is, in the order they are listed to operators. */
export const readModels: readonly Projection[] = [
  users,
  apiKeys,
  channels,
  channelHistory,
  channelFailures,
  keptObjects,
  redemptions,
  options,
  optionHistory,
  priceHistory,
  priceRepairs,
  administratorsLog,
  payments,
  tasks,
  usageLog,
  usageStats,
  wallets,
  quotaHistory,
  ledger,
];

/** Where unqualified names are looked up: the current version of each read model. */
const readModelSearchPath = [...readModels.map(schemaOf), 'public'].join(', ');

/**
 * A handle to read with; it does not close the pool. Its reads throw Failure `query-too-slow` and `store-unavailable`.
 */
export const openReadModels = (pool: Pool): ReadModels =>
  new Kysely<Database>({ dialect: new PostgresDialect({ pool: readConnections(pool, readModelSearchPath) }) });
