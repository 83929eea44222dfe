import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { TailConsumer } from '../../../src/application/memory/tail.js';
import { type FeedPace, type LineRange, UsageFeed } from '../../../src/application/memory/usage-feed.js';
import type { UsageFollower } from '../../../src/application/memory/usage-follower.js';
import {
  beginning,
  type DomainEvent,
  earliestOf,
  Position,
  type StreamName,
  streams,
} from '../../../src/domain/events/events.js';
import { CallId, ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { lineMatch } from '../../../src/projections/models/usage-log/line-match.js';
import type { UsageLogFilter } from '../../../src/projections/models/usage-log/usage-log-filter.js';
import type { UsageLogEntry } from '../../../src/projections/models/usage-log/usage-log-queries.js';
import { settled } from '../../support/given/calls.js';
import { recordedAt } from '../../support/given/recorded.js';
import { refusal } from '../../support/refusal.js';
import { until } from '../../support/until.js';

/* The usage log as it grows, over a log in memory: what is read for whom, and when. */

const [alice, bob, carol] = [UserId(1), UserId(2), UserId(3)];

/** A log, the read model behind it, and what has been asked of that. */
class World {
  readonly consumers = new Set<TailConsumer>();
  readonly reads: (LineRange & { readonly filter: UsageLogFilter })[] = [];
  building = false;
  /** Instead of the next answers. */
  readonly errors: Error[] = [];
  private readonly lines: UsageLogEntry[] = [];
  private head: Position = beginning;
  /** How far the read model has come; null: as far as the log. */
  private shown: Position | null = null;

  readonly feed = (pace: Partial<FeedPace> = {}) =>
    new UsageFeed({
      tail: {
        position: () => this.head,
        add: (consumer) => {
          this.consumers.add(consumer);
          return () => this.consumers.delete(consumer);
        },
      },
      holds: async (position) => position <= (this.shown ?? this.head),
      isBuilding: () => this.building,
      read: async (filter, range) => {
        this.reads.push({ ...range, filter });
        const error = this.errors.shift();
        if (error !== undefined) throw error;
        const last = earliestOf(range.upTo, this.shown ?? this.head);
        const matches = lineMatch(filter);
        const { userIds } = filter;
        return this.lines
          .filter(
            ({ id, user_id }) => id > range.after && id <= last && (userIds?.some((id) => id === user_id) ?? true),
          )
          .filter(matches)
          .slice(0, range.limit);
      },
      pace: { gatherMs: 0, behindMs: 1, ...pace },
    });

  /** A call of theirs is settled. */
  calls(user: UserId, model = 'gpt-4o'): number {
    return this.happens(
      user,
      streams.call(CallId(`call-${this.head}`)),
      settled({ userId: user, quota: 1, charged: 1, model }),
      model,
    );
  }

  /** Something else is written, which is nobody's line. */
  passes(): void {
    this.append(streams.options, { type: 'OptionChanged', key: 'k', value: { text: 'v' } });
  }

  happens(user: UserId, stream: StreamName, event: DomainEvent, model = ''): number {
    const id = this.next();
    this.lines.push({ id, user_id: user, model, created_at: 1_000 + Number(id) } as UsageLogEntry);
    this.append(stream, event);
    return Number(id);
  }

  /** The read model stays where it is. */
  fallBehind(): void {
    this.shown = this.head;
  }

  catchUp(): void {
    this.shown = null;
  }

  private append(stream: StreamName, event: DomainEvent): void {
    const position = this.next();
    const batch = [recordedAt(Number(position), stream, event)];
    for (const consumer of this.consumers) consumer.take(batch);
    this.head = position;
  }

  private next(): Position {
    return Position(Number(this.head) + 1);
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});

const signal = () => new AbortController().signal;

/** So many lines, by their ids. */
async function take(follower: UsageFollower, count: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < count) ids.push(...((await follower.next(signal())) ?? []).map(({ id }) => Number(id)));
  return ids;
}

