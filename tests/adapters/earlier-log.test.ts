import { afterEach, beforeEach, expect, test } from 'vitest';
import { adapterMigrations, migrate } from '../../src/adapters/database/migrate.js';
import { openPostgresEventStore } from '../../src/adapters/event-log/postgres-event-store.js';
import type { EventStore } from '../../src/application/ports/storage-ports.js';
import { beginning, type NewEvent, streams } from '../../src/domain/events/events.js';
import { CallId } from '../../src/domain/kernel/ids.js';
import { released, reserved, settled } from '../support/given/calls.js';
import { eventId, newEvent, someInstant, streamNamed } from '../support/given/events.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { quietLog } from '../support/quiet-log.js';

/* A log as the release before left it: events of calls by names, their ids in an index with all others. */

const earlier = adapterMigrations.filter(({ name }) => name < '0014');
const open = streams.call(CallId('one'));
const ended = streams.call(CallId('two'));
const failed = streams.call(CallId('three'));
const options = streamNamed('options');

let database: TestDatabase;
let store: EventStore;

beforeEach(async () => {
  database = await createEmptyDatabase();
  await migrate(database.pool, earlier);
});
afterEach(async () => {
  await store.close();
  await database.drop();
});

const event = (n: number, recorded: NewEvent['event']): NewEvent => ({ ...newEvent(n), event: recorded });
const before = [
  [open, event(1, reserved({ quota: 90 })), 2],
  [ended, event(2, reserved({ quota: 80 })), 2],
  [ended, event(3, settled({ quota: 80, charged: 15 })), 4],
  [failed, event(4, reserved({ quota: 70 })), 2],
  [failed, event(5, released({ quota: 70 })), 2],
  [options, newEvent(6), 1],
] as const;

/** As that release did, with its own function. */
async function appendedBefore(): Promise<void> {
  for (const [stream, { id, at, event: recorded }, version] of before) {
    const { type, ...named } = recorded;
    await database.pool.query(
      "SELECT * FROM append_events($1, '{-2}', '{1}', '{1}', '{1}', $2, $3, $4, $5, $6, 'somebody')",
      [[stream], [id], [type], [version], [at], JSON.stringify(named)],
    );
  }
}

test('a log of an earlier release is read as it was written, accepts no event twice, and can be continued', async () => {
  await appendedBefore();
  expect(await migrate(database.pool)).toEqual(adapterMigrations.slice(earlier.length).map(({ name }) => name));
  store = await openPostgresEventStore({ connection: database.connection, log: quietLog });
  const read = await store.readAll(beginning, 100);
  expect(read.map(({ stream, id, event: recorded }) => ({ stream, id, event: recorded }))).toEqual(
    before.map(([stream, { id, event: recorded }]) => ({ stream, id, event: recorded })),
  );

  for (const [position, [stream, one]] of before.entries())
    expect(await store.append(stream, [one], 'any')).toMatchObject({ ok: true, position });
  expect(await store.append(ended, [event(7, settled({ quota: 80, charged: 16 }))], 0)).toEqual({
    ok: false,
    conflict: { actual: 1 },
  });
  const outcome = event(8, settled({ quota: 90, charged: 17 }));
  expect(await store.append(open, [outcome], 0)).toMatchObject({ ok: true, revision: 1, position: before.length });
  expect((await store.readStream(open)).map(({ event: recorded }) => recorded)).toEqual([
    before[0][1].event,
    outcome.event,
  ]);
  expect((await store.readStream(options)).filter(({ id }) => id === eventId(6))).toHaveLength(1);
  expect((await store.readStream(ended))[1]).toMatchObject({ id: eventId(3), revision: 1, at: someInstant + 3 });
});
