import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import type { Fence } from '../../src/adapters/event-log/log-writer.js';
import { openPostgresEventStore } from '../../src/adapters/event-log/postgres-event-store.js';
import type { EventStore } from '../../src/application/ports/storage-ports.js';
import { eventId, newEvent, streamNamed } from '../support/given/events.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { quietLog } from '../support/quiet-log.js';
import { until } from '../support/until.js';

/* A node that was paused or cut off, and goes on when another has taken its place. */

const alpha = streamNamed('alpha-1');
const beta = streamNamed('beta-2');

let database: TestDatabase;
let operator: pg.Client;
const stores: EventStore[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  operator = newClient(database.connection);
  await operator.connect();
});
afterEach(async () => {
  await operator.end();
  for (const store of stores.splice(0)) await store.close();
  await database.drop();
});

interface Node {
  readonly store: EventStore;
  /** Why it has lost the log, each time it was reported. */
  readonly lost: readonly string[];
}

const beginEpoch = async (): Promise<Fence['epoch']> => {
  const { rows } = await database.pool.query<{ epoch: number }>('SELECT epoch FROM begin_epoch()');
  if (rows[0] === undefined) throw new Error('there is no epoch');
  return rows[0].epoch;
};

async function startNode(): Promise<Node> {
  const lost: string[] = [];
  const fence = { epoch: await beginEpoch(), onLost: (reason: string) => void lost.push(reason) };
  const store = await openPostgresEventStore({ connection: database.connection, log: quietLog, fence });
  stores.push(store);
  return { store, lost };
}

const logged = async (): Promise<string[]> => {
  const { rows } = await operator.query<{ event_id: string }>('SELECT event_id FROM events ORDER BY position');
  return rows.map(({ event_id }) => event_id);
};

describe('a node that another has fenced off', () => {
  test('appends nothing more, fails at once, and reports that nothing was written', async () => {
    const older = await startNode();
    expect(await older.store.append(alpha, [newEvent(1)], 'no-stream')).toMatchObject({ ok: true, position: 0 });
    const newer = await startNode();
    const refused = [alpha, beta].map((stream, n) => older.store.append(stream, [newEvent(2 + n)], 'any'));
    for (const each of refused)
      await expect(each).rejects.toMatchObject({
        code: 'store-busy',
        details: { reason: expect.stringContaining('Another Tallygate node') },
      });
    await expect(older.store.append(beta, [newEvent(4)], 'any')).rejects.toMatchObject({ code: 'store-busy' });
    expect(older.lost).toHaveLength(1);
    expect(await newer.store.append(beta, [newEvent(5)], 'no-stream')).toMatchObject({ ok: true, position: 1 });
    expect(await logged()).toEqual([eventId(1), eventId(5)]);
    expect(newer.lost).toEqual([]);
  });

  test('still reads the log, its own last events included', async () => {
    const older = await startNode();
    await older.store.append(alpha, [newEvent(1)], 'no-stream');
    const newer = await startNode();
    await newer.store.append(alpha, [newEvent(2)], 0);
    await expect(older.store.append(alpha, [newEvent(3)], 1)).rejects.toMatchObject({ code: 'store-busy' });
    expect(await older.store.readStream(alpha)).toHaveLength(2);
  });

  test('writes none of the appends that were queued when the other took over', async () => {
    const older = await startNode();
    await operator.query('BEGIN; SELECT pg_advisory_xact_lock(812470915374)');
    const waiting = older.store.append(alpha, [newEvent(1)], 'no-stream');
    const refused = expect(waiting).rejects.toMatchObject({ code: 'store-busy' });
    await until(async () => {
      const { rowCount } = await database.pool.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%append_events%'`,
      );
      return rowCount === 1 ? true : null;
    });
    // The taking over has the lock that the append waits for.
    await operator.query('SELECT begin_epoch(); COMMIT');
    await refused;
    expect(await logged()).toEqual([]);
    expect(older.lost).toHaveLength(1);
  });

  test('does not report that nothing was written when an answer of the log was lost before', async () => {
    const older = await startNode();
    await older.store.append(alpha, [newEvent(1)], 'no-stream');
    await operator.query('BEGIN; SELECT pg_advisory_xact_lock(812470915374)');
    const cut = older.store.append(alpha, [newEvent(2)], 0);
    const unknown = expect(cut).rejects.toMatchObject({ code: 'store-unavailable' });
    await until(async () => {
      const { rowCount } = await database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%append_events%'`,
      );
      return rowCount === 1 ? true : null;
    });
    await operator.query('SELECT begin_epoch(); COMMIT');
    await unknown;
    expect(await logged()).toEqual([eventId(1)]);
  });
});
