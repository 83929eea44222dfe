import type { Client } from 'pg';
import { beginning, type Position, type Recorded, type StreamName } from '../../domain/events/events.js';
import { boundTo, makeTables, readCheckpoints } from './checkpoints.js';
import { foldContext } from './newest.js';
import { type EventFeed, type Projection, type ProjectionContext, schemaOf } from './projection.js';
import { concerning, quarantinedFor } from './quarantine.js';

/*
 * A read model against a fresh fold of the log. Both are looked at in one transaction that sees the tables as they were
 * when it began, however much is projected in the meantime; it is taken back, so nothing of it is left.
 */

interface RowDifference {
  readonly table: string;
  /** Rows of the fresh fold that the tables lack, and rows of the tables that it does not make. */
  readonly missing: number;
  readonly surplus: number;
  /** One of either, as JSON. */
  readonly example: string;
}

export interface ReadModelVerdict {
  readonly name: string;
  /** Up to where the tables are; null: they have not been built. */
  readonly position: Position | null;
  readonly differences: readonly RowDifference[];
}

interface VerifyReadModelOptions {
  readonly projection: Projection;
  readonly feed: Pick<EventFeed, 'readAll' | 'readNewest' | 'readStream'>;
  /** A new client, not yet connected. */
  readonly newClient: () => Client;
  readonly context: ProjectionContext;
  readonly signal?: AbortSignal;
  readonly pageSize?: number;
}

/** Folds the log anew, up to where the tables are, and compares row by row. */
export async function verifyReadModel(options: VerifyReadModelOptions): Promise<ReadModelVerdict> {
  const client = options.newClient();
  // A lost connection shows in the statement that needed it.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read');
    return await compared(client, options);
  } finally {
    await client.query('rollback').catch(() => {});
    await client.end();
  }
}

async function compared(client: Client, options: VerifyReadModelOptions): Promise<ReadModelVerdict> {
  const { projection } = options;
  const { name, version } = projection;
  const schema = schemaOf(projection);
  const { rows } = await client.query('select from pg_catalog.pg_namespace where nspname = $1', [schema]);
  const checkpoint =
    rows.length === 0
      ? undefined
      : (await readCheckpoints(client)).find((known) => known.name === name && known.version === version);
  if (checkpoint === undefined) return { name, position: null, differences: [] };
  const fresh = `${schema}_verify`;
  await makeTables(client, projection, fresh);
  await foldUpTo(client, checkpoint.position, options);
  const differences: RowDifference[] = [];
  for (const table of await tablesIn(client, [schema, fresh])) {
    const difference = await differenceIn(client, table, schema, fresh);
    if (difference !== null) differences.push(difference);
  }
  return { name, position: checkpoint.position, differences };
}

async function foldUpTo(client: Client, end: Position, options: VerifyReadModelOptions): Promise<void> {
  const { projection, feed, signal, pageSize = 5_000 } = options;
  const upToEnd = (events: readonly Recorded[]) => events.filter(({ position }) => position <= end);
  const quarantined = await quarantinedFor(feed, projection);
  // What the tables did not know yet when they were looked at, the fold must not know either.
  const known = {
    readNewest: async (limit: number) => upToEnd(await feed.readNewest(limit)),
    readStream: async (stream: StreamName) => upToEnd(await feed.readStream(stream)),
  };
  const context = foldContext(options.context, known, projection, quarantined);
  const tx = boundTo(client);
  for (let position: Position = beginning; position < end; ) {
    signal?.throwIfAborted();
    const page = upToEnd(await feed.readAll(position, pageSize));
    const last = page.at(-1);
    if (last === undefined) break;
    const interesting = concerning(projection, quarantined, page);
    if (interesting.length > 0) await projection.project(tx, interesting, context);
    position = last.position;
  }
  if (projection.tidying !== undefined) while ((await projection.tidying.step(tx)) === 'now') signal?.throwIfAborted();
}

/** Of either schema; what only one of them has counts as empty in the other. Partitions count as tables. */
async function tablesIn(client: Client, schemas: readonly string[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select distinct tablename as name from pg_catalog.pg_tables where schemaname = any ($1) order by 1',
    [schemas],
  );
  return rows.map(({ name }) => name);
}

async function differenceIn(client: Client, table: string, live: string, fresh: string): Promise<RowDifference | null> {
  const rowsOf = async (schema: string): Promise<string> => {
    const { rows } = await client.query<{ sql: string | null }>(
      `select format('select row_to_json(t)::text as row from %I.%I t', schemaname, tablename) as sql
       from pg_catalog.pg_tables where schemaname = $1 and tablename = $2`,
      [schema, table],
    );
    return rows[0]?.sql ?? 'select null::text as row where false';
  };
  const [here, anew] = [await rowsOf(live), await rowsOf(fresh)];
  const { rows } = await client.query<{ missing: string; surplus: string; example: string | null }>(`
    with missing as (${anew} except all ${here}), surplus as (${here} except all ${anew})
    select (select count(*) from missing)::text as missing, (select count(*) from surplus)::text as surplus,
      coalesce((select row from missing limit 1), (select row from surplus limit 1)) as example`);
  const { missing = '0', surplus = '0', example = null } = rows[0] ?? {};
  return example === null
    ? null
    : { table, missing: Number(missing), surplus: Number(surplus), example: example.slice(0, 500) };
}
