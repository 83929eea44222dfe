/*
 * A process of its own with an embedded Postgres, for tests that kill it. Arguments: the data directory, and `append`
 * to write events without end. Prints one line of JSON per fact: first its connection, then the id of each event that
 * was acknowledged.
 */
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { migrate } from '../../../src/adapters/database/migrate.js';
import { openPool } from '../../../src/adapters/database/postgres.js';
import { startEmbeddedPostgres } from '../../../src/adapters/embedded-postgres/embedded-postgres.js';
import { openPostgresEventStore } from '../../../src/adapters/event-log/postgres-event-store.js';
import { newEvent, streamNamed } from '../given/events.js';
import { quietLog } from '../quiet-log.js';

const [, , dataDir, task] = process.argv;
if (dataDir === undefined) throw new Error('Which data directory?');

// Written before the next statement runs: what is printed here survives the death of this process.
const print = (fact: unknown): void => {
  const line = `${JSON.stringify(fact)}\n`;
  for (;;) {
    try {
      writeSync(1, line);
      return;
    } catch (error) {
      // The reader is slow and the pipe full: nothing has been written yet.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
};

const { connection } = await startEmbeddedPostgres({ dataDir, log: quietLog });
const pool = await openPool(connection, quietLog);
await migrate(pool);
print(connection);

if (task === 'append') {
  const store = await openPostgresEventStore({ connection, log: quietLog });
  const writer = async () => {
    for (;;) {
      const id = randomUUID();
      await store.append(streamNamed(`alpha-${id}`), [{ ...newEvent(1), id }], 'no-stream');
      print(id);
    }
  };
  await Promise.all(Array.from({ length: 20 }, writer));
}
