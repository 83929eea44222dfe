import type pg from 'pg';
import { pino } from 'pino';
import { systemClock } from '../src/adapters/clock.js';
import { newClient, openPool, type PostgresConnection } from '../src/adapters/database/postgres.js';
import { attachEmbeddedPostgres } from '../src/adapters/embedded-postgres/attach-postgres.js';
import { readMasterKey } from '../src/adapters/vault/master-key.js';
import { postgresPersonalData } from '../src/adapters/vault/personal-data.js';
import { postgresVault } from '../src/adapters/vault/vault.js';
import type { PersonalData, Vault } from '../src/application/ports/storage-ports.js';

/* The tables of a gateway on its embedded Postgres, looked at from beside it. */

/** To stderr, and only what went wrong. */
export const quietLog = pino({ level: 'error' }, pino.destination(2));

export interface BenchDatabase {
  readonly connection: PostgresConnection;
  readonly pool: pg.Pool;
  readonly personalData: PersonalData;
  readonly vault: Vault;
  newClient(): pg.Client;
  /** Stops Postgres too, unless a gateway runs it. */
  close(): Promise<void>;
}

export async function openDatabase(dataDir: string): Promise<BenchDatabase> {
  const masterKey = await readMasterKey({ secretKey: null, dataDir });
  const { opened, stop } = await attachEmbeddedPostgres({ dataDir, log: quietLog }, async (connection) => ({
    connection,
    pool: await openPool(connection, quietLog, { size: 4 }),
  }));
  const { connection, pool } = opened;
  return {
    connection,
    pool,
    personalData: postgresPersonalData({ pool, masterKey, clock: systemClock }),
    vault: postgresVault({ pool, masterKey, clock: systemClock }),
    newClient: () => newClient(connection),
    async close() {
      await pool.end();
      await stop();
    },
  };
}
