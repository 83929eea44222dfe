import type pg from 'pg';
import type { Logger } from 'pino';
import { systemClock } from '../adapters/clock.js';
import { checkMigrated } from '../adapters/database/migrate.js';
import { isDatabaseServed } from '../adapters/database/only-node.js';
import { newClient, openPool, type PostgresConnection, whereIs } from '../adapters/database/postgres.js';
import { adviceAtStart } from '../adapters/database/postgres-advice.js';
import { attachEmbeddedPostgres } from '../adapters/embedded-postgres/attach-postgres.js';
import { countOwnUnflushed } from '../adapters/event-log/journal/own-journal.js';
import { postgresLogIdentity } from '../adapters/event-log/postgres-event-log.js';
import { openPostgresEventStore } from '../adapters/event-log/postgres-event-store.js';
import { readMasterKey, verifyMasterKey } from '../adapters/vault/master-key.js';
import { postgresPersonalData } from '../adapters/vault/personal-data.js';
import { postgresVault } from '../adapters/vault/vault.js';
import { type Handle, handle } from '../application/handle.js';
import type { EventStore, PersonalData, Vault } from '../application/ports/storage-ports.js';
import type { Config } from '../config.js';

/** The data of a gateway, for a command beside it. */
export interface CommandDatabase {
  readonly pool: pg.Pool;
  /** For reading: what is appended is for the node that serves alone, which keeps it in memory and has an epoch. */
  readonly store: Omit<EventStore, 'append'>;
  /** Only for streams that no node keeps in memory, and that move nothing: the quarantine. */
  readonly handle: Handle;
  readonly personalData: PersonalData;
  readonly vault: Vault;
  /** Events in journals of gateways that ended badly, which the log may lack. */
  readonly unflushed: number;
  newClient(): pg.Client;
}

/** What a gateway that ended badly has in its journal is for the next one to bring into the log, not for a command. */
async function logLeftBehind({ database }: Config, pool: pg.Pool, log: Logger): Promise<number> {
  if (database.url !== null || (await isDatabaseServed(pool))) return 0;
  const events = await countOwnUnflushed({
    dataDir: database.dataDir,
    engine: { identity: () => postgresLogIdentity(pool) },
    log,
  });
  if (events > 0)
    log.warn({ events }, 'the log may lack events that a journal holds: start the gateway once, and it has them');
  return events;
}

/**
 * Runs `work` on the data the configuration names, whether a gateway is serving it or not; so it leaves the tables as
 * they are. Throws Failure `store-unavailable` where they are not those of this release.
 */
export async function withDatabase<Result>(
  config: Config,
  log: Logger,
  work: (database: CommandDatabase) => Promise<Result>,
): Promise<Result> {
  const open = (connection: PostgresConnection) => openDatabase(config, log, connection);
  const { opened, stop } =
    config.database.url === null
      ? await attachEmbeddedPostgres({ dataDir: config.database.dataDir, log }, open)
      : { opened: await open({ url: config.database.url }), stop: async () => {} };
  try {
    return await work(opened.database);
  } finally {
    await opened.close();
    await stop();
  }
}

async function openDatabase(
  config: Config,
  log: Logger,
  connection: PostgresConnection,
): Promise<{ readonly database: CommandDatabase; readonly close: () => Promise<void> }> {
  const pool = await openPool(connection, log);
  try {
    await checkMigrated(pool);
    const unflushed = await logLeftBehind(config, pool, log);
    const masterKey = await readMasterKey(config.vault);
    await verifyMasterKey(pool, masterKey);
    const store = await openPostgresEventStore({ connection, log });
    return {
      database: {
        ...{ pool, unflushed },
        store,
        handle: handle(store, systemClock),
        personalData: postgresPersonalData({ pool, masterKey, clock: systemClock }),
        vault: postgresVault({ pool, masterKey, clock: systemClock }),
        newClient: () => newClient(connection),
      },
      close: async () => {
        await store.close();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw adviceAtStart(whereIs(connection), error);
  }
}
