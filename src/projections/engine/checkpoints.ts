import { Kysely, PostgresDialect } from 'kysely';
import type { ClientBase, Pool } from 'pg';
import { Position } from '../../domain/events/events.js';
import type { Database, ReadModels } from '../database.js';
import { type Projection, schemaOf } from './projection.js';

/* How far each read model has come, and the transactions that move it on. */

type ReadModelName = Pick<Projection, 'name' | 'version'>;

export interface Checkpoint {
  readonly name: string;
  readonly version: number;
  /** Of the last event folded. */
  readonly position: Position;
  /** `stopped`: an event could not be folded; see `failure`. */
  readonly status: 'running' | 'stopped';
  readonly failure: { readonly position: Position; readonly type: string; readonly error: string } | null;
  /** Some node is projecting it now. */
  readonly led: boolean;
}

/** The first half of every advisory lock key of ours; the second is the read model's `lock_key`. */
const lockClass = 0x7a11;
const rebuildLockClass = 0x7a12;

const checkpointTable = `
  create schema if not exists projections;
  create table if not exists projections.checkpoints (
    name text not null,
    version integer not null,
    position bigint not null default -1,
    status text not null default 'running' check (status in ('running', 'stopped')),
    failed_position bigint,
    failed_type text,
    error text,
    updated_at timestamptz not null default now(),
    lock_key integer not null generated always as identity,
    primary key (name, version)
  );
`;

/** Identifies one row in SQL text. Names and versions come from our own code and hold nothing to escape. */
export const rowOf = ({ name, version }: ReadModelName): string => `name = '${name}' and version = ${version}`;

/** Makes what is missing: the table of checkpoints, and the empty tables of each read model that has none. */
export async function prepareReadModels(pool: Pool, projections: readonly Projection[]): Promise<void> {
  const client = await pool.connect();
  try {
    await inTransaction(client, async () => {
      // Two nodes may start at once; `if not exists` alone does not make that safe.
      await client.query(`select pg_advisory_xact_lock(${lockClass}, 0)`);
      await client.query(checkpointTable);
      for (const projection of projections) {
        // Looked at without its lock, which a node that hangs in the middle of a batch may hold for a minute yet.
        const { rows } = await client.query(
          `select from projections.checkpoints
           where name = $1 and version = $2 and to_regnamespace($3) is not null`,
          [projection.name, projection.version, schemaOf(projection)],
        );
        if (rows.length > 0) continue;
        // A checkpoint whose tables are gone counts for nothing: they are made anew, and filled from the beginning.
        const { rowCount } = await client.query(
          `insert into projections.checkpoints (name, version) values ($1, $2)
           on conflict (name, version) do update set position = default, updated_at = now()
           where to_regnamespace($3) is null`,
          [projection.name, projection.version, schemaOf(projection)],
        );
        if (rowCount === 0) continue;
        await makeTables(client, projection, schemaOf(projection));
      }
    });
  } finally {
    client.release();
  }
}

/** Empty tables in a schema of that name; what was there before is gone. */
export async function makeTables(client: ClientBase, { tables }: Projection, schema: string): Promise<void> {
  await client.query(`
    set local client_min_messages to warning;
    drop schema if exists ${schema} cascade;
    create schema ${schema};
    set local search_path to ${schema};
    ${tables}
  `);
}

interface CheckpointRow {
  name: string;
  version: number;
  position: number;
  status: Checkpoint['status'];
  failed_position: number | null;
  failed_type: string | null;
  error: string | null;
  led: boolean;
}

/** All checkpoints, those of versions this code does not know included. */
export async function readCheckpoints(database: Pool | ClientBase): Promise<Checkpoint[]> {
  const { rows } = await database.query<CheckpointRow>(`
    select c.name, c.version, c.position, c.status, c.failed_position, c.failed_type, c.error,
      exists (
        select from pg_catalog.pg_locks l
        where l.locktype = 'advisory' and l.granted and l.objsubid = 2
          and l.database = (select oid from pg_catalog.pg_database where datname = current_database())
          and l.classid = ${lockClass} and l.objid = c.lock_key
      ) as led
    from projections.checkpoints c order by c.name, c.version
  `);
  return rows.map(({ name, version, position, status, failed_position, failed_type, error, led }) => ({
    name,
    version,
    position: Position(position),
    status,
    failure:
      failed_position === null || failed_type === null
        ? null
        : { position: Position(failed_position), type: failed_type, error: error ?? '' },
    led,
  }));
}

/** Locks for as long as the connection lives; false: another connection has it. */
export const lockForProjecting = (client: ClientBase, model: ReadModelName): Promise<boolean> =>
  tryLock(client, lockClass, model);

export const lockForRebuilding = (client: ClientBase, model: ReadModelName): Promise<boolean> =>
  tryLock(client, rebuildLockClass, model);

async function tryLock(client: ClientBase, lock: number, { name, version }: ReadModelName): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `select pg_try_advisory_lock(${lock}, lock_key) as locked
     from projections.checkpoints where name = $1 and version = $2`,
    [name, version],
  );
  return rows[0]?.locked ?? false;
}

/**
 * Begins a transaction in which unqualified names mean the tables of `schema`, and locks the checkpoint. The name is
 * looked up by each statement: a schema swapped in while this one waited for the lock is the one written to.
 */
export async function lockedPosition(client: ClientBase, model: ReadModelName, schema: string): Promise<Position> {
  const results: unknown = await client.query(`
    begin;
    set local search_path to ${schema};
    select position from projections.checkpoints where ${rowOf(model)} for update
  `);
  // Several statements in one message: the driver answers with one result each.
  const [, , locked] = results as readonly { rows: { position: number }[] }[];
  const position = locked?.rows[0]?.position;
  if (position === undefined) throw new Error(`The read model ${schema} has no checkpoint`);
  return Position(position);
}

/** Runs `work` between begin and commit. Rolls back and rethrows when it fails. */
export async function inTransaction<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // A lost connection cannot be rolled back, and need not: the first error is the one to report.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Statements of a connection that are parsed and planned once: those of a read model are few, and the same each batch. */
const maxPrepared = 100;

/** A handle whose every statement runs on this one connection, inside whatever transaction it is in. */
export function boundTo(client: ClientBase): ReadModels {
  const names = new Map<string, string>();
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= maxPrepared) return known;
    const name = `projector_${names.size}`;
    names.set(text, name);
    return name;
  };
  const query = (text: string, values: readonly unknown[]) =>
    // What has no values makes tables or reports how things stand: not worth a name.
    client.query({ name: values.length === 0 ? undefined : nameOf(text), text, values: [...values] });
  return new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: {
        connect: () =>
          Promise.resolve({
            // The driver's overloads for cursors are never used here.
            query: query as never,
            release: () => {},
          }),
        end: () => Promise.resolve(),
      },
    }),
  });
}
