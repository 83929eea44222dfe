import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { inject } from 'vitest';
import { newClient, openPool, type PostgresConnection } from '../../../src/adapters/database/postgres.js';
import { quietLog } from '../quiet-log.js';
import { nameOf } from './templates.js';

export interface TestDatabase {
  readonly connection: PostgresConnection;
  /** Ended by `drop`. */
  readonly pool: Pool;
  /** Also ends connections that others still hold to it. */
  drop(): Promise<void>;
}

/** An empty database without any tables, for one test file. */
export const createEmptyDatabase = (): Promise<TestDatabase> => createDatabase('template1');

/** A database of its own with the tables of the adapters, for one test file. */
export const createTestDatabase = (): Promise<TestDatabase> => createDatabase(nameOf('adapters'));

/** A database of its own as a gateway leaves it that nobody has set up yet: with all tables, the log empty. */
export const createGatewayDatabase = (): Promise<TestDatabase> => createDatabase(nameOf('gateway'));

async function createDatabase(origin: string): Promise<TestDatabase> {
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  // Page by page through the log, as usual, takes Postgres twelve times as long as copying the files.
  await asAdministrator(`CREATE DATABASE ${database} TEMPLATE ${origin} STRATEGY FILE_COPY`);
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

async function asAdministrator(statement: string): Promise<void> {
  const client = newClient(inject('postgres'));
  await client.connect();
  await client.query(statement);
  await client.end();
}
