import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import { beginning, Position, type Recorded } from '../../src/domain/events/events.js';
import { readCheckpoints } from '../../src/projections/engine/checkpoints.js';
import type { EventFeed } from '../../src/projections/engine/projection.js';
import { dropOldVersions } from '../../src/projections/engine/rebuild.js';
import { users } from '../../src/projections/models/users.js';
import { counting, counts } from './counting.js';
import { alice, granted, option, registered } from './history.js';
import { hold } from './projected.js';
import {
  batchesOf,
  checkpointOf,
  leads,
  patient,
  projected,
  renewedWith,
  runners,
  stammering,
  start,
  stateOf,
} from './runner-setting.js';

describe.each(runners)('the runner on %s:', (_, startRunner) => {
  renewedWith(startRunner);

  describe('folding', () => {
    test('begins with the stored events and continues with new ones', async () => {
      await projected.record(option('a', '1'), option('b', '1'));
      const runner = await start();
      await runner.caughtUp();
      expect(await counts(projected.pool)).toEqual({ a: 1, b: 1 });
      await hold(runner, await projected.record(option('a', '2')));
      expect(await counts(projected.pool)).toEqual({ a: 2, b: 1 });
    });

    test('counts an event once, however often it is delivered', async () => {
      await projected.record(option('a', '1'));
      const runner = await start({ news: stammering });
      for (const text of ['2', '3', '4']) await hold(runner, await projected.record(option('a', text)));
      expect(await counts(projected.pool)).toEqual({ a: 4 });
    });

    test('continues where it stopped', async () => {
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

    test('uses batches of limited size, without a pause between full ones', async () => {
      await projected.record(...['a', 'b', 'c', 'd', 'e'].map((key) => option(key, '1')));
      const runner = await start({ pace: { ...patient, batchSize: 2 } });
      await runner.caughtUp();
      expect(batchesOf(runner)).toEqual([2, 2, 1]);
    });
  });

  describe('the runner between batches', () => {
    test('collects events while no caller waits for them, and folds at once when one does', async () => {
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

    test('folds them after a short time also when no caller waits', async () => {
      const runner = await start({ pace: { ...patient, lingerMs: 1 } });
      await projected.record(option('a', '1'));
      await vi.waitFor(async () => expect(await counts(projected.pool)).toEqual({ a: 1 }), 10_000);
      expect(batchesOf(runner)).toEqual([1]);
    });
  });

  describe('events that a read model ignores', () => {
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

    test('move the checkpoint when there are many of them, though nothing else happens and there is no pause', async () => {
      const runner = await start({ pace: { ...patient, idleCheckpointEvents: 10 } });
      await leads(runner);
      for (let n = 0; n < 25; n++) await hold(runner, await projected.record(granted(alice, 1)));
      await vi.waitFor(async () => expect(await checkpointOf()).toMatchObject({ position: 19 }), 10_000);
      expect(batchesOf(runner)).toEqual([]);
    });

    test('move the checkpoint after a while, though more arrive', async () => {
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

    test('are not read again after a crash, except for the last few', async () => {
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

    test('move the checkpoint after a while', async () => {
      const runner = await start({ pace: { idleCheckpointMs: 1 } });
      const position = await projected.record(registered(alice, 'alice'));
      await hold(runner, position);
      await vi.waitFor(async () => expect(await checkpointOf()).toMatchObject({ position }), 10_000);
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

    test('replaces the old one, which is dropped when no node folds it any more', async () => {
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

  test('personal data is decrypted only for the users that are returned', async () => {
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
