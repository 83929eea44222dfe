import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { migrate } from '../../src/adapters/database/migrate.js';
import { openPool } from '../../src/adapters/database/postgres.js';
import { startEmbeddedPostgres } from '../../src/adapters/embedded-postgres/embedded-postgres.js';
import { openPostgresEventStore } from '../../src/adapters/event-log/postgres-event-store.js';
import type { EventStore } from '../../src/application/ports/storage-ports.js';
import { randomFrom } from '../../src/demo/random.js';
import { count, counts, seconds } from '../arguments.js';
import { costing, microsecondsEach, ownMeter } from '../cpu.js';
import { quietLog } from '../database.js';
import { growthPerCall, sizesOf } from '../disk.js';
import { median, medianPercentiles, type Percentiles, percentilesOf } from '../figures.js';
import { callAt, type Population } from '../history.js';
import { type Outcome, part } from '../part.js';
import { temporaryDirectory } from '../rig.js';
import { inRounds, oneRound, type Round } from '../rounds.js';
import { decimal, table, whole } from '../table.js';

/* The event log alone: producers that each append one event, wait until it is durable, and append the next. */

const population: Population = {
  callers: [{ userId: 7, apiKeyId: 12, apiKeyName: 'ci' }],
  channelIds: [3],
  models: ['gpt-4o-mini'],
};

interface Appending {
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly latencyMs: Percentiles;
  /** Microseconds; NaN where the system does not say. */
  readonly postgresUsPerEvent: number;
  readonly writerUsPerEvent: number;
}

/** Each producer's calls: a reservation, then what became of it, each an append of its own as in the gateway. */
async function produce(store: EventStore, producers: number, seconds: number, random: () => number) {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;
  const timed = async (append: () => ReturnType<EventStore['append']>): Promise<void> => {
    const began = performance.now();
    if (!(await append()).ok) throw new Error('an append to a stream of its own was a conflict');
    latencies.push(performance.now() - began);
  };
  const producer = async (): Promise<void> => {
    while (performance.now() < deadline) {
      const { stream, events } = callAt(Date.now(), population, random);
      await timed(() => store.append(stream, [events[0]], 'no-stream'));
      await timed(() => store.append(stream, [events[1]], 0));
    }
  };
  await Promise.all(Array.from({ length: producers }, producer));
  return { latencies, seconds: (performance.now() - startedAt) / 1000 };
}

const figuresOf = (all: readonly number[], rounds: readonly Round<Appending>[]) =>
  all.map((producers) => {
    const found = rounds.flatMap((round) => round[producers] ?? []);
    const middle = (measure: (one: Appending) => number): number => Math.round(median(found.map(measure)));
    return {
      producers,
      eventsPerSecond: middle(({ eventsPerSecond }) => eventsPerSecond),
      latencyMs: medianPercentiles(found.map(({ latencyMs }) => latencyMs)),
      postgresUsPerEvent: middle(({ postgresUsPerEvent }) => postgresUsPerEvent),
      writerUsPerEvent: middle(({ writerUsPerEvent }) => writerUsPerEvent),
    };
  });

const linesOf = (found: ReturnType<typeof figuresOf>, bytesPerEvent: number, missing: string | null): string[] => [
  ...table(
    ['producers', 'events/s', 'p50 ms', 'p99 ms', 'Postgres µs/event', 'writer µs/event'],
    found.map(({ producers, eventsPerSecond, latencyMs, postgresUsPerEvent, writerUsPerEvent }) => [
      producers,
      whole(eventsPerSecond),
      decimal(latencyMs.p50),
      decimal(latencyMs.p99),
      whole(postgresUsPerEvent),
      whole(writerUsPerEvent),
    ]),
  ),
  ...(missing === null ? [] : [missing]),
  '',
  `on disk ${whole(bytesPerEvent)} bytes per event, indexes included`,
];

/** An empty log on a Postgres of its own. */
async function withLog<Result>(work: (store: EventStore, pool: pg.Pool) => Promise<Result>): Promise<Result> {
  const directory = await temporaryDirectory();
  const postgres = await startEmbeddedPostgres({ dataDir: join(directory, 'data'), log: quietLog });
  const pool = await openPool(postgres.connection, quietLog, { size: 1 });
  try {
    await migrate(pool);
    const store = await openPostgresEventStore({ connection: postgres.connection, log: quietLog });
    return await work(store, pool).finally(() => store.close());
  } finally {
    await pool.end();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

export const append = part({
  name: 'append',
  says: 'the event log alone: durable events per second by how many are appended together, and the CPU of each',
  options: {
    seconds: seconds(4, 'length of each measurement'),
    rounds: count(3, 'how often everything is measured', 1000),
    producers: counts([1, 8, 32, 128, 500], 'who append at the same time; may be given several times', 5000),
  },
  run: ({ seconds, rounds: count, producers }, surroundings) =>
    withLog(async (store, pool): Promise<Outcome> => {
      const meter = await ownMeter();
      const random = randomFrom(1);
      const measure = async (many: number): Promise<Appending> => {
        const { value, cpu } = await costing(meter, () => produce(store, many, seconds, random));
        const events = value.latencies.length;
        return {
          events,
          eventsPerSecond: events / value.seconds,
          latencyMs: percentilesOf(value.latencies),
          postgresUsPerEvent: microsecondsEach(cpu, 'postgres', events),
          writerUsPerEvent: microsecondsEach(cpu, 'own', events),
        };
      };
      surroundings.progress('warming up');
      await measure(32);
      const sizes = await sizesOf(pool);
      const rounds = await inRounds(count, surroundings, (number) =>
        oneRound(producers.map(String), number, (many) => measure(Number(many))),
      );
      const events = rounds.flatMap((round) => Object.values(round)).reduce((sum, one) => sum + one.events, 0);
      const { perCall: bytesPerEvent } = growthPerCall(sizes, await sizesOf(pool), events);
      const found = figuresOf(producers, rounds);
      return {
        figures: { byProducers: found, bytesOnDiskPerEvent: bytesPerEvent },
        lines: linesOf(found, bytesPerEvent, meter.missing),
        differences: [],
      };
    }),
});
