import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { readCheckpoints } from '../../projections/engine/checkpoints.js';
import { type Projection, schemaOf } from '../../projections/engine/projection.js';
import type { CommandDatabase } from '../database.js';
import { commandName } from '../model-names.js';

/** Longest it is waited for what a gateway that serves has just written. */
const patienceMs = 5_000;
const pauseMs = 100;

const unavailable = (reason: string): Failure => new Failure('store-unavailable', { reason });

/**
 * Returns once this read model holds all that the log held when it was asked. Throws Failure `store-unavailable` where it
 * is not there, is stopped, or is being built: the past that it shows would lack something.
 */
export async function demandWhole(
  { pool, store }: Pick<CommandDatabase, 'pool' | 'store'>,
  projection: Projection,
): Promise<void> {
  const model = commandName(projection.name);
  const head = await store.head();
  for (const end = Date.now() + patienceMs; ; await setTimeout(pauseMs)) {
    const checkpoint = await checkpointOf(pool, projection);
    if (checkpoint === undefined)
      throw unavailable(
        `The read model ${model} has not been built in this database. Start the gateway of this release first.`,
      );
    const { position, status, led } = checkpoint;
    if (position >= head) return;
    const lag = `is at position ${position} of ${head}`;
    if (status === 'stopped') throw unavailable(`The read model ${model} has stopped: it ${lag}.`);
    if (!led) {
      if (!(await lacksSomething(store, projection, position))) return;
      throw unavailable(`The read model ${model} ${lag}, and no gateway goes on with it. Start the gateway first.`);
    }
    if (Date.now() >= end) throw unavailable(`The read model ${model} is being built: it ${lag}. Ask again later.`);
  }
}

const eventsPerPage = 1_000;

/** Whether anything behind this position concerns it. */
async function lacksSomething(store: CommandDatabase['store'], projection: Projection, from: Position) {
  for (let position = from; ; ) {
    const page = await store.readAll(position, eventsPerPage);
    const last = page.at(-1);
    if (last === undefined) return false;
    if (page.some(({ event }) => projection.interestedIn.has(event.type))) return true;
    position = last.position;
  }
}

async function checkpointOf(pool: pg.Pool, { name, version }: Pick<Projection, 'name' | 'version'>) {
  const { rows } = await pool.query<{ there: boolean }>(
    `select to_regclass('projections.checkpoints') is not null and to_regnamespace($1) is not null as there`,
    [schemaOf({ name, version })],
  );
  if (rows[0]?.there !== true) return undefined;
  return (await readCheckpoints(pool)).find((known) => known.name === name && known.version === version);
}
