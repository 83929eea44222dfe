import type { Client, Pool } from 'pg';
import { beginning, type Position, type Recorded } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ReadModels } from '../database.js';
import {
  boundTo,
  type Checkpoint,
  inTransaction,
  lockedPosition,
  lockForProjecting,
  lockForRebuilding,
  makeTables,
  prepareReadModels,
  readCheckpoints,
  rowOf,
} from './checkpoints.js';
import { foldContext } from './newest.js';
import { type EventFeed, type Projection, type ProjectionContext, schemaOf, type Tidying } from './projection.js';
import { concerning, quarantinedFor } from './quarantine.js';

/*
 * A read model made anew from the log while the old one serves. It grows in a schema of its own; the swap renames two
 * schemas in one transaction, so a reader finds the old tables or the new ones, never none and never half of them.
 */

export interface RebuildOptions {
  readonly projection: Projection;
  readonly feed: Pick<EventFeed, 'readAll' | 'readNewest' | 'readStream' | 'head'>;
  readonly pool: Pool;
  /** A new client, not yet connected. */
  readonly newClient: () => Client;
  readonly context: ProjectionContext;
  /** Cancels between two pages; nothing is left torn, and the next attempt begins anew. */
  readonly signal?: AbortSignal;
  readonly progress?: (position: Position, head: Position) => void;
  readonly pageSize?: number;
}

interface Rebuilt {
  readonly position: Position;
  readonly events: number;
}

/**
 * Rebuilds one read model and swaps it in. A model that was stopped runs again afterwards. Throws Failure `lost-race`
 * when somebody else is rebuilding it, and the signal's reason when cancelled.
 */
export async function rebuild(options: RebuildOptions): Promise<Rebuilt> {
  const { projection, pool, newClient } = options;
  await prepareReadModels(pool, [projection]);
  const client = newClient();
  // A lost connection shows in the statement that needed it.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`set application_name to 'tallygate rebuild ${schemaOf(projection)}'`);
    if (!(await lockForRebuilding(client, projection))) throw new Failure('lost-race');
    return await build(client, options);
  } finally {
    await client.end();
  }
}

async function build(client: Client, options: RebuildOptions): Promise<Rebuilt> {
  const { projection, feed, signal, progress = () => {}, pageSize = 5_000 } = options;
  const schema = schemaOf(projection);
  const [growing, retired] = [`${schema}_rebuild`, `${schema}_retired`];
  const tx = boundTo(client);
  const quarantined = await quarantinedFor(feed, projection);
  const context = foldContext(options.context, feed, projection, quarantined);
  let position = beginning;
  let events = 0;

  const fold = async (page: readonly Recorded[]): Promise<void> => {
    const interesting = concerning(projection, quarantined, page);
    if (interesting.length > 0) await projection.project(tx, interesting, context);
    position = page.at(-1)?.position ?? position;
    events += page.length;
  };

  await client.query('set synchronous_commit to off; set client_min_messages to warning');
  await dropSchema(client, retired);
  await inTransaction(client, () => makeTables(client, projection, growing));
  let head = await feed.head();
  // The next page comes while one is folded. Whether reading it fails is looked at in its turn.
  const ahead = (after: Position): Promise<readonly Recorded[]> => {
    const page = feed.readAll(after, pageSize);
    page.catch(() => {});
    return page;
  };
  let coming = ahead(position);
  while (position < head) {
    signal?.throwIfAborted();
    const page = await coming;
    coming = ahead(page.at(-1)?.position ?? position);
    await inTransaction(client, async () => {
      await client.query(`set local search_path to ${growing}`);
      await fold(page);
    });
    progress(position, head);
    if (position < head) continue;
    // What little came during this page is left to the swap; a busy log would never end otherwise.
    if (page.length < pageSize) break;
    head = await feed.head();
  }
  await coming.catch(() => {});
  if (projection.tidying !== undefined) await tidy({ client, tx, schema: growing, signal }, projection.tidying);
  await client.query(`analyze ${(await tablesOf(client, growing)).join(', ')}`);

  signal?.throwIfAborted();
  try {
    // The lock keeps the projector from moving on; what it has folded since the last page is little.
    const live = await lockedPosition(client, projection, growing);
    // A checkpoint beyond the end is of another log; this one counts.
    const end = await feed.head();
    while (position < live && position < end) await fold(await feed.readAll(position, pageSize));
    await client.query(`
      alter schema ${schema} rename to ${retired};
      alter schema ${growing} rename to ${schema};
      update projections.checkpoints
      set position = ${position}, status = 'running', failed_position = null, failed_type = null, error = null,
        updated_at = now()
      where ${rowOf(projection)};
      commit
    `);
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
  // Not in the swap: this waits for readers that are still in the old tables, and nobody must wait for it.
  await dropSchema(client, retired);
  return { position, events };
}

/**
 * Table by table, each waiting for its own readers only: to hold one while waiting for the next, as dropping all at once
 * does, would be a deadlock with whoever reads both in the other order. A table takes its partitions along.
 */
async function dropSchema(client: Client, schema: string): Promise<void> {
  for (const table of await tablesOf(client, schema)) await client.query(`drop table if exists ${table} cascade`);
  await client.query(`drop schema if exists ${schema} cascade`);
}

interface Growing {
  readonly client: Client;
  readonly tx: ReadModels;
  readonly schema: string;
  readonly signal: AbortSignal | undefined;
}

/** Takes away, step by step, what the folds have left and nobody will be shown. */
async function tidy({ client, tx, schema, signal }: Growing, tidying: Tidying): Promise<void> {
  const step = () =>
    inTransaction(client, async () => {
      await client.query(`set local search_path to ${schema}`);
      return tidying.step(tx);
    });
  while ((await step()) === 'now') signal?.throwIfAborted();
}

async function tablesOf(client: Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_catalog.pg_tables where schemaname = $1`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

/** Every read model there is, those of versions this code does not know included, and how far it has come. */
export const listReadModels = async (
  pool: Pool,
  feed: Pick<EventFeed, 'head'>,
): Promise<(Checkpoint & { readonly head: Position })[]> => {
  const [checkpoints, head] = await Promise.all([readCheckpoints(pool), feed.head()]);
  return checkpoints.map((checkpoint) => ({ ...checkpoint, head }));
};

/**
 * Drops the tables of versions other than the ones given that nobody projects any more; for when the last node with the
 * old code is gone. Those of the read models named `kept` stay. Answers what it dropped.
 */
export async function dropOldVersions(
  newClient: () => Client,
  projections: readonly Projection[],
  kept: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const current = new Set(projections.map(schemaOf));
  const client = newClient();
  client.on('error', () => {});
  await client.connect();
  try {
    const dropped: string[] = [];
    for (const checkpoint of await readCheckpoints(client)) {
      if (checkpoint.led || kept.has(checkpoint.name) || current.has(schemaOf(checkpoint))) continue;
      if (!(await lockForProjecting(client, checkpoint))) continue;
      await client.query(`
        set client_min_messages to warning;
        begin;
        drop schema if exists ${schemaOf(checkpoint)} cascade;
        delete from projections.checkpoints where ${rowOf(checkpoint)};
        commit
      `);
      dropped.push(schemaOf(checkpoint));
    }
    return dropped;
  } finally {
    await client.end();
  }
}
