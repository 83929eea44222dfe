import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { withDurableAppends } from '../../src/adapters/event-log/durable-appends.js';
import { openJournal } from '../../src/adapters/event-log/journal/journal.js';
import { withJournal } from '../../src/adapters/event-log/journal/journaled-event-store.js';
import { openPostgresEventStore } from '../../src/adapters/event-log/postgres-event-store.js';
import type { DurableEventStore, EventStore } from '../../src/application/ports/storage-ports.js';
import { dense, MemoryEventStore } from '../support/memory/memory-event-store.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { quietLog } from '../support/quiet-log.js';
import { eventStoreContract } from './event-store.contract.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallygate-journals-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** The engine behind a journal that is there from the start. */
async function journaled(engine: EventStore): Promise<DurableEventStore> {
  const journal = openJournal({ directory, log: 'a test', fileBytes: 65_536 });
  await journal;
  const onLost = (reason: string) => {
    throw new Error(reason);
  };
  return withJournal(engine, { journal, log: quietLog, patienceMs: 15_000, onLost });
}

const inMemory =
  (open: () => EventStore, withDurable: (engine: EventStore) => DurableEventStore | Promise<DurableEventStore>) =>
  async () => {
    const store = await withDurable(open());
    return { store, dispose: () => store.close() };
  };

const withoutGaps = () => new MemoryEventStore(dense);
const withGaps = () => new MemoryEventStore();

eventStoreContract('memory', inMemory(withoutGaps, withDurableAppends));
eventStoreContract('memory, positions any distance apart', inMemory(withGaps, withDurableAppends));
eventStoreContract('memory behind a journal', inMemory(withoutGaps, journaled));
eventStoreContract('memory behind a journal, positions any distance apart', inMemory(withGaps, journaled));
eventStoreContract('memory behind a journal, to calls', inMemory(withGaps, journaled), 'call-');

describe('an event store over real Postgres', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const opening =
    (
      withDurable: (engine: EventStore) => DurableEventStore | Promise<DurableEventStore>,
      options: { readonly subscriberCapacity?: number } = {},
    ) =>
    async () => {
      const store = await withDurable(
        await openPostgresEventStore({ connection: database.connection, log: quietLog, ...options }),
      );
      return {
        store,
        async dispose() {
          await store.close();
          await database.pool.query('TRUNCATE events');
        },
      };
    };

  eventStoreContract('Postgres', opening(withDurableAppends));
  eventStoreContract('Postgres, to calls', opening(withDurableAppends), 'call-');
  eventStoreContract('Postgres behind a journal', opening(journaled));
  eventStoreContract('Postgres behind a journal, to calls', opening(journaled), 'call-');
  // Whoever is not in its place at once is sent back to reading.
  eventStoreContract(
    'Postgres, with hardly any room for slow subscribers',
    opening(withDurableAppends, { subscriberCapacity: 3 }),
  );
});
