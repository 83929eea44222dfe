import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { openJournal } from '../../src/adapters/event-log/journal/journal.js';
import { openPostgresEventStore } from '../../src/adapters/event-log/postgres-event-store.js';
import { MemoryEventStore, sparse } from '../support/memory/memory-event-store.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { quietLog } from '../support/quiet-log.js';
import { eventStoreContract } from './event-store.contract.js';

for (const [engine, spacing] of [
  ['memory', undefined],
  ['memory, positions any distance apart', sparse()],
] as const)
  eventStoreContract(engine, async () => {
    const store = new MemoryEventStore(spacing);
    return { store, dispose: () => store.close() };
  });

describe('over real Postgres', () => {
  let database: TestDatabase;
  let directory: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), 'tallygate-journals-'));
  });
  afterAll(async () => {
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  const opening =
    ({ journaled = false, ...options }: { readonly subscriberCapacity?: number; readonly journaled?: boolean }) =>
    async () => {
      const journal = journaled ? openJournal({ place: directory, log: 'a test', fileBytes: 65_536 }) : undefined;
      await journal;
      const store = await openPostgresEventStore({
        connection: database.connection,
        log: quietLog,
        journal,
        ...options,
      });
      return {
        store,
        async dispose() {
          await store.close();
          await database.pool.query('TRUNCATE events');
        },
      };
    };

  eventStoreContract('Postgres', opening({}));
  eventStoreContract('Postgres, to calls', opening({}), 'call-');
  eventStoreContract('Postgres behind a journal', opening({ journaled: true }));
  eventStoreContract('Postgres behind a journal, to calls', opening({ journaled: true }), 'call-');
  // Whoever is not in its place at once is sent back to reading.
  eventStoreContract('Postgres, with hardly any room for slow subscribers', opening({ subscriberCapacity: 3 }));
});
