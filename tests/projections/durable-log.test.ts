import { expect, test } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import { openPostgresEventStore } from '../../src/adapters/event-log/postgres-event-store.js';
import { beginning, type Position } from '../../src/domain/events/events.js';
import { newsOf } from '../../src/projections/engine/news.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { startProjections } from '../../src/projections/engine/runner.js';
import { verifyLedger } from '../../src/projections/models/ledger/verify-ledger.js';
import { usageTotals } from '../../src/projections/models/usage-log/usage-totals.js';
import { users } from '../../src/projections/models/users.js';
import { openReadModels, readModels } from '../../src/projections/read-models.js';
import { createTestDatabase } from '../support/postgres/postgres.js';
import { quietLog } from '../support/quiet-log.js';
import {
  added,
  alice,
  aliceKey,
  east,
  type Fact,
  granted,
  issued,
  registered,
  reserved,
  settled,
  toRecord,
} from './history.js';

test('two nodes over a log in Postgres count every call once while their connections are cut repeatedly', async () => {
  const { connection, pool, drop } = await createTestDatabase();
  const store = await openPostgresEventStore({ connection, log: quietLog });
  const append = async (fact: Fact): Promise<Position> => {
    const result = await store.append(fact.stream, [toRecord(fact)], 'any');
    if (!result.ok) throw new Error('the history contradicts itself');
    return result.position;
  };
  const node = () =>
    startProjections({
      projections: readModels,
      feed: store,
      news: (signal) => newsOf(store, signal, { broke: () => {} }),
      pool,
      newClient: () => newClient(connection),
      context: { personalData: { open: (_, text) => Promise.resolve(text), searchToken: (term) => term } },
      log: quietLog,
      pace: { lingerMs: 1, retryMs: 20, pollMs: 20 },
    });
  const nodes = [await node(), await node()];
  try {
    for (const fact of [registered(alice, 'alice'), granted(alice, 1_000), issued(aliceKey, alice, 1_000), added(east)])
      await append(fact);
    let last = beginning;
    let cuts = 0;
    for (let round = 0; round < 10; round++) {
      const positions = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const id = `call-${round}-${n}`;
          await append(reserved(id, 5));
          return append(settled(id, 5, 2));
        }),
      );
      last = positions.reduce((newest, position) => (position > newest ? position : newest));
      const { rowCount } = await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name like 'tallygate projector%'`,
      );
      cuts += rowCount ?? 0;
    }
    for (const each of nodes) expect(await each.reached(last, 20_000)).toBe(true);

    const db = openReadModels(pool);
    expect(cuts).toBeGreaterThan(0);
    expect(await usageTotals(db, {}, 'both')).toMatchObject({ requests: 400, quota: 800 });
    expect(await verifyLedger(db, store)).toMatchObject({ events: 804, sum: 0n, differences: [] });
    const { rows } = await pool.query(`select quota, used_quota, request_count from ${schemaOf(users)}.users`);
    expect(rows).toEqual([{ quota: 200, used_quota: 800, request_count: 400 }]);
  } finally {
    await Promise.all(nodes.map((each) => each.stop()));
    await store.close();
    await drop();
  }
});
