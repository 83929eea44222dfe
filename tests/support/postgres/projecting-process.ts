/*
 * A process of its own that projects a log, for tests of how much memory that takes. Argument: its connection. Prints a
 * line for each thing it has done: has caught up, has rebuilt, has followed up to each position it is given on stdin.
 */
import { createInterface } from 'node:readline';
import { newClient, openPool, type PostgresConnection } from '../../../src/adapters/database/postgres.js';
import { openPostgresEventStore } from '../../../src/adapters/event-log/postgres-event-store.js';
import { Position } from '../../../src/domain/events/events.js';
import { newsOf } from '../../../src/projections/engine/news.js';
import { rebuild } from '../../../src/projections/engine/rebuild.js';
import { startProjections } from '../../../src/projections/engine/runner.js';
import { ledger } from '../../../src/projections/models/ledger/ledger.js';
import { usageLog } from '../../../src/projections/models/usage-log/usage-log.js';
import { quietLog } from '../quiet-log.js';

const connection = JSON.parse(process.argv[2] ?? '') as PostgresConnection;
const pool = await openPool(connection, quietLog);
const store = await openPostgresEventStore({ connection, log: quietLog });
const context = {
  personalData: { open: (_: unknown, text: string) => Promise.resolve(text), searchToken: (text: string) => text },
};
const parts = { feed: store, pool, newClient: () => newClient(connection), context };

const projections = await startProjections({
  ...parts,
  projections: [usageLog, ledger],
  news: (signal) => newsOf(store, signal, { broke: console.error }),
  log: quietLog,
});
await projections.caughtUp();
console.log('caught up');
const { events } = await rebuild({ ...parts, projection: usageLog });
console.log(`rebuilt ${events}`);
for await (const line of createInterface(process.stdin)) {
  if (!(await projections.reached(Position(line), 120_000))) throw new Error(`not at ${line}`);
  console.log(`followed to ${line}`);
}
await projections.stop();
await store.close();
await pool.end();
