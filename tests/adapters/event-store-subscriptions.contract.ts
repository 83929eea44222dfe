import { beforeEach, describe, expect, test } from 'vitest';
import type { EventStore } from '../../src/application/ports/storage-ports.js';
import { beginning, type Recorded, type StreamName } from '../../src/domain/events/events.js';
import { collect } from '../support/collect.js';
import { eventId, newEvent } from '../support/given/events.js';

import { appended, ids, readWholeLog, signalled } from './event-store-log.js';

/** The part of the contract of event stores about those who follow a log. `opened`: the store of the test that runs. */
export function subscriptionContract(opened: () => EventStore, named: (name: string) => StreamName): void {
  const alpha = named('alpha-1');
  const beta = named('beta-2');
  let store: EventStore;

  beforeEach(() => {
    store = opened();
  });

  describe('a subscription', () => {
    test('delivers stored events, then appended ones, in order', async () => {
      await appended(store, alpha, [newEvent(1), newEvent(2)], 'no-stream');
      const subscription = collect(store, beginning);
      await subscription.reached(2);
      await appended(store, beta, [newEvent(3)], 'no-stream');
      await subscription.reached(3);
      await appended(store, alpha, [newEvent(4)], 1);
      await subscription.reached(4);
      expect(subscription.events).toEqual(await readWholeLog(store));
      await subscription.stop();
    });

    test('resumes after the given position', async () => {
      await appended(store, alpha, [newEvent(1)], 'no-stream');
      const second = await appended(store, alpha, [newEvent(2)], 0);
      await appended(store, alpha, [newEvent(3)], 1);
      const subscription = collect(store, second);
      await subscription.reached(1);
      await appended(store, alpha, [newEvent(4)], 2);
      await subscription.reached(2);
      expect(ids(subscription.events)).toEqual([eventId(3), eventId(4)]);
      await subscription.stop();
    });

    test('from the head delivers only new events', async () => {
      const head = await appended(store, alpha, [newEvent(1)], 'no-stream');
      const subscription = collect(store, head);
      await appended(store, alpha, [newEvent(2)], 0);
      await subscription.reached(1);
      expect(ids(subscription.events)).toEqual([eventId(2)]);
      await subscription.stop();
    });

    test('delivers no empty batches', async () => {
      const subscription = collect(store, beginning);
      for (let n = 0; n < 20; n++) await appended(store, alpha, [newEvent(n)], 'any');
      await subscription.reached(20);
      expect(subscription.batches.every((batch) => batch.length > 0)).toBe(true);
      await subscription.stop();
    });

    test('during appends loses nothing, repeats nothing and keeps the order, whenever it begins', async () => {
      const total = 3_000;
      const subscriptions = [collect(store, beginning)];
      const writers = Array.from({ length: 30 }, async (_, writer) => {
        for (let n = 0; n < total / 30; n++) {
          await appended(store, named(`alpha-${writer}`), [newEvent(n, 'x', writer)], 'any');
          if (n % 20 === 10 && writer === 0) subscriptions.push(collect(store, beginning));
        }
      });
      await Promise.all(writers);
      subscriptions.push(collect(store, beginning));
      const log = ids(await readWholeLog(store));
      expect(log).toHaveLength(total);
      expect(subscriptions.length).toBeGreaterThan(5);
      for (const subscription of subscriptions) {
        await subscription.reached(total);
        expect(ids(subscription.events)).toEqual(log);
        await subscription.stop();
      }
    });

    test('that is slow does not delay the others, and misses nothing', async () => {
      const total = 500;
      const slow: Recorded[] = [];
      const began = signalled();
      const allowed = signalled();
      const slowly = (async () => {
        for await (const batch of store.subscribe(beginning, new AbortController().signal)) {
          slow.push(...batch);
          began.signal();
          await allowed.signalled;
          if (slow.length === total) return;
        }
      })();
      const quick = collect(store, beginning);
      await appended(store, alpha, [newEvent(0)], 'no-stream');
      await began.signalled;
      for (let n = 1; n < total; n += 100)
        await Promise.all(
          Array.from({ length: Math.min(100, total - n) }, (_, k) =>
            appended(store, named(`beta-${n + k}`), [newEvent(n + k)], 'any'),
          ),
        );
      await quick.reached(total);
      expect(ids(slow)).toEqual([eventId(0)]);
      allowed.signal();
      await slowly;
      expect(ids(slow)).toEqual(ids(quick.events));
      await quick.stop();
    });

    test('ends when its signal aborts while it waits', async () => {
      const subscription = collect(store, beginning);
      await appended(store, alpha, [newEvent(1)], 'any');
      await subscription.reached(1);
      await subscription.stop();
      await appended(store, alpha, [newEvent(2)], 'any');
      expect(ids(subscription.events)).toEqual([eventId(1)]);
    });

    test('delivers nothing when its signal has already aborted', async () => {
      await appended(store, alpha, [newEvent(1)], 'any');
      const iterator = store.subscribe(beginning, AbortSignal.abort())[Symbol.asyncIterator]();
      expect((await iterator.next()).done).toBe(true);
    });

    test('ends when the store is closed', async () => {
      const subscription = collect(store, beginning);
      await appended(store, alpha, [newEvent(1)], 'any');
      await subscription.reached(1);
      await store.close();
      await subscription.stop();
    });
  });
}
