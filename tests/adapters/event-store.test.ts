import { afterAll, beforeAll, describe } from 'vitest';
import { openPostgresEventStore } from '../../src/adapters/postgres-event-store.js';
import { MemoryEventStore } from '../support/memory-event-store.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';
import { quietLog } from '../support/quiet-log.js';
import { eventStoreContract } from './event-store.contract.js';

eventStoreContract('memory', async () => {
  const store = new MemoryEventStore();
  return { store, dispose: () => store.close() };
});

describe('over real Postgres', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const opening = (options: { readonly subscriberCapacity?: number }) => async () => {
    const store = await openPostgresEventStore({ connection: database.connection, log: quietLog, ...options });
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
  // Whoever is not in its place at once is sent back to reading.
  eventStoreContract('Postgres, with hardly any room for slow subscribers', opening({ subscriberCapacity: 3 }));
});
