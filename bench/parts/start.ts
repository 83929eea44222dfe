import type pg from 'pg';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { usageStats } from '../../src/projections/models/usage-stats/usage-stats.js';
import { count } from '../arguments.js';
import { type DataSet, dataSet, dataSetOptions, unlimited } from '../data-set.js';
import { openDatabase } from '../database.js';
import { median } from '../figures.js';
import { type Outcome, part } from '../part.js';
import { startChild } from '../processes/child.js';
import type { GatewayAnswer, GatewayQuestion } from '../processes/gateway.js';
import { projected } from '../projected.js';
import { inRounds } from '../rounds.js';
import { table, whole } from '../table.js';

/* How long a gateway with a past needs until it serves: as it was left, and when a release brings a new read model. */

interface Start {
  /** From being started to the line that says it serves. */
  readonly readyMs: number;
  /** To when every read model was seen to hold the whole log. */
  readonly wholeMs: number;
  /** Rows of the log that had been read since the database was made. */
  readonly logRowsRead: number;
}

/** As far as the server has counted: what a connection has read, it reports when it has ended or has been idle. */
async function rowsRead(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ read: number }>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as read
     from pg_stat_user_tables where relname = 'events'`,
  );
  return rows[0]?.read ?? 0;
}

async function startAndStop(dataDir: string): Promise<Start> {
  const gateway = startChild<GatewayQuestion, GatewayAnswer>('./gateway.ts');
  try {
    const { readyMs } = await gateway.ask({ ask: 'start', dataDir, environment: unlimited });
    const readyAt = performance.now();
    const database = await openDatabase(dataDir);
    try {
      await projected(database.pool);
      const wholeMs = readyMs + performance.now() - readyAt;
      return { readyMs, wholeMs, logRowsRead: await rowsRead(database.pool) };
    } finally {
      await database.close();
      await gateway.ask({ ask: 'stop' });
    }
  } finally {
    await gateway.stop();
  }
}

/** Makes a read model look as the release before left it: there, and one version older than the gateway wants it. */
async function age({ dataDir }: DataSet): Promise<void> {
  const { name, version } = usageStats;
  const older = { name, version: version - 1 };
  const database = await openDatabase(dataDir);
  try {
    const { pool } = database;
    await pool.query(`drop schema if exists ${schemaOf(older)} cascade`);
    await pool.query('delete from projections.checkpoints where name = $1 and version = $2', [name, older.version]);
    await pool.query(`alter schema ${schemaOf(usageStats)} rename to ${schemaOf(older)}`);
    await pool.query('update projections.checkpoints set version = $3 where name = $1 and version = $2', [
      name,
      version,
      older.version,
    ]);
  } finally {
    await database.close();
  }
}

const middle = (starts: readonly Start[], of: keyof Start): number =>
  Math.round(median(starts.map((start) => start[of])));

export const start = part({
  name: 'start',
  says: 'time until a gateway with a past serves, what of the log it reads, and with a read model to be built anew',
  options: {
    rows: count(100_000, 'calls in the generated log; each is two events'),
    rounds: count(5, 'how often it is started', 1000),
    ...dataSetOptions,
  },
  async run({ rows, rounds, ...place }, surroundings): Promise<Outcome> {
    const past = await dataSet(rows, place, surroundings);
    const started = await inRounds(rounds, surroundings, async () => {
      // After the first one nothing is left to catch up with; what it and its end have read is known to the second.
      const before = await startAndStop(past.dataDir);
      const warm = await startAndStop(past.dataDir);
      await age(past);
      return { warm, building: await startAndStop(past.dataDir), read: warm.logRowsRead - before.logRowsRead };
    });
    const [warm, building] = [started.map((round) => round.warm), started.map((round) => round.building)];
    const found = {
      warm: { readyMs: middle(warm, 'readyMs'), wholeMs: middle(warm, 'wholeMs') },
      building: { readyMs: middle(building, 'readyMs'), wholeMs: middle(building, 'wholeMs') },
      logRowsReadByWarmStart: Math.round(median(started.map(({ read }) => read))),
    };
    return {
      figures: { ...found, rounds: started },
      lines: [
        ...table(
          [`start with ${whole(rows)} calls in the log`, 'ready ms', 'read models whole ms'],
          [
            ['as it was left', whole(found.warm.readyMs), whole(found.warm.wholeMs)],
            [`with ${usageStats.name} to be built`, whole(found.building.readyMs), whole(found.building.wholeMs)],
          ],
        ),
        '',
        `rows of the log read by a start as it was left, and its end: ${whole(found.logRowsReadByWarmStart)}`,
      ],
      differences: [],
    };
  },
});
