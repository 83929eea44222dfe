import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EventLogEngine } from '../../../src/adapters/event-log/event-log-engine.js';
import { postgresEventLog } from '../../../src/adapters/event-log/postgres-event-log.js';
import type { EventStore } from '../../../src/application/ports/storage-ports.js';
import { beginning, type Position } from '../../../src/domain/events/events.js';
import { eventId, newEvent, streamNamed } from '../../support/given/events.js';
import { MemoryEventLog } from '../../support/memory/memory-event-log.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';

/* What every engine of the event log promises to its writer. */

const alpha = streamNamed('alpha-1');
const ids = async (store: EventStore) => (await store.readAll(beginning, 100)).map(({ id }) => id);

function engineContract(name: string, engineOfEmptyLog: () => Promise<EventLogEngine>): void {
  describe(`an engine of the event log (${name})`, () => {
    let engine: EventLogEngine;
    const stores: EventStore[] = [];
    beforeEach(async () => {
      for (const store of stores.splice(0)) await store.close();
      engine = await engineOfEmptyLog();
    });
    afterAll(async () => {
      for (const store of stores.splice(0)) await store.close();
    });

    async function writer() {
      const lost: string[] = [];
      const claim = await engine.claimWriter((reason) => void lost.push(reason));
      const store = await claim.open({ listens: false });
      stores.push(store);
      return { lost, head: claim.head, store };
    }

    test('identifies its log by the same text each time', async () => {
      expect(await engine.identity()).toMatch(/^[^\n]+$/);
      expect(await engine.identity()).toBe(await engine.identity());
    });

    test('reports to a writer where the log ended when the epoch began', async () => {
      const first = await writer();
      expect(first.head).toBe(beginning);
      const appended = await first.store.append(alpha, [newEvent(1), newEvent(2)], 'no-stream');
      expect((await writer()).head).toBe((appended as { position: Position }).position);
    });

    test('fences off a writer once another has begun an epoch, and reports it once', async () => {
      const older = await writer();
      expect(await older.store.append(alpha, [newEvent(1)], 'no-stream')).toMatchObject({ ok: true });
      const newer = await writer();
      for (const number of [2, 3])
        await expect(older.store.append(alpha, [newEvent(number)], 0)).rejects.toMatchObject({ code: 'store-busy' });
      expect(older.lost).toHaveLength(1);
      expect(newer.lost).toEqual([]);
      expect(await newer.store.append(alpha, [newEvent(4)], 0)).toMatchObject({ ok: true, revision: 1 });
      expect(await ids(older.store)).toEqual([eventId(1), eventId(4)]);
    });
  });
}

engineContract('memory', async () => new MemoryEventLog());

describe('an engine over real Postgres', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  engineContract('Postgres', async () => {
    const { connection, pool } = database;
    await pool.query('TRUNCATE events');
    return postgresEventLog({
      connection,
      pool,
      claim: {
        async beginEpoch() {
          const { rows } = await pool.query<{ epoch: number; head: Position }>('SELECT epoch, head FROM begin_epoch()');
          if (rows[0] === undefined) throw new Error('there is no epoch');
          return rows[0];
        },
      },
      log: quietLog,
    });
  });
});
