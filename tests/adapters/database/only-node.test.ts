import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimOnlyNode, type NodeClaim, type OnlyNodeOptions } from '../../../src/adapters/database/only-node.js';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

let database: TestDatabase;
const claims: NodeClaim[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const claim of claims.splice(0)) await claim.release();
  await database.drop();
});

async function claim(options: Partial<OnlyNodeOptions> = {}): Promise<NodeClaim> {
  const onLost = () => undefined;
  const made = await claimOnlyNode({ connection: database.connection, log: quietLog, waitMs: 0, onLost, ...options });
  claims.push(made);
  return made;
}

/** The Postgres process that holds the claim. */
const holder = `
  SELECT pid, (classid::bigint << 32 | objid::bigint)::text AS key FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

describe('the claim to be the only node', () => {
  test('is refused with the reason while another node is running', async () => {
    await claim();
    await expect(claim()).rejects.toMatchObject({
      code: 'store-unavailable',
      details: { reason: expect.stringContaining('Another Tallygate node') },
    });
  });

  test('is granted as soon as a predecessor that shuts down has gone, which is logged while it waits', async () => {
    const predecessor = await claim();
    let waiting: () => void = () => undefined;
    const notified = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    const successor = claim({ waitMs: 60_000, log: { ...quietLog, info: waiting } });
    await notified;
    await predecessor.release();
    await successor;
  });

  test('begins an epoch of its own, later than all before, at the end of the log', async () => {
    const first = await claim();
    expect(await first.beginEpoch()).toEqual({ epoch: 1, head: -1 });
    await first.release();
    await database.pool.query(
      `INSERT INTO events (position, event_id, stream, revision, type, version, data, at)
       VALUES (0, gen_random_uuid(), 'alpha-1', 0, 'OptionChanged', 1, '{}', 0)`,
    );
    const second = await claim();
    expect(await second.beginEpoch()).toEqual({ epoch: 2, head: 0 });
  });

  test('is renewed after a lost connection, in the same epoch', async () => {
    const lost: string[] = [];
    const { beginEpoch } = await claim({ onLost: (reason) => void lost.push(reason) });
    await beginEpoch();
    const { rows } = await database.pool.query<{ pid: number }>(holder);
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    // Whoever waits for the lock would get it; that it is refused shows that it is held again.
    for (let held: number | undefined; held === undefined || held === rows[0]?.pid; )
      held = (await database.pool.query<{ pid: number }>(holder)).rows[0]?.pid;
    await expect(claim()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(lost).toEqual([]);
    const { rows: epochs } = await database.pool.query('SELECT epoch FROM log_epoch');
    expect(epochs).toEqual([{ epoch: 1 }]);
  });

  test('is not renewed when another node has come and gone meanwhile, and the database is left to others', async () => {
    const reason = new Promise<string>((resolve) => {
      void claim({ onLost: resolve }).then(async ({ beginEpoch }) => {
        await beginEpoch();
        const { rows } = await database.pool.query<{ pid: number }>(holder);
        // What a node that came and went leaves behind.
        await database.pool.query('SELECT begin_epoch()');
        await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      });
    });
    expect(await reason).toMatch(/Another Tallygate node has served this database/);
    await claim({ waitMs: 60_000 });
  });

  test('that is lost begins no epoch: it would end that of the node that has the claim now', async () => {
    const early = await claim();
    const { rows } = await database.pool.query<{ pid: number; key: string }>(holder);
    // First in the queue for the lock.
    const rival = newClient(database.connection);
    await rival.connect();
    const taken = rival.query('SELECT pg_advisory_lock($1)', [rows[0]?.key]);
    await until(async () => {
      const waiting = await database.pool.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
      return waiting.rowCount === 1 ? true : null;
    });
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await taken;
    await expect(early.beginEpoch()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect((await database.pool.query('SELECT epoch FROM log_epoch')).rows).toEqual([{ epoch: 0 }]);
    await rival.end();
  });
});
