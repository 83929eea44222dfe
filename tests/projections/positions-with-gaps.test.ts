import { expect, test, vi } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import type { Recorded } from '../../src/domain/events/events.js';
import { beginning } from '../../src/domain/events/events.js';
import { readCheckpoints } from '../../src/projections/engine/checkpoints.js';
import type { EventFeed } from '../../src/projections/engine/projection.js';
import { rebuild } from '../../src/projections/engine/rebuild.js';
import type { ProjectionRunner } from '../../src/projections/engine/runner.js';
import { percentOf, watchBuilding } from '../../src/projections/engine/watch-building.js';
import { until } from '../support/until.js';
import { counting, counts } from './counting.js';
import { alice, granted, option } from './history.js';
import { forEachTest, hold, type Projected } from './projected.js';

/*
 * Read models over a log whose positions lie any distance apart: some hundred places from one event to the next. What
 * counted by them would take three events for two thousand.
 */

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
}, 'dropped');

const batchSize = 10;
const patient = { batchSize, lingerMs: 60_000, idleCheckpointMs: 60_000 };

const options = (count: number) => Array.from({ length: count }, (_, n) => option('a', String(n)));

const start = (changes: Parameters<Projected['start']>[0] = {}): Promise<ProjectionRunner> =>
  projected.start({ projections: [counting({ purpose: 'showing' })], pace: patient, ...changes });

const stateOf = (runner: ProjectionRunner) => {
  const [state] = runner.status();
  if (state === undefined) throw new Error('there is no read model');
  return state;
};

/** The log as far as `readable` events of it go; more can be read once it is raised. */
function heldBack(readable: number) {
  const { store } = projected;
  const held = { readable };
  let events: readonly Recorded[] = [];
  const feed: EventFeed = {
    head: () => store.head(),
    estimateBetween: (after, upTo) => store.estimateBetween(after, upTo),
    readNewest: (limit) => store.readNewest(limit),
    readStream: (stream) => store.readStream(stream),
    async readAll(after, limit) {
      events = await store.readAll(beginning, 1_000);
      const page = () => events.slice(0, held.readable).filter(({ position }) => position > after);
      await until(async () => (page().length > 0 ? true : null));
      return page().slice(0, limit);
    },
  };
  return { feed, held };
}

test('a read model that lacks a few events is not treated as being built, however far apart their positions are', async () => {
  await projected.record(...options(batchSize));
  const { feed, held } = heldBack(0);
  const runner = await start({ feed });
  expect(stateOf(runner)).toMatchObject({ status: 'running', position: beginning });
  held.readable = batchSize;
  await hold(runner, await projected.store.head());
  expect(await counts(projected.pool)).toEqual({ a: batchSize });
});

test('the progress of a read model is measured in events, and so is the size of a build', async () => {
  await projected.record(...options(40));
  const { feed, held } = heldBack(10);
  const runner = await start({ feed });
  const notified: [string, object][] = [];
  const say = (facts: object, message: string) => void notified.push([message, facts]);
  const stop = watchBuilding({
    progress: runner,
    feed,
    head: await projected.store.head(),
    dropOld: async () => [],
    unreadable: () => {},
    log: { info: say, warn: say, error: say },
    lookMs: 1,
    sayMs: 0,
  });
  try {
    for (const [readable, percent] of [
      [10, 25],
      [20, 50],
      [30, 75],
    ] as const) {
      held.readable = readable;
      await vi.waitFor(() => expect(percentOf(stateOf(runner), feed)).toBe(percent), 10_000);
      expect(stateOf(runner).status).toBe('building');
    }
    held.readable = 40;
    await vi.waitFor(() => expect(stateOf(runner).status).toBe('running'), 10_000);
    await vi.waitFor(() => expect(notified.at(-1)?.[0]).toBe('a read model has been built'), 10_000);
  } finally {
    await stop();
  }
  expect(notified[0]?.[1]).toMatchObject({ readModel: 'counting_v1' });
  expect(notified.at(-1)?.[1]).toMatchObject({ readModel: 'counting_v1', seconds: expect.any(Number) });
  expect(percentOf(stateOf(runner), feed)).toBe(100);
});

test('a checkpoint advances over irrelevant events by their number', async () => {
  const runner = await start({ pace: { ...patient, lingerMs: 0, idleCheckpointEvents: 10 } });
  await vi.waitFor(() => expect(stateOf(runner).leading).toBe(true), 10_000);
  for (let n = 0; n < 25; n++) await hold(runner, await projected.record(granted(alice, 1)));
  const twentieth = (await projected.store.readAll(beginning, 100))[19];
  await vi.waitFor(async () => {
    const [checkpoint] = await readCheckpoints(projected.pool);
    expect(checkpoint?.position).toBe(twentieth?.position);
  }, 10_000);
});

test('a read model is rebuilt to the same rows', async () => {
  const runner = await start();
  await hold(runner, await projected.record(...options(35)));
  const before = await projected.dump('counting_v1');
  const { database, pool, personalData, store: feed } = projected;
  const rebuilt = await rebuild({
    ...{ feed, pool, context: { personalData }, pageSize: 8 },
    projection: counting({ purpose: 'showing' }),
    newClient: () => newClient(database.connection),
  });
  expect(rebuilt).toEqual({ events: 35, position: await feed.head() });
  expect(await projected.dump('counting_v1')).toEqual(before);
});
