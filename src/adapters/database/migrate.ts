import type { Pool, PoolClient } from 'pg';
import { Failure } from '../../domain/kernel/failure.js';
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
import { unsettledOrders } from './migrations/0011-unsettled-orders.js';
import { reactionPlaces } from './migrations/0012-reaction-places.js';
import { endedSessions } from './migrations/0013-ended-sessions.js';
import { appendingCalls } from './migrations/0014-appending-calls.js';
import { tickets } from './migrations/0015-tickets.js';
import { sessionsOfClients } from './migrations/0016-sessions-of-clients.js';
import { notifications } from './migrations/0017-notifications.js';
import { redemptionIds } from './migrations/0018-redemption-ids.js';
import { callsByTwo } from './migrations/0019-calls-by-two.js';
import { callsLast } from './migrations/0020-calls-last.js';
import { orderForms } from './migrations/0021-order-forms.js';
import { userLanguages } from './migrations/0022-user-languages.js';
import { backgroundCalls } from './migrations/0023-background-calls.js';
import { taskContent } from './migrations/0024-task-content.js';
import { storedResponses } from './migrations/0025-stored-responses.js';
import { taskEnds } from './migrations/0026-task-ends.js';
import { openTaskIndex } from './migrations/0027-open-tasks.js';
import { seals } from './migrations/0028-seals.js';
import { auditCheckpoint } from './migrations/0029-audit-checkpoint.js';
import { sealWitness } from './migrations/0030-seal-witness.js';
import { logArchives } from './migrations/0031-log-archives.js';

/** One numbered step, frozen once released: literal SQL, forward only. Its name is recorded, so it never changes. */
interface Migration {
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
  unsettledOrders,
  reactionPlaces,
  endedSessions,
  appendingCalls,
  tickets,
  sessionsOfClients,
  notifications,
  redemptionIds,
  callsByTwo,
  callsLast,
  orderForms,
  userLanguages,
  backgroundCalls,
  taskContent,
  storedResponses,
  taskEnds,
  openTaskIndex,
  seals,
  auditCheckpoint,
  sealWitness,
  logArchives,
];

/** Any number that no other advisory lock of ours uses. */
const migrationLock = 812470915373;

/** Names of those that have run. Throws Failure `store-unavailable` when one of them is of a newer release. */
async function knownNames(client: PoolClient | Pool, migrations: readonly Migration[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY name');
  const unknown = rows.filter(({ name }) => !migrations.some((known) => known.name === name));
  if (unknown.length > 0)
    throw new Failure('store-unavailable', {
      reason:
        `A newer release of Tallygate has served this database: it holds ${unknown.map(({ name }) => name).join(', ')}, ` +
        'which this release does not know. Use that release or a later one, or restore the backup made before it.',
    });
  return new Set(rows.map(({ name }) => name));
}

/**
 * For whoever works beside a gateway and must not change its tables. Throws Failure `store-unavailable`, whose `reason`
 * says what to do, unless exactly the migrations of this release have run.
 */
export async function checkMigrated(pool: Pool, migrations: readonly Migration[] = adapterMigrations): Promise<void> {
  const { rows } = await pool.query<{ there: boolean }>(`SELECT to_regclass('migrations') IS NOT NULL AS there`);
  const done = rows[0]?.there === true ? await knownNames(pool, migrations) : new Set<string>();
  const missing = migrations.filter(({ name }) => !done.has(name));
  if (missing.length === 0) return;
  throw new Failure('store-unavailable', {
    reason:
      done.size === 0
        ? 'No Tallygate gateway has served this database yet. Start one with "npm start" first.'
        : `This database is still as an older release left it: ${missing.map(({ name }) => name).join(', ')} ` +
          'has not run. Use the release that serves it, or start the gateway of this one first.',
  });
}

/**
 * Runs those migrations that have not run yet, in order, each in a transaction of its own, and returns their names.
 * Processes that start together take turns; the later ones find the work done. Throws Failure `store-unavailable`, and
 * changes nothing, when a newer release has been there.
 */
export async function migrate(pool: Pool, migrations: readonly Migration[] = adapterMigrations): Promise<string[]> {
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, ran_at timestamptz NOT NULL DEFAULT now())',
    );
    const done = await knownNames(client, migrations);
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
