import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresEventStore } from '../../src/adapters/event-log/postgres-event-store.js';
import type { EventStore } from '../../src/application/ports/storage-ports.js';
import { UsageError } from '../../src/cli/command.js';
import { beginning } from '../../src/domain/events/events.js';
import type { Projection } from '../../src/projections/engine/projection.js';
import { rebuild } from '../../src/projections/engine/rebuild.js';
import { ledger } from '../../src/projections/models/ledger/ledger.js';
import { readModels } from '../../src/projections/read-models.js';
import { count, type Option, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { costing, microsecondsEach, ownMeter } from '../cpu.js';
import { dataSet, dataSetOptions } from '../data-set.js';
import { type BenchDatabase, openDatabase, quietLog } from '../database.js';
import { median, type Percentiles, percentilesOf } from '../figures.js';
import { type Look, lagsOf } from '../lag.js';
import { type Outcome, part, type Surroundings } from '../part.js';
import { countingModels, progressOf } from '../projected.js';
import { dropReadModels, projectAll } from '../projecting.js';
import { type Rig, tallygate, withRig } from '../rig.js';
import { inRounds } from '../rounds.js';
import { decimal, table, whole } from '../table.js';

/* Read models: how fast the log is folded when there is nothing else to do, and how far they lag when there is. */

const model = 'gpt-4o-mini';
const lookEveryMs = 50;
const warmUpSeconds = 2;

interface Replayed {
  readonly eventsPerSecond: number;
  /** CPU microseconds; NaN where the system does not say. */
  readonly projectorUsPerEvent: number;
  readonly postgresUsPerEvent: number;
}

async function timed(events: number, replay: () => Promise<unknown>): Promise<Replayed> {
  const meter = await ownMeter();
  const { value: seconds, cpu } = await costing(meter, async () => {
    const startedAt = performance.now();
    await replay();
    return (performance.now() - startedAt) / 1000;
  });
  return {
    eventsPerSecond: events / seconds,
    projectorUsPerEvent: microsecondsEach(cpu, 'own', events),
    postgresUsPerEvent: microsecondsEach(cpu, 'postgres', events),
  };
}

const middle = (rounds: readonly Replayed[]): Replayed => ({
  eventsPerSecond: Math.round(median(rounds.map(({ eventsPerSecond }) => eventsPerSecond))),
  projectorUsPerEvent: median(rounds.map(({ projectorUsPerEvent }) => projectorUsPerEvent)),
  postgresUsPerEvent: median(rounds.map(({ postgresUsPerEvent }) => postgresUsPerEvent)),
});

/** The read model whose share is reported: what it costs alone, and what the others cost without it. */
const apart: Option<string> = {
  usual: [ledger.name],
  says: 'read model that is also replayed alone, and left out of another replay of all',
  read(texts) {
    const name = texts.at(-1) ?? '';
    if (readModels.some((readModel) => readModel.name === name)) return name;
    throw new UsageError(`one of ${readModels.map((readModel) => readModel.name).join(', ')}`);
  },
};

async function replays(
  database: BenchDatabase,
  store: EventStore,
  apart: string,
  count: number,
  surroundings: Surroundings,
) {
  const events = store.estimateBetween(beginning, await store.head());
  const { pool, personalData, newClient } = database;
  const others = readModels.filter(({ name }) => name !== apart);
  const alone = async () => {
    for (const projection of readModels.filter(({ name }) => name === apart))
      await rebuild({
        projection,
        feed: store,
        pool,
        newClient,
        context: { personalData },
        signal: surroundings.signal,
      });
  };
  const together = async (projections: readonly Projection[]) => {
    await dropReadModels(database);
    return timed(events, () => projectAll(database, store, () => {}, projections));
  };
  const rounds = await inRounds(count, surroundings, async () => ({
    alone: await timed(events, alone),
    others: await together(others),
    all: await together(readModels),
  }));
  return {
    events,
    apart,
    alone: middle(rounds.map(({ alone }) => alone)),
    others: middle(rounds.map(({ others }) => others)),
    all: middle(rounds.map(({ all }) => all)),
  };
}

/** How far each read model lags while calls saturate the gateway. */
async function lagUnderLoad(rig: Rig, seconds: number, connections: number): Promise<Record<string, Percentiles>> {
  const looks = new Map<string, Look[]>(countingModels.map(({ name }) => [name, []]));
  const done = new AbortController();
  const looking = (async () => {
    while (!done.signal.aborted) {
      const { head, positions } = await progressOf(rig.database.pool);
      const at = performance.now();
      for (const [name, found] of looks) found.push({ at, head, position: positions[name] ?? head });
      await pause(lookEveryMs);
    }
  })();
  try {
    await rig.measure(tallygate, { model, stream: false, pace: { connections }, seconds });
  } finally {
    done.abort();
    await looking;
  }
  return Object.fromEntries([...looks].map(([name, found]) => [name, percentilesOf(lagsOf(found))]));
}

function linesOf(
  { events, apart, alone, others, all }: Awaited<ReturnType<typeof replays>>,
  lag: Readonly<Record<string, Percentiles>>,
): string[] {
  const row = (name: string, { eventsPerSecond, projectorUsPerEvent, postgresUsPerEvent }: Replayed) => [
    name,
    whole(eventsPerSecond),
    decimal(projectorUsPerEvent, 1),
    decimal(postgresUsPerEvent, 1),
  ];
  return [
    ...table(
      [`replay of ${whole(events)} events`, 'events/s', 'projector µs/event', 'Postgres µs/event'],
      [row(`${apart} alone`, alone), row(`all but ${apart}`, others), row('all read models', all)],
    ),
    '',
    ...table(
      ['lag at saturation', 'p50 ms', 'p99 ms', 'max ms'],
      Object.entries(lag).map(([name, { p50, p99, max }]) => [name, ...[p50, p99, max].map((ms) => decimal(ms, 0))]),
    ),
  ];
}

export const project = part({
  name: 'project',
  says: 'replay of one read model and of all of them in events per second, and how far they lag at saturation',
  options: {
    rows: count(100_000, 'calls in the generated log; each is two events'),
    rounds: count(3, 'how often it is replayed', 1000),
    apart,
    seconds: seconds(10, 'for how long the gateway is saturated'),
    connections: count(32, 'callers at saturation', 4096),
    ...dataSetOptions,
  },
  async run({ rows, rounds, apart, seconds, connections, ...place }, surroundings): Promise<Outcome> {
    const { dataDir } = await dataSet(rows, place, surroundings);
    const database = await openDatabase(dataDir);
    const store = await openPostgresEventStore({ connection: database.connection, log: quietLog });
    const replayed = await replays(database, store, apart, rounds, surroundings).finally(async () => {
      await store.close();
      await database.close();
    });
    const models = { [model]: { chunks: 50, chunkSize: 5 } };
    return withRig({ models }, surroundings, async (rig) => {
      surroundings.progress('saturating the gateway');
      await rig.measure(tallygate, { model, stream: false, pace: { connections }, seconds: warmUpSeconds });
      const lag = await lagUnderLoad(rig, seconds, connections);
      const { books, differences } = await rig.checkBooks();
      return {
        figures: { replayed, lagMs: lag, books },
        lines: [...linesOf(replayed, lag), '', booksLine(books, differences)],
        differences,
      };
    });
  },
});
