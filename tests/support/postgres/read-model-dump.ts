import type { CommandDatabase } from '../../../src/cli/database.js';
import { schemaOf } from '../../../src/projections/engine/projection.js';
import { rebuild } from '../../../src/projections/engine/rebuild.js';
import { readModels } from '../../../src/projections/read-models.js';
import { ledgerAtRest } from '../gateway/ledger-snapshot.js';

/** Every row of every table of every read model as JSON text, sorted, by `schema.table`; partitions count as tables. */
async function dumpReadModels({ pool }: CommandDatabase): Promise<Record<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string; sql: string }>(
    `select schemaname || '.' || tablename as name, format('%I.%I', schemaname, tablename) as sql
     from pg_catalog.pg_tables where schemaname = any ($1) order by 1`,
    [readModels.map(schemaOf)],
  );
  const dump: Record<string, string[]> = {};
  for (const { name, sql } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select row_to_json(t)::text as row from ${sql} t order by 1`);
    dump[name] = rows.map(({ row }) => row);
  }
  return dump;
}

/** Makes every read model anew from the log. */
async function rebuildReadModels(database: CommandDatabase): Promise<void> {
  const { store, pool, newClient, personalData } = database;
  for (const projection of readModels)
    await rebuild({ projection, feed: store, pool, newClient, context: { personalData } });
}

/** The rows before and after a rebuild, both at the same place of a log that rests. */
export async function dumpAroundRebuild(database: CommandDatabase) {
  for (;;) {
    const { events: eventsBefore } = await ledgerAtRest(database);
    const before = await dumpReadModels(database);
    await rebuildReadModels(database);
    const { events: eventsAfter } = await ledgerAtRest(database);
    // A late notice, such as a key found exhausted, may have come in between: then these are two different states.
    if (eventsBefore.length === eventsAfter.length) return { before, after: await dumpReadModels(database) };
  }
}
