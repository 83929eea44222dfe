import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { readCheckpoints } from '../src/projections/engine/checkpoints.js';
import { readModels } from '../src/projections/read-models.js';

/* How far the read models are behind the log. */

/** Those that every settled call changes; the others move their checkpoints now and then only. */
export const countingModels = readModels.filter(({ interestedIn }) => interestedIn.has('CallSettled'));

export interface Progress {
  readonly head: number;
  /** Position of the last event folded, by read model. */
  readonly positions: Readonly<Record<string, number>>;
}

export async function progressOf(pool: pg.Pool): Promise<Progress> {
  // In this order: what is projected meanwhile must not seem to be ahead of the log.
  const checkpoints = await readCheckpoints(pool);
  const { rows } = await pool.query<{ head: number }>('select coalesce(max(position), -1) as head from events');
  const positions = countingModels.map(({ name, version }) => {
    const row = checkpoints.find((checkpoint) => checkpoint.name === name && checkpoint.version === version);
    return [name, Number(row?.position ?? -1)] as const;
  });
  return { head: rows[0]?.head ?? -1, positions: Object.fromEntries(positions) };
}

const patienceMs = 120_000;
const lookMs = 20;

/** Once the read models hold all that was in the log when it was called. */
export async function projected(pool: pg.Pool): Promise<void> {
  const { head } = await progressOf(pool);
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    const { positions } = await progressOf(pool);
    if (Object.values(positions).every((position) => position >= head)) return;
    await pause(lookMs);
  }
  throw new Error(`the read models have not come to position ${head} within ${patienceMs} ms`);
}
