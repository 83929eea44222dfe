import { describe, expect, test } from 'vitest';
import { EventSubscriptions } from '../../../src/adapters/event-log/event-feed.js';
import { EventQueue, maxWaitingSize } from '../../../src/adapters/event-log/event-queue.js';
import { beginning, Position, type Recorded } from '../../../src/domain/events/events.js';
import { newEvent, streamNamed } from '../../support/given/events.js';
import { quietLog } from '../../support/quiet-log.js';

/* How subscribers are served between what is offered and what is read; the contract suite says what they get. */

const recorded = (position: number): Recorded => ({
  ...newEvent(position),
  stream: streamNamed('alpha-1'),
  revision: position,
  position: Position(position),
});
const range = (from: number, to: number): Recorded[] =>
  Array.from({ length: to - from + 1 }, (_, n) => recorded(from + n));
const positions = (batch: readonly Recorded[]): number[] => batch.map(({ position }) => Number(position));

/** A log that counts how often it is read, and can be made to answer late. */
function countedLog(length: number) {
  const events = range(0, length - 1);
  const reads: number[] = [];
  let hold: Promise<void> = Promise.resolve();
  return {
    reads,
    append: (count: number): Recorded[] => {
      const added = range(events.length, events.length + count - 1);
      events.push(...added);
      return added;
    },
    /** Reads answer what is there now, but not before the returned function is called. */
    holdReads: (): (() => void) => {
      let release: () => void = () => undefined;
      hold = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    async readAll(after: Position, limit: number) {
      reads.push(Number(after));
      const page = events.filter(({ position }) => position > after).slice(0, limit);
      await hold;
      return page;
    },
    head: async () => Position(events.length - 1),
  };
}

/** As this process appends them: nobody else has, since the event before the first of them. */
const offer = (feed: EventSubscriptions, batch: readonly Recorded[]): void =>
  feed.offer(Position(Number(batch[0]?.position) - 1), batch);

function subscribed(log: ReturnType<typeof countedLog>, { after = beginning, capacity = 100 } = {}) {
  const feed = new EventSubscriptions(log, quietLog, capacity);
  const abort = new AbortController();
  const iterator = feed.subscribe(after, abort.signal)[Symbol.asyncIterator]();
  return {
    feed,
    abort,
    async next(): Promise<number[]> {
      const result = await iterator.next();
      if (result.done === true) throw new Error('The subscription has ended');
      return positions(result.value);
    },
    iterator,
  };
}

describe('the event feed', () => {
  test('delivers an offered batch unchanged, without reading the log', async () => {
    const log = countedLog(2);
    const { feed, next, iterator } = subscribed(log);
    expect(await next()).toEqual([0, 1]);
    const waiting = iterator.next();
    await new Promise(setImmediate);
    const readsSoFar = log.reads.length;
    const offered = log.append(2);
    offer(feed, offered);
    expect((await waiting).value).toBe(offered);
    expect(log.reads).toHaveLength(readsSoFar);
  });

  test('joins batches that are offered while a subscriber is busy', async () => {
    const log = countedLog(1);
    const { feed, next } = subscribed(log);
    await next();
    const waiting = next();
    await new Promise(setImmediate);
    offer(feed, log.append(1));
    expect(await waiting).toEqual([1]);
    offer(feed, log.append(2));
    offer(feed, log.append(1));
    expect(await next()).toEqual([2, 3, 4]);
  });

  test('reads the gap between two offers, and delivers it once and in order', async () => {
    const log = countedLog(1);
    const { feed, next } = subscribed(log);
    await next();
    const waiting = next();
    await new Promise(setImmediate);
    log.append(2);
    offer(feed, log.append(1));
    expect(await waiting).toEqual([1, 2, 3]);
    offer(feed, log.append(1));
    expect(await next()).toEqual([4]);
  });

  test('delivers once what was offered while it was being read', async () => {
    const log = countedLog(1);
    const { feed, next } = subscribed(log);
    await next();
    const waiting = next();
    await new Promise(setImmediate);
    const added = log.append(3);
    const release = log.holdReads();
    feed.wake();
    offer(feed, added.slice(0, 2));
    expect(await waiting).toEqual([1, 2]);
    release();
    expect(await next()).toEqual([3]);
    offer(feed, added);
    offer(feed, log.append(1));
    expect(await next()).toEqual([4]);
  });

  test('does not go back when a batch is offered that it has read', async () => {
    const log = countedLog(1);
    const { feed, next, abort } = subscribed(log);
    await next();
    const waiting = next();
    await new Promise(setImmediate);
    const added = log.append(3);
    feed.wake();
    expect(await waiting).toEqual([1, 2, 3]);
    offer(feed, added.slice(0, 1));
    // Had it gone back to 1, it would have to read before it could hand this on.
    const readsSoFar = log.reads.length;
    offer(feed, log.append(1));
    expect(await next()).toEqual([4]);
    expect(log.reads).toHaveLength(readsSoFar);
    abort.abort();
  });

  test('switches a slow subscriber to reading, and delivers everything', async () => {
    const log = countedLog(1);
    const { feed, next } = subscribed(log, { capacity: 4 });
    await next();
    const waiting = next();
    await new Promise(setImmediate);
    offer(feed, log.append(1));
    expect(await waiting).toEqual([1]);
    const readsSoFar = log.reads.length;
    for (let n = 0; n < 3; n++) offer(feed, log.append(2));
    expect(await next()).toEqual([2, 3, 4, 5, 6, 7]);
    // From where the subscriber was; the feed looks at the end, too, when it is joined again.
    expect(log.reads.slice(readsSoFar)).toContain(1);
  });

  test('reads pages for a subscriber that starts far behind until it has caught up', async () => {
    const log = countedLog(2_500);
    const { next } = subscribed(log);
    expect([(await next()).length, (await next()).length, (await next()).length]).toEqual([1_000, 1_000, 500]);
  });

  test('does nothing without subscribers', async () => {
    const log = countedLog(5);
    const feed = new EventSubscriptions(log, quietLog, 100);
    feed.wake();
    offer(feed, log.append(1));
    await new Promise(setImmediate);
    expect(log.reads).toEqual([]);
  });

  test('is idle again when the last subscriber has left', async () => {
    const log = countedLog(1);
    const { feed, next, iterator } = subscribed(log);
    await next();
    await iterator.return?.(undefined);
    const readsSoFar = log.reads.length;
    feed.wake();
    await new Promise(setImmediate);
    expect(log.reads).toHaveLength(readsSoFar);
  });
});

describe('the queue of a subscriber', () => {
  test('holds no more than its capacity, and is emptied when it overflows', async () => {
    const queue = new EventQueue(4);
    expect([queue.push(range(0, 1)), queue.push(range(2, 3)), queue.push(range(4, 4))]).toEqual([true, true, false]);
    expect(await queue.next()).toBeNull();
    expect(queue.push(range(5, 5))).toBe(false);
  });

  test('holds no more characters than its limit, however few events they are', async () => {
    const queue = new EventQueue(100);
    const large = (position: number) => [{ ...recorded(position), size: maxWaitingSize / 2 }];
    expect([queue.push(large(0)), queue.push(large(1)), queue.push(large(2))]).toEqual([true, true, false]);
    expect(await queue.next()).toBeNull();
    const other = new EventQueue(100);
    expect(other.push([{ ...recorded(0), size: maxWaitingSize * 2 }])).toBe(true);
    expect(await other.next()).toHaveLength(1);
    expect(other.push(large(1))).toBe(true);
  });

  test('accepts a single batch of any size', async () => {
    const queue = new EventQueue(4);
    expect(queue.push(range(0, 9))).toBe(true);
    expect(positions((await queue.next()) ?? [])).toEqual(positions(range(0, 9)));
  });

  test('has capacity again once it is emptied', async () => {
    const queue = new EventQueue(4);
    queue.push(range(0, 3));
    await queue.next();
    expect(queue.push(range(4, 7))).toBe(true);
  });

  test('wakes its reader when a batch arrives and when it ends', async () => {
    const queue = new EventQueue(4);
    const waiting = queue.next();
    queue.push(range(0, 0));
    expect(positions((await waiting) ?? [])).toEqual([0]);
    const ending = queue.next();
    queue.end();
    expect(await ending).toBeNull();
  });

  test('passes a failure to its reader', async () => {
    const queue = new EventQueue(4);
    const waiting = queue.next();
    queue.fail(new Error('unreadable'));
    await expect(waiting).rejects.toThrow('unreadable');
  });
});
