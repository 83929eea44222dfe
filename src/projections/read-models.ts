import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import { apiKeys } from './api-keys.js';
import { channels } from './channels.js';
import type { Database, ReadModels } from './database.js';
import { ledger } from './ledger.js';
import { options } from './options.js';
import { type Projection, schemaOf } from './projection.js';
import { readConnections } from './read-connections.js';
import { usageLog } from './usage-log.js';
import { usageStats } from './usage-stats.js';
import { users } from './users.js';

/** Every read model there is, in the order they are listed to operators. */
export const readModels: readonly Projection[] = [users, apiKeys, channels, options, usageLog, usageStats, ledger];

/** Where unqualified names are looked up: the current version of each read model. */
export const readModelSearchPath = [...readModels.map(schemaOf), 'public'].join(', ');

/**
 * A handle to read with; it does not close the pool. Its reads throw Failure `query-too-slow` and `store-unavailable`.
 */
export const openReadModels = (pool: Pool): ReadModels =>
  new Kysely<Database>({ dialect: new PostgresDialect({ pool: readConnections(pool, readModelSearchPath) }) });
