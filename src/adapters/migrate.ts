import type { Pool } from 'pg';
import { eventLog } from './migrations/0001-event-log.js';
import { secrets } from './migrations/0002-secrets.js';
import { sessions } from './migrations/0003-sessions.js';
import { idSequences } from './migrations/0004-id-sequences.js';
import { sessionsSince } from './migrations/0005-sessions-since.js';
import { allottedIds } from './migrations/0006-allotted-ids.js';
import { boundedPages } from './migrations/0007-bounded-pages.js';
import { callProgress } from './migrations/0008-call-progress.js';
import { logEpoch } from './migrations/0009-log-epoch.js';
import { boundedStreams } from './migrations/0010-bounded-streams.js';

/** One numbered step, frozen once released: literal SQL, forward only. Its name is recorded, so it never changes. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** The tables of the adapters. Read models bring their own. */
export const adapterMigrations: readonly Migration[] = [
  eventLog,
  secrets,
  sessions,
  idSequences,
  sessionsSince,
  allottedIds,
  boundedPages,
  callProgress,
  logEpoch,
  boundedStreams,
];

/** Any number that no other advisory lock of ours uses. */
const migrationLock = 812470915373;

/**
 * Runs those migrations that have not run yet, in order, each in a transaction of its own, and returns their names.
 * Processes that start together take turns; the later ones find the work done.
 */
export async function migrate(pool: Pool, migrations: readonly Migration[] = adapterMigrations): Promise<string[]> {
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, ran_at timestamptz NOT NULL DEFAULT now())',
    );
    const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations');
    const done = new Set(rows.map(({ name }) => name));
    const missing = migrations.filter(({ name }) => !done.has(name));
    for (const { name, sql } of missing) {
      await client.query('BEGIN');
      await client.query(sql);
      await client.query('INSERT INTO migrations (name) VALUES ($1)', [name]);
      await client.query('COMMIT');
    }
    await client.query('SELECT pg_advisory_unlock($1)', [migrationLock]);
    client.release();
    return missing.map(({ name }) => name);
  } catch (error) {
    // Closing the connection rolls back the failed step and frees the lock.
    client.release(true);
    throw error;
  }
}
