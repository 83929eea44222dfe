import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import { beginning, Position, type Recorded, streams } from '../../src/domain/events/events.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { readCheckpoints } from '../../src/projections/engine/checkpoints.js';
import { type News, type NewsSource, newsOf } from '../../src/projections/engine/news.js';
import type { EventFeed } from '../../src/projections/engine/projection.js';
import { dropOldVersions, rebuild } from '../../src/projections/engine/rebuild.js';
import type { ProjectionRunner, RunnerOptions } from '../../src/projections/engine/runner.js';
import { startProjections } from '../../src/projections/engine/runner.js';
import { users } from '../../src/projections/models/users.js';
import { readModels } from '../../src/projections/read-models.js';
import { startBehindChannel } from './behind-channel.js';
import { counting, counts } from './counting.js';
import { alice, type Fact, granted, option, registered, root } from './history.js';
import { forEachTest, hold, type Projected } from './projected.js';

/* What everybody may expect of a runner, in the same thread or in another one. */
describe.each([
  ['a runner', startProjections],
  ['a runner at the other end of a channel', startBehindChannel],
])('%s:', (_, startRunner) => {
  let projected: Projected;
  forEachTest((fresh) => {
    projected = fresh;
    projected.startRunner = startRunner;
  }, 'dropped');

  /** Nothing happens by itself within a test, except what it is about. */
  const patient = { lingerMs: 60_000, idleCheckpointMs: 60_000, idleCheckpointEvents: 1_000_000 };
  const watchful = { pollMs: 10, retryMs: 10 };

  /** How many events were in each batch a runner has committed, oldest first. */
  const committed = new WeakMap<ProjectionRunner, number[]>();

  const batchesOf = (runner: ProjectionRunner): readonly number[] => committed.get(runner) ?? [];

  async function start(options: Partial<RunnerOptions> = {}): Promise<ProjectionRunner> {
    const batches: number[] = [];
    const runner = await projected.start({
      projections: [counting()],
      committed: (_model, batch) => void batches.push(batch.length),
      ...options,
    });
    committed.set(runner, batches);
    return runner;
  }

  const stateOf = (runner: ProjectionRunner, name = 'counting') => {
    const state = runner.status().find((model) => model.name === name);
    if (state === undefined) throw new Error(`no state of ${name}`);
    return state;
  };

  const leads = (runner: ProjectionRunner) => vi.waitFor(() => expect(stateOf(runner).leading).toBe(true), 10_000);

  const checkpointOf = async (name = 'counting') =>
    (await readCheckpoints(projected.pool)).find((checkpoint) => checkpoint.name === name);

  /** News that are told twice, and now and then are long past. */
  async function* stammering(signal: AbortSignal): AsyncGenerator<News> {
    for await (const news of newsOf(projected.store, signal, { broke: () => {} })) {
      yield news;
      yield { head: beginning, quarantined: true };
      yield news;
    }
  }

  describe('folding', () => {
    test('begins with what is in the log and goes on with what comes', async () => {
      await projected.record(option('a', '1'), option('b', '1'));
      const runner = await start();
      await runner.caughtUp();
      expect(await counts(projected.pool)).toEqual({ a: 1, b: 1 });
      await hold(runner, await projected.record(option('a', '2')));
      expect(await counts(projected.pool)).toEqual({ a: 2, b: 1 });
    });

    test('counts an event once, however often it is told of', async () => {
      await projected.record(option('a', '1'));
      const runner = await start({ news: stammering });
      for (const text of ['2', '3', '4']) await hold(runner, await projected.record(option('a', text)));
      expect(await counts(projected.pool)).toEqual({ a: 4 });
    });

    test('goes on where it stopped', async () => {
      const first = await start();
      await hold(first, await projected.record(option('a', '1')));
      await first.stop();
      await projected.record(option('a', '2'));
      await (await start()).caughtUp();
      expect(await counts(projected.pool)).toEqual({ a: 2 });
    });

    test('reports what it has committed', async () => {
      const committed: [string, number[]][] = [];
      const report = (model: string, batch: readonly Recorded[]) =>
        void committed.push([model, batch.map(({ position }) => Number(position))]);
      await projected.record(option('a', '1'), registered(alice, 'alice'), option('b', '1'));
      const runner = await start({ committed: report });
      await runner.caughtUp();
      expect(committed).toEqual([['counting', [0, 2]]]);
    });

    test('takes what there is in batches of limited size, without resting between full ones', async () => {
      await projected.record(...['a', 'b', 'c', 'd', 'e'].map((key) => option(key, '1')));
      const runner = await start({ pace: { ...patient, batchSize: 2 } });
      await runner.caughtUp();
      expect(batchesOf(runner)).toEqual([2, 2, 1]);
    });
  });

  describe('between batches', () => {
    test('events gather while nobody waits for them, and are folded at once when somebody does', async () => {
      const runner = await start({ pace: patient });
      await leads(runner);
      await hold(runner, await projected.record(option('a', '1')));
      expect(batchesOf(runner)).toEqual([1]);
      let last = beginning;
      for (let n = 0; n < 20; n++) last = await projected.record(option('b', String(n)));
      expect(batchesOf(runner)).toEqual([1]);
      await hold(runner, last);
      expect(batchesOf(runner)).toEqual([1, 20]);
    });

    test('they are folded before long also when nobody waits', async () => {
      const runner = await start({ pace: { ...patient, lingerMs: 1 } });
      await projected.record(option('a', '1'));
      await vi.waitFor(async () => expect(await counts(projected.pool)).toEqual({ a: 1 }), 10_000);
      expect(batchesOf(runner)).toEqual([1]);
    });
  });

  describe('events a read model is not interested in', () => {
    test('count as folded without a transaction', async () => {
      const runner = await start({ pace: patient });
      await leads(runner);
      const position = await projected.record(registered(alice, 'alice'), granted(alice, 1));
      await hold(runner, position);
      expect(stateOf(runner).position).toBe(position);
      expect(batchesOf(runner)).toEqual([]);
      expect(await checkpointOf()).toMatchObject({ position: beginning });
    });

    test('move the checkpoint in the end', async () => {
      const runner = await start({ pace: patient });
      await leads(runner);
      const position = await projected.record(registered(alice, 'alice'));
      await hold(runner, position);
      await runner.stop();
      expect(await checkpointOf()).toMatchObject({ position });
    });

    test('move it when there are many of them, though nothing else happens and nobody rests', async () => {
      const runner = await start({ pace: { ...patient, idleCheckpointEvents: 10 } });
      await leads(runner);
      for (let n = 0; n < 25; n++) await hold(runner, await projected.record(granted(alice, 1)));
      await vi.waitFor(async () => expect(await checkpointOf()).toMatchObject({ position: 19 }), 10_000);
      expect(batchesOf(runner)).toEqual([]);
    });

    test('move it after a while, though they keep coming', async () => {
      let arrive = () => {};
      const last = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      // Another page is always ready, until the last one, which is held back: the projector never comes to rest.
      const flowing: EventFeed = {
        head: () => projected.store.head(),
        readNewest: (limit) => projected.store.readNewest(limit),
        estimateBetween: (after, upTo) => projected.store.estimateBetween(after, upTo),
        readStream: (stream) => projected.store.readStream(stream),
        readAll: async (after, limit) => {
          await (after < Position(8) ? sleep(2) : last);
          return projected.store.readAll(after, limit);
        },
      };
      for (let n = 0; n < 10; n++) await projected.record(granted(alice, 1));
      const runner = await start({ feed: flowing, pace: { ...patient, batchSize: 1, idleCheckpointMs: 1 } });
      try {
        await vi.waitFor(() => expect(stateOf(runner).position).toBe(8), 10_000);
        expect((await checkpointOf())?.position).not.toBe(beginning);
      } finally {
        arrive();
      }
      await runner.caughtUp();
    });

    test('are not read again after a crash, but for the last few', async () => {
      let cutOff = false;
      const connecting = () => {
        const client = newClient(projected.database.connection);
        if (cutOff) client.connect = () => Promise.reject(new Error('connection refused'));
        return client;
      };
      const crashing = await start({ newClient: connecting, pace: { ...patient, idleCheckpointEvents: 10 } });
      await leads(crashing);
      for (let n = 0; n < 95; n++) await hold(crashing, await projected.record(granted(alice, 1)));
      await vi.waitFor(async () => expect(await checkpointOf()).toMatchObject({ position: 89 }), 10_000);
      cutOff = true;
      await projected.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'tallygate projector counting_v1'`,
      );
      await vi.waitFor(() => expect(stateOf(crashing).leading).toBe(false), 10_000);
      let read = 0;
      const feed: EventFeed = {
        head: () => projected.store.head(),
        readNewest: (limit) => projected.store.readNewest(limit),
        estimateBetween: (after, upTo) => projected.store.estimateBetween(after, upTo),
        readStream: (stream) => projected.store.readStream(stream),
        readAll: async (after, limit) => {
          const page = await projected.store.readAll(after, limit);
          read += page.length;
          return page;
        },
      };
      await (await start({ feed })).caughtUp();
      expect(read).toBe(5);
    });

    test('move it after a while', async () => {
      const runner = await start({ pace: { idleCheckpointMs: 1 } });
      const position = await projected.record(registered(alice, 'alice'));
      await hold(runner, position);
      await vi.waitFor(async () => expect(await checkpointOf()).toMatchObject({ position }), 10_000);
    });
  });

  describe('waiting for a position', () => {
    const future = Position(1_000);

    test('answers false when the time is up', async () => {
      const runner = await start();
      await leads(runner);
      expect(await runner.reached(future, 1)).toBe(false);
    });

    test('answers false when the runner stops', async () => {
      const runner = await start();
      const answer = runner.reached(future, 60_000);
      await runner.stop();
      expect(await answer).toBe(false);
    });

    test('of named read models needs no other, not even to be awake', async () => {
      const stuck = counting({
        name: 'stuck',
        afterRows: () => {
          throw new Failure('store-unavailable');
        },
      });
      const runner = await start({ projections: [counting(), stuck], pace: { retryMs: 10 } });
      const position = await projected.record(option('a', '1'));
      expect(await runner.reached(position, 20_000, ['counting'])).toBe(true);
      expect(stateOf(runner, 'stuck').position).toBe(beginning);
      expect(await runner.reached(position, 1, ['counting', 'stuck'])).toBe(false);
    });

    test('of named read models is answered at once where just these are stopped', async () => {
      const sick = counting({
        name: 'sick',
        afterRows: () => {
          throw new Error('never');
        },
      });
      const runner = await start({ projections: [counting(), sick] });
      const position = await projected.record(option('a', '1'));
      await vi.waitFor(() => expect(stateOf(runner, 'sick').status).toBe('stopped'), 10_000);
      expect(await runner.reached(position, 60_000, ['sick'])).toBe(false);
      expect(await runner.reached(position, 60_000, ['counting'])).toBe(true);
    });

    test('of a read model nobody knows is a mistake, not a wait', async () => {
      const runner = await start();
      expect(() => runner.reached(beginning, 60_000, ['legder'])).toThrow('There is no read model legder');
    });

    test('leaves out what is shown while it is being built, and says that it is not all', async () => {
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const shown = counting({ name: 'shown', purpose: 'showing', afterRows: () => held });
      await projected.record(option('a', '1'), option('a', '2'), option('a', '3'));
      const runner = await start({ projections: [counting(), shown], pace: { batchSize: 2 } });
      await runner.caughtUp();
      expect(stateOf(runner, 'shown')).toMatchObject({ status: 'building', position: beginning });
      const position = await projected.record(option('a', '4'));
      expect(await runner.reached(position, 60_000)).toBe(false);
      expect(await runner.reached(position, 60_000, ['counting'])).toBe(true);
      letGo();
      await vi.waitFor(() => expect(stateOf(runner, 'shown').status).toBe('running'), 10_000);
      expect(await runner.reached(await projected.record(option('a', '5')), 60_000)).toBe(true);
      expect(await counts(projected.pool, 'shown_v1')).toEqual({ a: 5 });
    });

    test('needs what is shown too, where it was no more than a batch behind at the start', async () => {
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const shown = counting({ name: 'shown', purpose: 'showing', afterRows: () => held });
      const position = await projected.record(option('a', '1'), option('a', '2'));
      const runner = await start({ projections: [counting(), shown], pace: { batchSize: 2 } });
      await runner.caughtUp();
      expect(stateOf(runner, 'shown')).toMatchObject({ status: 'running', position: beginning });
      const answer = runner.reached(position, 60_000);
      letGo();
      expect(await answer).toBe(true);
    });

    test('needs every read model', async () => {
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const slow = counting({ name: 'slow', afterRows: () => held });
      const runner = await start({ projections: [counting(), slow] });
      const position = await projected.record(option('a', '1'));
      const answer = runner.reached(position, 60_000);
      await vi.waitFor(() => expect(stateOf(runner).position).toBe(position), 10_000);
      expect(stateOf(runner, 'slow').position).toBe(beginning);
      letGo();
      expect(await answer).toBe(true);
      expect(stateOf(runner, 'slow').position).toBe(position);
    });
  });

  describe('several nodes', () => {
    test('may start at once on an empty database', async () => {
      const runners = await Promise.all([1, 2, 3].map(() => projected.start({ pace: watchful })));
      const position = await projected.record(registered(alice, 'alice'), option('a', '1'));
      for (const runner of runners) await hold(runner, position);
      expect((await readCheckpoints(projected.pool)).map(({ name }) => name)).toEqual(
        readModels.map(({ name }) => name).sort(),
      );
    });

    test('fold each read model in one place', async () => {
      const runners = await Promise.all([1, 2, 3].map(() => start({ pace: watchful })));
      for (let n = 0; n < 30; n++) await projected.record(option('a', String(n)));
      for (const runner of runners) await hold(runner, await projected.store.head());
      expect(runners.filter((runner) => stateOf(runner).leading)).toHaveLength(1);
      expect(runners.filter((runner) => batchesOf(runner).length > 0)).toHaveLength(1);
      expect(runners.flatMap(batchesOf).reduce((sum, size) => sum + size)).toBe(30);
      expect(await counts(projected.pool)).toEqual({ a: 30 });
    });

    test('see their writes in a read model that another one folds, without waiting for its rest', async () => {
      const leader = await start({ pace: patient });
      await leads(leader);
      const follower = await start({ pace: patient });
      for (const fact of [option('a', '1'), option('a', '2'), registered(alice, 'alice'), option('a', '3')])
        await hold(follower, await projected.record(fact));
      expect(stateOf(follower).leading).toBe(false);
      expect(await counts(projected.pool)).toEqual({ a: 3 });
    });

    test('give the read model to the next one when they stop', async () => {
      const first = await start({ pace: watchful });
      await leads(first);
      const second = await start({ pace: watchful });
      await first.stop();
      await hold(second, await projected.record(option('a', '1')));
      expect(stateOf(second).leading).toBe(true);
    });

    test('take over from one that is cut off in the middle of a batch, and count it once', async () => {
      let cutOff = false;
      const connecting = () => {
        const client = newClient(projected.database.connection);
        if (cutOff) client.connect = () => Promise.reject(new Error('connection refused'));
        return client;
      };
      let reached = () => {};
      const inBatch = new Promise<void>((resolve) => {
        reached = resolve;
      });
      const hanging = counting({
        afterRows: async (batch) => {
          if (!batch.some(({ event }) => event.key === 'b')) return;
          reached();
          await vi.waitFor(() => expect(cutOff).toBe(true), 10_000);
        },
      });
      const first = await start({ projections: [hanging], newClient: connecting, pace: watchful });
      await hold(first, await projected.record(option('a', '1')));
      const second = await start({ pace: watchful });
      const position = await projected.record(option('b', '1'));
      await inBatch;
      cutOff = true;
      await projected.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'tallygate projector counting_v1'`,
      );
      await hold(second, position);
      expect(await counts(projected.pool)).toEqual({ a: 1, b: 1 });
      await leads(second);
      await vi.waitFor(() => expect(batchesOf(second)).toEqual([1]), 10_000);
      await vi.waitFor(() => expect(stateOf(first).leading).toBe(false), 10_000);
    });
  });

  describe('a lost connection', () => {
    test('is made again, and the batch under way counts once', async () => {
      let killed = false;
      const killing = counting({
        afterRows: async () => {
          if (killed) return;
          killed = true;
          await projected.pool.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and application_name = 'tallygate projector counting_v1'`,
          );
        },
      });
      const runner = await start({ projections: [killing], pace: watchful });
      await hold(runner, await projected.record(option('a', '1'), option('a', '2')));
      expect(killed).toBe(true);
      expect(await counts(projected.pool)).toEqual({ a: 2 });
      expect(stateOf(runner)).toMatchObject({ leading: true, status: 'running' });
    });

    test('of the world outside is no fault of the event: it is tried again', async () => {
      let attempts = 0;
      const flaky = counting({
        afterRows: () => {
          attempts += 1;
          if (attempts < 4) throw new Failure('store-unavailable');
        },
      });
      const runner = await start({ projections: [flaky], pace: watchful });
      await hold(runner, await projected.record(option('a', '1')));
      expect(attempts).toBe(4);
      expect(await counts(projected.pool)).toEqual({ a: 1 });
      expect(stateOf(runner).status).toBe('running');
      expect(batchesOf(runner)).toEqual([1]);
    });
  });

  describe('an event that cannot be folded', () => {
    const poison = (key: string, name?: string) =>
      counting({
        name,
        afterRows: (batch) => {
          if (batch.some(({ event }) => event.key === key)) throw new Error(`no idea what ${key} is`);
        },
      });

    const stopped = (runner: ProjectionRunner, name?: string) =>
      vi.waitFor(() => expect(stateOf(runner, name).status).toBe('stopped'), 10_000);

    test('stops its read model there: all before it is folded, nothing after it', async () => {
      await projected.record(...['a', 'a', 'b', 'poison', 'a', 'c'].map((key) => option(key, '1')));
      const errors: unknown[] = [];
      const log = { info: () => {}, warn: () => {}, error: (facts: object) => void errors.push(facts) };
      const runner = await start({ projections: [poison('poison')], log });
      await stopped(runner);
      expect(await counts(projected.pool)).toEqual({ a: 2, b: 1 });
      const failure = { position: 3, type: 'OptionChanged', error: 'no idea what poison is' };
      expect(stateOf(runner)).toMatchObject({ position: 2, failure });
      expect(errors).toEqual([{ readModel: 'counting_v1', ...failure }]);
      expect(await checkpointOf()).toMatchObject({ status: 'stopped', position: 2, failure });
    });

    test('is found among events nobody is interested in', async () => {
      await projected.record(registered(alice, 'alice'), option('poison', '1'), granted(alice, 5));
      const runner = await start({ projections: [poison('poison')] });
      await stopped(runner);
      expect(stateOf(runner)).toMatchObject({ failure: { position: 1 } });
    });

    test('leaves the other read models going', async () => {
      const runner = await start({ projections: [poison('poison', 'sick'), counting()] });
      await projected.record(option('poison', '1'));
      await stopped(runner, 'sick');
      const position = await projected.record(option('a', '1'));
      await vi.waitFor(() => expect(stateOf(runner).position).toBe(position), 10_000);
      expect(await counts(projected.pool)).toEqual({ poison: 1, a: 1 });
      expect(stateOf(runner, 'sick').position).toBe(beginning);
    });

    test('is not waited for: who asks is told at once that the position is not reached', async () => {
      const runner = await start({ projections: [poison('poison', 'sick'), counting()] });
      const position = await projected.record(option('poison', '1'));
      await stopped(runner, 'sick');
      expect(await runner.reached(position, 60_000)).toBe(false);
      await runner.caughtUp();
    });

    test('is tried again after a restart, and folded when the code can do it', async () => {
      const sick = await start({ projections: [poison('poison')] });
      await projected.record(option('a', '1'), option('poison', '1'), option('b', '1'));
      await stopped(sick);
      await sick.stop();
      const still = await start({ projections: [poison('poison')] });
      await stopped(still);
      await still.stop();
      const healed = await start();
      await hold(healed, await projected.store.head());
      expect(await counts(projected.pool)).toEqual({ a: 1, poison: 1, b: 1 });
      expect(await checkpointOf()).toMatchObject({ status: 'running', failure: null });
    });

    test('is tried by the next node when this one dies, and seen as stopped meanwhile', async () => {
      const first = await start({ projections: [poison('poison')], pace: watchful });
      await projected.record(option('poison', '1'));
      await stopped(first);
      const second = await start({ pace: watchful });
      expect(stateOf(second)).toMatchObject({ leading: false, status: 'stopped', failure: { position: 0 } });
      await first.stop();
      await vi.waitFor(async () => expect(await counts(projected.pool)).toEqual({ poison: 1 }), 10_000);
      await vi.waitFor(() =>
        expect(stateOf(second)).toMatchObject({ leading: true, status: 'running', failure: null }),
      );
    });
  });

  describe('an event that is quarantined', () => {
    const sick = (name = 'counting') =>
      counting({
        name,
        afterRows: (batch) => {
          if (batch.some(({ event }) => event.key === 'poison')) throw new Error('no idea what that is');
        },
      });
    const quarantined = (position: number, model = 'counting', version = 1): Fact => ({
      ...option('-', '-'),
      stream: streams.quarantine,
      event: {
        type: 'EventQuarantined',
        model,
        version,
        position: Position(position),
        reason: 'of an earlier release',
        by: root,
      },
    });
    const stopped = (runner: ProjectionRunner, name?: string) =>
      vi.waitFor(() => expect(stateOf(runner, name).status).toBe('stopped'), 10_000);

    test('is left out by the stopped read model, which goes on at once with what follows', async () => {
      const runner = await start({ projections: [sick()], pace: patient });
      await hold(runner, await projected.record(option('a', '1')));
      const last = await projected.record(option('poison', '1'), option('a', '2'));
      await runner.reached(last, 10_000);
      await stopped(runner);
      await projected.record(quarantined(1));
      await vi.waitFor(() => expect(stateOf(runner).status).toBe('running'), 10_000);
      await hold(runner, await projected.record(option('b', '1')));
      expect(await counts(projected.pool)).toEqual({ a: 2, b: 1 });
      expect(stateOf(runner)).toMatchObject({ status: 'running', failure: null, quarantined: 1 });
      expect(await checkpointOf()).toMatchObject({ status: 'running', failure: null });
    });

    test('is left out by the next node too, and by a rebuild', async () => {
      await projected.record(option('a', '1'), option('poison', '1'), option('a', '2'), quarantined(1));
      const runner = await start({ projections: [sick()] });
      await runner.caughtUp();
      expect(await counts(projected.pool)).toEqual({ a: 2 });
      await rebuild({
        projection: sick(),
        feed: projected.store,
        pool: projected.pool,
        newClient: () => newClient(projected.database.connection),
        context: { personalData: projected.personalData },
      });
      expect(await counts(projected.pool)).toEqual({ a: 2 });
    });

    test('is an event like any other to other read models, and to another version of this one', async () => {
      await projected.record(option('poison', '1'), quarantined(0));
      const runner = await start({ projections: [sick(), counting({ name: 'other' })] });
      await runner.caughtUp();
      expect(await counts(projected.pool, 'other_v1')).toEqual({ poison: 1 });
      const mended = await start({ projections: [counting({ version: 2 })] });
      await mended.caughtUp();
      expect(await counts(projected.pool, 'counting_v2')).toEqual({ poison: 1 });
    });

    test('is just that one: the next that cannot be folded stops the read model again', async () => {
      const runner = await start({ projections: [sick()], pace: watchful });
      await projected.record(option('poison', '1'));
      await stopped(runner);
      await projected.record(quarantined(0), option('poison', '2'));
      await vi.waitFor(() => expect(stateOf(runner).failure).toMatchObject({ position: 2 }), 10_000);
      expect(await counts(projected.pool)).toEqual({});
    });
  });

  describe('a start', () => {
    test('makes tables anew that somebody has dropped', async () => {
      const first = await start();
      await hold(first, await projected.record(option('a', '1')));
      await first.stop();
      await projected.pool.query('drop schema counting_v1 cascade');
      await (await start()).caughtUp();
      expect(await counts(projected.pool)).toEqual({ a: 1 });
    });

    test('is refused over a read model that has folded more than the log holds: it says which, and what to do', async () => {
      const first = await start();
      await hold(first, await projected.record(option('a', '1')));
      await first.stop();
      await projected.pool.query('update projections.checkpoints set position = 17');
      await expect(start()).rejects.toMatchObject({
        code: 'store-unavailable',
        details: {
          reason: expect.stringMatching(/counting \(version 1\) is at position 17.*ends at 0.*--model counting/),
        },
      });
      await rebuild({
        projection: counting(),
        feed: projected.store,
        pool: projected.pool,
        newClient: () => newClient(projected.database.connection),
        context: { personalData: projected.personalData },
      });
      await (await start()).caughtUp();
      expect(await counts(projected.pool)).toEqual({ a: 1 });
    });
  });

  describe('an event of a type that only a newer release knows', () => {
    const unknown = { ...option('x', '1'), event: { type: 'CreditLent', quota: 5 } as never };
    const refusal = { name: 'UnreadableEvent', type: 'CreditLent', position: 1 };

    test('stops every read model before it, also those that no such event concerns', async () => {
      const runner = await start({ projections: [counting(), counting({ name: 'other' })] });
      const before = await projected.record(option('a', '1'));
      await projected.record(unknown, option('b', '1'));
      for (const name of ['counting', 'other']) {
        await vi.waitFor(() => expect(stateOf(runner, name).status).toBe('stopped'), 10_000);
        expect(stateOf(runner, name)).toMatchObject({ position: before, failure: { position: 1, type: 'CreditLent' } });
        expect(await checkpointOf(name)).toMatchObject({ position: before, status: 'stopped' });
      }
      expect(await counts(projected.pool)).toEqual({ a: 1 });
      expect(stateOf(runner).failure?.error).toContain('this release knows no events of that type');
    });

    test('is a reason not to start', async () => {
      await projected.record(option('a', '1'), unknown, option('b', '1'));
      await expect((await start()).caughtUp()).rejects.toMatchObject(refusal);
    });

    test('is a reason not to rebuild: the tables that serve stay', async () => {
      const runner = await start();
      await hold(runner, await projected.record(option('a', '1')));
      await runner.stop();
      await projected.record(unknown);
      const rebuilding = rebuild({
        projection: counting(),
        feed: projected.store,
        pool: projected.pool,
        newClient: () => newClient(projected.database.connection),
        context: { personalData: projected.personalData },
      });
      await expect(rebuilding).rejects.toMatchObject(refusal);
      expect(await counts(projected.pool)).toEqual({ a: 1 });
    });
  });

  describe('a new version of a read model', () => {
    test('is built beside the old one, from the beginning of the log', async () => {
      const old = await start();
      await hold(old, await projected.record(option('a', '1'), option('a', '2')));
      const next = await start({ projections: [counting({ version: 2 })] });
      await next.caughtUp();
      expect(await counts(projected.pool, 'counting_v2')).toEqual({ a: 2 });
      const position = await projected.record(option('b', '1'));
      await hold(old, position);
      await hold(next, position);
      expect(await counts(projected.pool, 'counting_v1')).toEqual(await counts(projected.pool, 'counting_v2'));
    });

    test('outlives the old one, which is dropped when nobody folds it any more', async () => {
      const versionTwo = counting({ version: 2 });
      const drop = () => dropOldVersions(() => newClient(projected.database.connection), [versionTwo]);
      const old = await start();
      await leads(old);
      await (await start({ projections: [versionTwo] })).caughtUp();
      expect(await drop()).toEqual([]);
      await old.stop();
      expect(await drop()).toEqual(['counting_v1']);
      expect((await readCheckpoints(projected.pool)).map(({ name, version }) => [name, version])).toEqual([
        ['counting', 2],
      ]);
      await expect(counts(projected.pool, 'counting_v1')).rejects.toMatchObject({ code: '42P01' });
    });
  });

  describe('a subscription that breaks', () => {
    test('is taken up again where it was', async () => {
      let breaks = 2;
      const breaking: NewsSource = {
        head: () => projected.store.head(),
        async *subscribe(after: Position, signal) {
          for await (const batch of projected.store.subscribe(after, signal)) {
            yield batch;
            if (breaks-- > 0) throw new Error('broken off');
          }
        },
      };
      const runner = await start({ news: (signal) => newsOf(breaking, signal, { broke: () => {}, retryMs: 10 }) });
      for (let n = 0; n < 5; n++) await hold(runner, await projected.record(option('a', String(n))));
      expect(breaks).toBeLessThanOrEqual(0);
      expect(await counts(projected.pool)).toEqual({ a: 5 });
    });
  });

  test('personal data is opened only for whoever is to be shown', async () => {
    const opened: number[] = [];
    const personalData = {
      open: async (user: number) => {
        opened.push(user);
        await sleep(0);
        return 'opened';
      },
      searchToken: (term: string) => term,
    };
    await projected.record(registered(alice, 'alice'), {
      ...registered(alice, 'alice'),
      event: { type: 'UserDeleted', by: alice },
    });
    const runner = await projected.start({ projections: [users], context: { personalData } });
    await runner.caughtUp();
    expect(opened).toEqual([]);
  });
});