describe('the usage-log lines of a call', () => {
  test('are read once, however many subscribers there are', async () => {
    const feed = world.feed();
    const followers = Array.from({ length: 50 }, () => feed.follow({ userId: alice }, beginning));
    const call = world.calls(alice);
    expect(await Promise.all(followers.map((follower) => take(follower, 1)))).toEqual(followers.map(() => [call]));
    expect(world.reads).toHaveLength(1);
  });
  test('that arrive together are read together', async () => {
    const feed = world.feed();
    const follower = feed.follow({ userId: alice }, beginning);
    const calls = [world.calls(alice), world.calls(alice), world.calls(alice)];
    expect(await take(follower, 3)).toEqual(calls);
    expect(world.reads).toHaveLength(1);
  });
  test('reach the user they concern, and subscribers to all users, as the filter permits', async () => {
    const feed = world.feed();
    const followers = {
      alice: feed.follow({ userId: alice }, beginning),
      bob: feed.follow({ userId: bob, model: 'gpt%' }, beginning),
      all: feed.follow({}, beginning),
      some: feed.follow({ model: 'o3' }, beginning),
    };
    const calls = [world.calls(alice, 'o3'), world.calls(bob, 'o3'), world.calls(bob, 'gpt-4o'), world.calls(carol)];
    expect(await take(followers.all, 4)).toEqual(calls);
    expect(await take(followers.alice, 1)).toEqual(calls.slice(0, 1));
    expect(await take(followers.some, 2)).toEqual(calls.slice(0, 2));
    expect(await take(followers.bob, 1)).toEqual(calls.slice(2, 3));
  });
  test('are neither read nor skipped over for a user without subscribers', async () => {
    const feed = world.feed();
    const follower = feed.follow({ userId: alice }, beginning);
    for (let count = 0; count < 10; count++) world.calls(bob);
    world.passes();
    const call = world.calls(alice);
    expect(await take(follower, 1)).toEqual([call]);
    expect(world.reads).toMatchObject([{ filter: { userIds: [alice] }, after: call - 1, upTo: call }]);
  });
  test('that test a channel are sent to all, because only the read model knows who root is', async () => {
    const feed = world.feed();
    const follower = feed.follow({ userId: alice }, beginning);
    const tested = {
      type: 'ChannelTested',
      ok: true,
      responseTimeMs: 1,
      error: null,
      usage: {
        model: 'gpt-4o',
        promptTokens: 1,
        completionTokens: 1,
        quota: Quota(1),
        modelRatio: '1',
        completionRatio: '1',
        modelPrice: null,
      },
    } as const;
    const line = world.happens(alice, streams.channel(ChannelId(1)), tested);
    expect(await take(follower, 1)).toEqual([line]);
  });
});

describe('a subscriber to the usage log', () => {
  test('that begins in the past receives that first, page by page, and continues with new lines', async () => {
    const before = Array.from({ length: 25 }, () => world.calls(alice));
    const follower = world.feed({ maxWaiting: 10 }).follow({ userId: alice }, Position(before[4] ?? 0));
    expect(await take(follower, 20)).toEqual(before.slice(5));
    const call = world.calls(alice);
    expect(await take(follower, 1)).toEqual([call]);
  });
  test('that is slow delays no other, has a bounded buffer, and misses none', async () => {
    const feed = world.feed({ maxWaiting: 10 });
    const [slow, quick] = [feed.follow({}, beginning), feed.follow({}, beginning)];
    const calls: number[] = [];
    for (let round = 0; round < 10; round++) {
      const made = Array.from({ length: 10 }, () => world.calls(alice));
      expect(await take(quick, 10)).toEqual(made);
      calls.push(...made);
    }
    const first = (await slow.next(signal())) ?? [];
    expect(first.map(({ id }) => id)).toEqual(calls.slice(0, 10));
    expect(await take(slow, 90)).toEqual(calls.slice(10));
    const call = world.calls(bob);
    expect(await take(slow, 1)).toEqual([call]);
  });
  test('has its patterns validated', () => {
    expect(() => world.feed().follow({ model: '%a%b%c%d%e%f%' }, beginning)).toThrow(
      refusal('invalid-field', { field: 'model', allowed: 'at most 255 characters and 5 wildcards' }),
    );
  });
  test('that leaves is not waited for, and the last one to leave ends the reading', async () => {
    const feed = world.feed();
    const [first, last] = [feed.follow({}, beginning), feed.follow({ userId: alice }, beginning)];
    const leaving = new AbortController();
    const waiting = first.next(leaving.signal);
    leaving.abort();
    expect(await waiting).toBeNull();
    first.leave();
    expect(world.consumers.size).toBe(1);
    last.leave();
    last.leave();
    expect(world.consumers.size).toBe(0);
    const again = feed.follow({ userId: alice }, beginning);
    const call = world.calls(alice);
    expect(await take(again, 1)).toEqual([call]);
  });
});

