import { describe, expect, test, vi } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import { beginning, Position, streams } from '../../src/domain/events/events.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { type NewsSource, newsOf } from '../../src/projections/engine/news.js';
import { rebuild } from '../../src/projections/engine/rebuild.js';
import type { ProjectionRunner } from '../../src/projections/engine/runner.js';
import { counting, counts } from './counting.js';
import { alice, type Fact, granted, option, registered, root } from './history.js';
import { hold } from './projected.js';
import {
  batchesOf,
  checkpointOf,
  patient,
  projected,
  renewedWith,
  runners,
  start,
  stateOf,
  watchful,
} from './runner-setting.js';

describe.each(runners)('the runner on %s:', (_, startRunner) => {
  renewedWith(startRunner);

  describe('a lost connection', () => {
    test('is restored, and the current batch counts once', async () => {
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

    test('to an external service is not attributed to the event: it is retried', async () => {
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

    test('stops its read model at that event: all before it is folded, nothing after it', async () => {
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

    test('is found among irrelevant events', async () => {
      await projected.record(registered(alice, 'alice'), option('poison', '1'), granted(alice, 5));
      const runner = await start({ projections: [poison('poison')] });
      await stopped(runner);
      expect(stateOf(runner)).toMatchObject({ failure: { position: 1 } });
    });

    test('does not stop the other read models', async () => {
      const runner = await start({ projections: [poison('poison', 'sick'), counting()] });
      await projected.record(option('poison', '1'));
      await stopped(runner, 'sick');
      const position = await projected.record(option('a', '1'));
      await vi.waitFor(() => expect(stateOf(runner).position).toBe(position), 10_000);
      expect(await counts(projected.pool)).toEqual({ poison: 1, a: 1 });
      expect(stateOf(runner, 'sick').position).toBe(beginning);
    });

    test('ends the waiting: callers learn at once that the position is not reached', async () => {
      const runner = await start({ projections: [poison('poison', 'sick'), counting()] });
      const position = await projected.record(option('poison', '1'));
      await stopped(runner, 'sick');
      expect(await runner.reached(position, 60_000)).toBe(false);
      await runner.caughtUp();
    });

    test('is retried after a restart, and folded when the code can do it', async () => {
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

    test('is retried by the next node when this one dies, and reported as stopped meanwhile', async () => {
      const first = await start({ projections: [poison('poison')], pace: watchful });
      await projected.record(option('poison', '1'));
      await stopped(first);
      const second = await start({ pace: watchful });
      expect(stateOf(second)).toMatchObject({ leading: false, status: 'stopped', failure: { position: 0 } });
      await first.stop();
      await vi.waitFor(async () => expect(await counts(projected.pool)).toEqual({ poison: 1 }), 10_000);
      await vi.waitFor(
        () => expect(stateOf(second)).toMatchObject({ leading: true, status: 'running', failure: null }),
        10_000,
      );
    });
  });

  describe('a quarantined event', () => {
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

    test('is skipped by the stopped read model, which continues at once', async () => {
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

    test('is skipped by the next node too, and by a rebuild', async () => {
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

    test('is an ordinary event for other read models, and for another version of this one', async () => {
      await projected.record(option('poison', '1'), quarantined(0));
      const runner = await start({ projections: [sick(), counting({ name: 'other' })] });
      await runner.caughtUp();
      expect(await counts(projected.pool, 'other_v1')).toEqual({ poison: 1 });
      const mended = await start({ projections: [counting({ version: 2 })] });
      await mended.caughtUp();
      expect(await counts(projected.pool, 'counting_v2')).toEqual({ poison: 1 });
    });

    test('is the only one skipped: the next that cannot be folded stops the read model again', async () => {
      const runner = await start({ projections: [sick()], pace: { ...watchful, lingerMs: 0, idleCheckpointMs: 10 } });
      await projected.record(option('poison', '1'));
      await stopped(runner);
      await projected.record(quarantined(0), option('poison', '2'));
      await vi.waitFor(() => expect(stateOf(runner).failure).toMatchObject({ position: 2 }), 10_000);
      expect(await counts(projected.pool)).toEqual({});
    });
  });

  describe('a start', () => {
    test('recreates dropped tables', async () => {
      const first = await start();
      await hold(first, await projected.record(option('a', '1')));
      await first.stop();
      await projected.pool.query('drop schema counting_v1 cascade');
      await (await start()).caughtUp();
      expect(await counts(projected.pool)).toEqual({ a: 1 });
    });

    test('is refused over a read model that has folded more than the log contains: the error names it, with a remedy', async () => {
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

    test('stops every read model before it, also those it does not concern', async () => {
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

    test('prevents the start', async () => {
      await projected.record(option('a', '1'), unknown, option('b', '1'));
      await expect((await start()).caughtUp()).rejects.toMatchObject(refusal);
    });

    test('prevents a rebuild: the current tables stay', async () => {
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

  describe('a subscription that breaks', () => {
    test('is resumed at its position', async () => {
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
});
