import { describe, expect, test, vi } from 'vitest';
import { beginning, Position, type Recorded } from '../../src/domain/events/events.js';
import { LogWindow } from '../../src/projections/engine/log-window.js';
import type { EventFeed } from '../../src/projections/engine/projection.js';
import { dense, MemoryEventStore } from '../support/memory/memory-event-store.js';
import { option, toRecord } from './history.js';

class CountedFeed implements Omit<EventFeed, 'readStream'> {
  readonly reads: number[] = [];
  constructor(readonly store: MemoryEventStore) {}

  head(): Promise<Position> {
    return this.store.head();
  }

  readNewest(limit: number): Promise<readonly Recorded[]> {
    return this.store.readNewest(limit);
  }

  estimateBetween(after: Position, upTo: Position): number {
    return this.store.estimateBetween(after, upTo);
  }

  readAll(after: Position, limit: number): Promise<readonly Recorded[]> {
    this.reads.push(Number(after));
    return this.store.readAll(after, limit);
  }
}

async function logOf(events: number) {
  const feed = new CountedFeed(new MemoryEventStore(dense));
  const append = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const { stream, ...fact } = option('a', String(n));
      await feed.store.append(stream, [toRecord({ stream, ...fact })], 'any');
    }
  };
  await append(events);
  return { feed, append };
}

const reader = {};
const positions = (events: readonly Recorded[]): number[] => events.map(({ position }) => Number(position));
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

describe('the log window with large events', () => {
  const mebibyte = 1024 * 1024;
  const large = (feed: CountedFeed, size: number) => ({
    readAll: async (after: Position, limit: number) =>
      (await feed.readAll(after, limit)).map((event) => ({ ...event, size })),
    estimateBetween: (after: Position, upTo: Position) => feed.estimateBetween(after, upTo),
  });

  test('returns few at a time: the event that exceeds 4 Mi characters is the last of its batch', async () => {
    const { feed } = await logOf(10);
    const window = new LogWindow(large(feed, 1.5 * mebibyte), Position(9), { pageSize: 10, capacity: 100 });
    expect(positions(await window.read(reader, beginning, 10))).toEqual([0, 1, 2]);
    expect(positions(await window.read(reader, Position(2), 10))).toEqual([3, 4, 5]);
    expect(feed.reads).toEqual([-1]);
  });

  test('buffers at most 32 Mi characters, however few events they are', async () => {
    const { feed } = await logOf(10);
    const window = new LogWindow(large(feed, 12 * mebibyte), Position(9), { pageSize: 1, capacity: 100 });
    for (let after = -1; after < 9; after++)
      expect(positions(await window.read(reader, Position(after), 10))[0]).toBe(after + 1);
    feed.reads.splice(0);
    await window.read(reader, Position(8), 1);
    expect(feed.reads).toEqual([]);
    await window.read(reader, beginning, 1);
    expect(feed.reads).toEqual([-1]);
  });
});

describe('reading stored events through the log window', () => {
  test('happens once for all readers that are behind, wherever in the page they are', async () => {
    const { feed } = await logOf(10);
    const window = new LogWindow(feed, Position(9), { pageSize: 10, capacity: 100 });
    const [all, some, none] = await Promise.all([
      window.read(reader, beginning, 10),
      window.read(reader, beginning, 3),
      window.read(reader, Position(9), 10),
    ]);
    expect(positions(all)).toEqual(range(0, 9));
    expect(positions(some)).toEqual(range(0, 2));
    expect(none).toEqual([]);
    expect(positions(await window.read(reader, Position(4), 10))).toEqual(range(5, 9));
    expect(feed.reads).toEqual([-1]);
  });

  test('continues across the buffered pages', async () => {
    const { feed } = await logOf(10);
    const window = new LogWindow(feed, Position(9), { pageSize: 4, capacity: 100 });
    expect(positions(await window.read(reader, beginning, 8))).toEqual(range(0, 3));
    await window.read(reader, Position(3), 8);
    expect(positions(await window.read(reader, beginning, 7))).toEqual(range(0, 6));
    expect(feed.reads).toEqual([-1, 3]);
  });

  test('happens again for evicted pages', async () => {
    const { feed } = await logOf(12);
    const window = new LogWindow(feed, Position(11), { pageSize: 4, capacity: 8 });
    for (const after of [-1, 3, 7, -1]) await window.read(reader, Position(after), 4);
    expect(feed.reads).toEqual([-1, 3, 7, -1]);
    expect(positions(await window.read(reader, Position(9), 4))).toEqual([10, 11]);
    expect(feed.reads).toHaveLength(4);
  });

  test('can fail for one reader and succeed for the next', async () => {
    const { feed } = await logOf(1);
    const window = new LogWindow(feed, Position(0), { pageSize: 4, capacity: 8 });
    vi.spyOn(feed, 'readAll').mockRejectedValueOnce(new Error('not now'));
    await expect(window.read(reader, beginning, 4)).rejects.toThrow('not now');
    expect(positions(await window.read(reader, beginning, 4))).toEqual([0]);
  });
});

