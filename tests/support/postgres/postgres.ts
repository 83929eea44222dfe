import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { inject } from 'vitest';
import { migrate } from '../../../src/adapters/database/migrate.js';
import { newClient, openPool, type PostgresConnection } from '../../../src/adapters/database/postgres.js';
import { quietLog } from '../quiet-log.js';

export interface TestDatabase {
  readonly connection: PostgresConnection;
  /** Ended by `drop`. */
  readonly pool: Pool;
  /** Also ends connections that others still hold to it. */
  drop(): Promise<void>;
}

/** An empty database without any tables, for one test file. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await asAdministrator(`CREATE DATABASE ${database}`);
  const connection = { ...inject('postgres'), database };
  const pool = await openPool(connection, quietLog);
  return {
    connection,
    pool,
    async drop() {
      await pool.end();
      await asAdministrator(`DROP DATABASE ${database} WITH (FORCE)`);
    },
  };
}

/** A database of its own with the tables of the adapters, for one test file. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const created = await createEmptyDatabase();
  await migrate(created.pool);
  return created;
}

async function asAdministrator(statement: string): Promise<void> {
  const client = newClient(inject('postgres'));
  await client.connect();
  await client.query(statement);
  await client.end();
}
