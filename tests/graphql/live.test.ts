import { describe, expect, test } from 'vitest';
import type { Application } from '../../src/application/application.js';
import type { TailConsumer } from '../../src/application/memory/tail.js';
import { batched } from '../../src/concurrency/batched.js';
import { WakeUpSignal } from '../../src/concurrency/wake-up-signal.js';
import { Position, type Recorded, streams } from '../../src/domain/events/events.js';
import { UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { stoppable } from '../../src/graphql/live/live.js';
import { type LiveConnection, liveConnections } from '../../src/graphql/live/live-connections.js';
import { watchWallets } from '../../src/graphql/live/wallet-watch.js';
import { until } from '../support/until.js';

/* The parts subscriptions are made of. */

const signal = () => new AbortController().signal;

describe('a wake-up signal', () => {
  test('sent before a listener waits is received, once, however often it was sent', async () => {
    const bell = new WakeUpSignal();
    bell.ring();
    bell.ring();
    expect(await bell.received(signal())).toBe(true);
    const later = bell.received(signal());
    bell.ring();
    expect(await later).toBe(true);
  });
  test('ends the waiting when the listener is aborted', async () => {
    const stop = new AbortController();
    const heard = new WakeUpSignal().received(stop.signal);
    stop.abort();
    expect(await heard).toBe(false);
  });
});

describe('an abortable generator', () => {
  test('releases its resources when it is stopped while it waits', async () => {
    let held = false;
    const silence = new WakeUpSignal();
    const values = stoppable(async function* (stop) {
      held = true;
      try {
        yield 1;
        while (await silence.received(stop)) yield 2;
      } finally {
        held = false;
      }
    });
    expect(await values.next()).toEqual({ value: 1, done: false });
    const waiting = values.next();
    expect(held).toBe(true);
    await values.return?.();
    expect(await waiting).toEqual({ value: undefined, done: true });
    expect(held).toBe(false);
  });
  test('that was never read holds no resources', async () => {
    let started = false;
    // biome-ignore lint/correctness/useYield: it ends before it would
    const values = stoppable(async function* () {
      started = true;
    });
    await values.return?.();
    expect(await values.next()).toEqual({ value: undefined, done: true });
    expect(started).toBe(false);
  });
});

describe('a subscription to wallets', () => {
  const granted = (user: number, position: number): Recorded => ({
    id: '00000000-0000-4000-8000-000000000001',
    stream: streams.user(UserId(user)),
    revision: 1,
    position: Position(position),
    at: Instant(0),
    event: { type: 'QuotaGranted', quota: Quota(1), reason: 'signup' },
  });
  const watching = () => {
    const consumers = new Set<TailConsumer>();
    const watch = watchWallets({
      add(consumer) {
        consumers.add(consumer);
        return () => consumers.delete(consumer);
      },
    });
    const take = (batch: Recorded[]) => {
      for (const consumer of consumers) consumer.take(batch);
    };
    return { watch, consumers, take };
  };

  test('delivers to each user their own', () => {
    const { watch, take } = watching();
    const heard: string[] = [];
    watch.add(UserId(1), (position) => heard.push(`one ${position}`));
    watch.add(UserId(2), (position) => heard.push(`two ${position}`));
    take([granted(1, 5), granted(2, 6), granted(3, 7)]);
    expect(heard).toEqual(['one 5', 'two 6']);
  });
  test('ends for a user that leaves, and for all when it is stopped', () => {
    const { watch, take, consumers } = watching();
    const heard: string[] = [];
    const leave = watch.add(UserId(1), () => heard.push('left'));
    watch.add(UserId(1), () => heard.push('stayed'));
    leave();
    leave();
    take([granted(1, 5)]);
    expect(heard).toEqual(['stayed']);
    watch.stop();
    expect(consumers.size).toBe(0);
  });
});

describe('the connections of one session', () => {
  test('are checked together: it is looked up once, and ends all of them', async () => {
    let stands = true;
    let lookups = 0;
    const user = { id: UserId(1), role: 'user', status: 'enabled' };
    const application = {
      tail: { add: () => () => {} },
      directory: { user: async () => user },
      identity: {
        onEnd: () => () => {},
        async bySession() {
          if (stands) return user;
          lookups += 1;
          return null;
        },
      },
    } as unknown as Application;
    const connections = liveConnections(application, 5, { error: () => {} });
    const closed: string[] = [];
    const opened = Array.from({ length: 5 }, () => {
      const connection: LiveConnection = {
        credentials: { kind: 'session', token: 'shared' },
        isOpen: () => true,
        close(code, reason) {
          closed.push(`${code} ${reason}`);
          connections.closed(connection);
        },
      };
      return connections.open(connection);
    });
    await Promise.all(opened);
    stands = false;
    await until(async () => (closed.length === 5 ? true : null));
    connections.stop();
    expect(new Set(closed)).toEqual(new Set(['4401 not-signed-in']));
    expect(lookups).toBe(1);
  });
});

describe('keys that are loaded at the same time', () => {
  test('are loaded in one batch, without duplicates', async () => {
    const loads: number[][] = [];
    const load = batched(async (keys: readonly number[]) => {
      loads.push([...keys]);
      return new Map(keys.filter((key) => key < 10).map((key) => [key, `value ${key}`]));
    });
    expect(await Promise.all([load(1), load(2), load(1), load(99)])).toEqual(['value 1', 'value 2', 'value 1', null]);
    expect(await load(3)).toBe('value 3');
    expect(loads).toEqual([[1, 2, 99], [3]]);
  });
  test('fail together, and the next attempt is a new one', async () => {
    let broken = true;
    const load = batched(async (keys: readonly number[]) => {
      if (broken) throw new Error('unreachable');
      return new Map(keys.map((key) => [key, key]));
    });
    await expect(Promise.all([load(1), load(2)])).rejects.toThrow('unreachable');
    broken = false;
    expect(await load(1)).toBe(1);
  });
});