describe('readers at different positions', () => {
  const [ahead, behind] = [{}, {}];

  test('share each page, as long as the one behind makes progress', async () => {
    const { feed } = await logOf(40);
    const window = new LogWindow(feed, Position(39), { pageSize: 4, capacity: 8 });
    const readThrough = async (who: object, pause: () => Promise<unknown>) => {
      for (let after = beginning; after < Position(39); ) {
        const events = await window.read(who, after, 4);
        after = events.at(-1)?.position ?? after;
        await pause();
      }
      window.leave(who);
    };
    await window.read(behind, beginning, 1);
    await Promise.all([
      readThrough(ahead, () => Promise.resolve()),
      readThrough(behind, () => new Promise((resolve) => setTimeout(resolve, 1))),
    ]);
    expect(feed.reads).toEqual([-1, 3, 7, 11, 15, 19, 23, 27, 31, 35]);
  });

  test('do not wait for one that has ended', async () => {
    const { feed } = await logOf(40);
    const window = new LogWindow(feed, Position(39), { pageSize: 4, capacity: 8 });
    await window.read(behind, beginning, 4);
    for (const after of [-1, 3]) await window.read(ahead, Position(after), 4);
    const waiting = window.read(ahead, Position(7), 4);
    window.leave(behind);
    expect(positions(await waiting)).toEqual(range(8, 11));
  });

  test('do not wait indefinitely for one that hangs', async () => {
    const { feed } = await logOf(40);
    const window = new LogWindow(feed, Position(39), { pageSize: 4, capacity: 8 });
    await window.read(behind, beginning, 4);
    for (const after of [-1, 3, 7]) await window.read(ahead, Position(after), 4);
    expect(positions(await window.read(behind, beginning, 4))).toEqual(range(0, 3));
    expect(feed.reads).toEqual([-1, 3, 7, -1]);
  });
});

test('a reader at the end of the log waits for no other, however far others are behind', async () => {
  vi.useFakeTimers();
  try {
    const { feed } = await logOf(40);
    const window = new LogWindow(feed, Position(39), { pageSize: 4, capacity: 8 });
    const [ahead, behind] = [{}, {}];
    await window.read(behind, beginning, 4);
    for (const after of [-1, 3]) await window.read(ahead, Position(after), 4);
    expect(positions(await window.read(reader, Position(37), 4))).toEqual([38, 39]);
  } finally {
    vi.useRealTimers();
  }
});

describe('a new event in the log window', () => {
  test('is not read before the window has been notified of it', async () => {
    const { feed } = await logOf(5);
    const window = new LogWindow(feed, beginning, { pageSize: 100, capacity: 100 });
    expect(await window.read(reader, beginning, 10)).toEqual([]);
    expect(feed.reads).toEqual([]);
    window.skipTo(Position(4));
    expect(positions(await window.read(reader, beginning, 10))).toEqual(range(0, 4));
  });

  test('is read once for all, and late or repeated notifications are ignored', async () => {
    const { feed, append } = await logOf(3);
    const window = new LogWindow(feed, Position(2), { pageSize: 100, capacity: 100 });
    await append(3);
    window.skipTo(Position(4));
    expect(positions(await window.read(reader, Position(2), 100))).toEqual([3, 4, 5]);
    expect(window.newest).toBe(5);
    window.skipTo(Position(1));
    expect(window.newest).toBe(5);
    expect(positions(await window.read({}, Position(3), 100))).toEqual([4, 5]);
    expect(feed.reads).toEqual([2]);
  });

  test('is joined to the buffered ones: a reader behind gets them in one batch', async () => {
    const { feed, append } = await logOf(0);
    const window = new LogWindow(feed, beginning, { pageSize: 4, capacity: 100 });
    for (let n = 0; n < 10; n++) {
      await append(1);
      window.skipTo(Position(n));
      await window.read(reader, Position(n - 1), 100);
    }
    feed.reads.splice(0);
    expect(positions(await window.read({}, beginning, 100))).toEqual(range(0, 9));
    expect(feed.reads).toEqual([]);
  });
});

describe('reading ahead', () => {
  test('has the next page ready, once', async () => {
    const { feed } = await logOf(6);
    const window = new LogWindow(feed, Position(5), { pageSize: 2, capacity: 100 });
    await window.read(reader, beginning, 2);
    window.readAhead(Position(1));
    window.readAhead(Position(1));
    expect(positions(await window.read(reader, Position(1), 2))).toEqual([2, 3]);
    window.readAhead(Position(1));
    expect(feed.reads).toEqual([-1, 1]);
  });

  test('reads nothing after the end', async () => {
    const { feed } = await logOf(2);
    const window = new LogWindow(feed, Position(1), { pageSize: 2, capacity: 100 });
    window.readAhead(Position(1));
    expect(feed.reads).toEqual([]);
  });

  test('leaves a failure to the reader that requests the page', async () => {
    const { feed } = await logOf(2);
    let broken = true;
    const window = new LogWindow(
      {
        readAll: async (after, limit) => {
          if (broken) throw new Error('unplugged');
          return feed.readAll(after, limit);
        },
        estimateBetween: (after, upTo) => feed.estimateBetween(after, upTo),
      },
      Position(1),
      { pageSize: 2, capacity: 100 },
    );
    window.readAhead(beginning);
    await expect(window.read(reader, beginning, 2)).rejects.toThrow('unplugged');
    broken = false;
    expect(positions(await window.read(reader, beginning, 2))).toEqual([0, 1]);
  });
});
