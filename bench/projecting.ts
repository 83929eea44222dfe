import { setTimeout as pause } from 'node:timers/promises';
import type { EventStore } from '../src/application/ports/storage-ports.js';
import { newsOf } from '../src/projections/engine/news.js';
import { type Projection, schemaOf } from '../src/projections/engine/projection.js';
import { startProjections } from '../src/projections/engine/runner.js';
import { readModels } from '../src/projections/read-models.js';
import { type BenchDatabase, quietLog } from './database.js';

/* Read models, folded together from the log without a gateway around them. */

const reportEveryMs = 5_000;
const lookEveryMs = 20;

/** Drops the tables of every read model, so that they are made from the beginning of the log. */
export async function dropReadModels({ pool }: Pick<BenchDatabase, 'pool'>): Promise<void> {
  for (const projection of readModels) await pool.query(`drop schema if exists ${schemaOf(projection)} cascade`);
}

/** Resolves when all of them hold the whole log; left out: every read model there is. */
export async function projectAll(
  { pool, personalData, newClient }: Pick<BenchDatabase, 'pool' | 'personalData' | 'newClient'>,
  store: EventStore,
  progress: (position: number, head: number) => void,
  projections: readonly Projection[] = readModels,
): Promise<void> {
  const runner = await startProjections({
    projections,
    feed: store,
    news: (signal) => newsOf(store, signal, { broke: (error) => quietLog.error(error) }),
    pool,
    newClient,
    context: { personalData },
    log: quietLog,
  });
  try {
    const head = await store.head();
    // Those that are shown only are waited for as well: whoever starts a gateway does not.
    for (let reportedAt = performance.now(); ; ) {
      const behind = runner.status().filter(({ position, status }) => position < head && status !== 'stopped');
      if (behind.length === 0) break;
      if (performance.now() - reportedAt >= reportEveryMs) {
        reportedAt = performance.now();
        progress(Math.min(...behind.map(({ position }) => Number(position))), Number(head));
      }
      await pause(lookEveryMs);
    }
    const stopped = runner.status().filter(({ status }) => status === 'stopped');
    if (stopped.length > 0)
      throw new Error(
        `read models stopped: ${stopped.map(({ name, failure }) => `${name}: ${failure?.error}`).join('; ')}`,
      );
  } finally {
    await runner.stop();
  }
}