describe('the read model of the usage log', () => {
  test('that is behind is queried again, even if nothing happens afterwards', async () => {
    const follower = world.feed().follow({}, beginning);
    const shown = world.calls(alice);
    world.fallBehind();
    const missing = world.calls(alice);
    expect(await take(follower, 1)).toEqual([shown]);
    await until(async () => (world.reads.length >= 3 ? true : null));
    world.catchUp();
    expect(await take(follower, 1)).toEqual([missing]);
  });
  test('that is behind delays subscribers that begin in the past until it has caught up', async () => {
    const shown = world.calls(alice);
    world.fallBehind();
    const missing = world.calls(alice);
    const follower = world.feed().follow({}, beginning);
    expect(await take(follower, 1)).toEqual([shown]);
    const rest = take(follower, 2);
    const call = world.calls(alice);
    world.catchUp();
    expect(await rest).toEqual([missing, call]);
  });
  test('that is being rebuilt is followed once it is complete', async () => {
    world.building = true;
    const feed = world.feed();
    const [present, past] = [feed.follow({}, beginning), feed.follow({}, beginning)];
    const call = world.calls(alice);
    const seen = Promise.all([take(present, 1), take(past, 1)]);
    world.passes();
    await new Promise(setImmediate);
    expect(world.reads).toEqual([]);
    world.building = false;
    expect(await seen).toEqual([[call], [call]]);
  });
  test('whose database is briefly unavailable is queried again', async () => {
    const feed = world.feed();
    const past = world.calls(alice);
    const [present, before] = [feed.follow({}, Position(past)), feed.follow({}, beginning)];
    const lost = () => Object.assign(new Error('terminated'), { code: '57P01' });
    world.errors.push(lost(), lost());
    const call = world.calls(alice);
    expect(await take(before, 2)).toEqual([past, call]);
    expect(await take(present, 1)).toEqual([call]);
  });
  test('that cannot be read ends every subscription with the reason', async () => {
    const feed = world.feed();
    const past = world.calls(alice);
    const [present, before] = [feed.follow({}, Position(past)), feed.follow({}, beginning)];
    const damaged = new RangeError('The bigint is not a safe integer');
    world.errors.push(damaged, damaged);
    world.calls(alice);
    await expect(before.next(signal())).rejects.toBe(damaged);
    await expect(present.next(signal())).rejects.toBe(damaged);
  });
});

test('each subscriber receives each of its lines once and in order, whatever happens in whatever order', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('call' as const), by: fc.constantFrom(alice, bob, carol) }) },
    fc.record({ do: fc.constant('pass' as const) }),
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('follow' as const),
        whose: fc.constantFrom(alice, bob, null),
        back: fc.nat(8),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(5) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('read' as const), which: fc.nat(5) }) },
    fc.record({ do: fc.constantFrom('behind' as const, 'whole' as const, 'lose' as const) }),
    { weight: 4, arbitrary: fc.record({ do: fc.constant('turn' as const), turns: fc.integer({ min: 1, max: 4 }) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const log = new World();
      const feed = log.feed({ maxWaiting: 3, pageSize: 2, behindMs: 0 });
      const calls: { readonly id: number; readonly by: UserId }[] = [];
      let head = Number(beginning);
      interface Reader {
        readonly follower: UsageFollower;
        readonly wanted: () => number[];
        readonly seen: number[];
        readonly stop: AbortController;
        reading: Promise<void> | null;
      }
      const readers: Reader[] = [];
      const gone: Reader[] = [];
      const read = (reader: Reader) => {
        reader.reading ??= reader.follower.next(reader.stop.signal).then((lines) => {
          reader.seen.push(...(lines ?? []).map(({ id }) => Number(id)));
          reader.reading = null;
        });
      };
      for (const one of steps) {
        switch (one.do) {
          case 'call':
            head = log.calls(one.by);
            calls.push({ id: head, by: one.by });
            break;
          case 'pass':
            log.passes();
            head += 1;
            break;
          case 'follow': {
            const start = Math.max(Number(beginning), head - one.back);
            readers.push({
              follower: feed.follow(one.whose === null ? {} : { userId: one.whose }, Position(start)),
              wanted: () =>
                calls
                  .filter(({ id, by }) => id > start && (one.whose === null || by === one.whose))
                  .map(({ id }) => id),
              seen: [],
              stop: new AbortController(),
              reading: null,
            });
            break;
          }
          case 'leave': {
            const [reader] = readers.splice(one.which, 1);
            if (reader === undefined) break;
            reader.stop.abort();
            reader.follower.leave();
            gone.push(reader);
            break;
          }
          case 'read': {
            const reader = readers[one.which];
            if (reader !== undefined) read(reader);
            break;
          }
          case 'behind':
            log.fallBehind();
            break;
          case 'whole':
            log.catchUp();
            break;
          case 'lose':
            log.errors.push(new Error('Connection terminated unexpectedly'));
            break;
          case 'turn':
            for (let turn = 0; turn < one.turns; turn++) await new Promise(setImmediate);
        }
      }
      log.catchUp();
      for (const reader of readers)
        while (reader.seen.length < reader.wanted().length) {
          read(reader);
          await reader.reading;
        }
      for (const { seen, wanted } of readers) expect(seen).toEqual(wanted());
      for (const { seen, wanted } of gone) expect(seen).toEqual(wanted().slice(0, seen.length));
      for (const { stop, follower } of readers) {
        stop.abort();
        follower.leave();
      }
      expect(log.consumers.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});
