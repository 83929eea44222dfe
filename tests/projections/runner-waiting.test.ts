import { describe, expect, test, vi } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import { beginning, Position } from '../../src/domain/events/events.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { readCheckpoints } from '../../src/projections/engine/checkpoints.js';
import { readModels } from '../../src/projections/read-models.js';
import { counting, counts } from './counting.js';
import { alice, option, registered } from './history.js';
import { hold } from './projected.js';
import {
  batchesOf,
  leads,
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

  describe('waiting for a position', () => {
    const future = Position(1_000);

    test('returns false at the timeout', async () => {
      const runner = await start();
      await leads(runner);
      expect(await runner.reached(future, 1)).toBe(false);
    });

    test('returns false when the runner stops', async () => {
      const runner = await start();
      const answer = runner.reached(future, 60_000);
      await runner.stop();
      expect(await answer).toBe(false);
    });

    test('for named read models does not involve others', async () => {
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

    test('for named read models ends at once where these are stopped', async () => {
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

    test('for an unknown read model is an error, not a wait', async () => {
      const runner = await start();
      expect(() => runner.reached(beginning, 60_000, ['legder'])).toThrow('There is no read model legder');
    });

    test('skips read models that are queried while being built, and reports that not all are complete', async () => {
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

    test('includes queried ones that were no more than a batch behind at the start', async () => {
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

    test('includes every read model', async () => {
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

    test('fold each read model on one node', async () => {
      const runners = await Promise.all([1, 2, 3].map(() => start({ pace: watchful })));
      for (let n = 0; n < 30; n++) await projected.record(option('a', String(n)));
      for (const runner of runners) await hold(runner, await projected.store.head());
      expect(runners.filter((runner) => stateOf(runner).leading)).toHaveLength(1);
      expect(runners.filter((runner) => batchesOf(runner).length > 0)).toHaveLength(1);
      expect(runners.flatMap(batchesOf).reduce((sum, size) => sum + size)).toBe(30);
      expect(await counts(projected.pool)).toEqual({ a: 30 });
    });

    test('see their writes in a read model that another one folds, without waiting for its other models', async () => {
      const leader = await start({ pace: patient });
      await leads(leader);
      const follower = await start({ pace: patient });
      for (const fact of [option('a', '1'), option('a', '2'), registered(alice, 'alice'), option('a', '3')])
        await hold(follower, await projected.record(fact));
      expect(stateOf(follower).leading).toBe(false);
      expect(await counts(projected.pool)).toEqual({ a: 3 });
    });

    test('hand the read model over when they stop', async () => {
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
});
