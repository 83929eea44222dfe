import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import type { ChannelId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import type { ReadModels } from '../../src/projections/database.js';
import { prepareReadModels } from '../../src/projections/engine/checkpoints.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { rebuild } from '../../src/projections/engine/rebuild.js';
import { usageStats } from '../../src/projections/models/usage-stats/usage-stats.js';
import { type UsageStatsFilter, usageStatsBy } from '../../src/projections/models/usage-stats/usage-stats-queries.js';
import {
  added,
  alice,
  aliceKey,
  bob,
  bobKey,
  east,
  edited,
  refunded,
  registered,
  released,
  settled,
  west,
  when,
} from './history.js';
import { forEachTest, hold, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const noon = Date.UTC(2026, 0, 2, 12);
const hour = 3_600_000;
const clock = (offset: number) => Instant(noon + offset);
const ever = { from: 0, to: noon };
const whole = { by: [], interval: null, offsetMinutes: 0 } as const;

/** As calls of 2.1 s whose first tokens came after 640 ms stand in a row: classes 80 and 68, of twelve digits each. */
const timed = (calls: bigint): string => `${calls * 10n ** (12n * 80n)},${calls * 10n ** (12n * 68n)}`;

const bobs = { facts: { userId: bob, apiKeyId: bobKey, model: 'claude-sonnet', group: 'vip' } };
const history = [
  registered(bob, 'bob'),
  when(clock(0), settled('a', 9, 10)),
  when(clock(hour - 1), settled('b', 9, 20)),
  when(clock(hour), settled('c', 9, 5, { channelId: west })),
  when(clock(hour), settled('d', 9, 100, bobs)),
  when(clock(hour), released('e', 9, bobs)),
  when(clock(13 * hour), settled('f', 9, 1)),
];

describe('usage statistics are counted', () => {
  test('by the hour and every dimension', async () => {
    await projected.given(...history);
    const { usage_stats: rows } = await projected.dump(schemaOf(usageStats));
    expect(rows).toHaveLength(4);
    expect(rows?.[0]).toBe(`(${noon / 1000},7,12,gpt-4o,3,default,0,2,0,30,240,64,40,16,4200,0,2,30,${timed(2n)})`);
  });

  test('and by the most frequent dimensions, in fewer rows', async () => {
    await projected.given(...history);
    const tables = await projected.dump(schemaOf(usageStats));
    const sums = '2,0,30,240,64,40,16,4200,0,2,30';
    const both = `${sums},${timed(2n)}`;
    const ofTheDay = `3,0,35,360,96,60,24,6300,0,3,35,${timed(3n)}`;
    const hourBegan = noon / 1000;
    const dayBegan = hourBegan - (hourBegan % 86_400);
    expect(tables.usage_stats_models?.[0]).toBe(`(${hourBegan},gpt-4o,default,0,${both})`);
    expect(tables.usage_stats_channels?.[0]).toBe(`(${hourBegan},3,0,${both})`);
    expect(tables.usage_stats_callers?.[0]).toBe(`(${hourBegan},7,12,ci,0,${both})`);
    expect(tables.usage_stats_callers_days?.[0]).toBe(`(${dayBegan},7,12,ci,0,${ofTheDay})`);
    expect(tables.usage_stats_callers_models?.[0]).toBe(`(${hourBegan},7,12,gpt-4o,0,${sums})`);
    expect(tables.usage_stats_callers_models_days?.[0]).toBe(`(${dayBegan},7,12,gpt-4o,0,${ofTheDay})`);
  });

  test('with calls that could not be served as errors, and without disconnected or recovered calls', async () => {
    const db = await projected.given(
      when(clock(0), released('a', 9, { attempts: [] })),
      when(clock(0), released('b', 9, { reason: 'caller-left' })),
      when(clock(0), released('c', 9, { reason: 'recovered' })),
    );
    expect(await usageStatsBy(db, ever, { ...whole, by: ['channel_id'] })).toMatchObject([
      { channel_id: 0, requests: 0, errors: 1, quota: 0 },
    ]);
  });

  test('with refunded calls as errors of the hour of the refund, and not as requests of the hour before', async () => {
    const facts = [when(clock(0), settled('a', 9, 10)), when(clock(0), settled('b', 9, 4))];
    const { event, ...refund } = when(clock(hour), refunded('a', 10));
    const shown = { ...event, settlement: { ...('settlement' in event && event.settlement), at: clock(0) } };
    const db = await projected.given(...facts, { ...refund, event: shown as typeof event });
    expect(await usageStatsBy(db, ever, { ...whole, interval: 'hour' })).toMatchObject([
      { start: noon / 1000, requests: 1, errors: 0, quota: 4, prompt_tokens: 120, use_time_ms: 2_100 },
      { requests: 0, errors: 1, quota: 0, prompt_tokens: 0, use_time_ms: 0 },
    ]);
  });

  test('with latencies, also where a call is withdrawn later', async () => {
    await projected.given(
      when(clock(0), settled('a', 9, 1, { useTimeMs: 0, firstTokenMs: null })),
      when(clock(0), settled('b', 9, 1, { useTimeMs: 2_100, firstTokenMs: null })),
      when(clock(0), settled('c', 9, 1, { useTimeMs: 1e12, firstTokenMs: 0 })),
    );
    const timed = async () => {
      const { usage_stats_models: rows } = await projected.dump(schemaOf(usageStats));
      return rows?.[0]?.slice(1, -1).split(',').slice(-2).map(BigInt);
    };
    const longest = 10n ** (12n * 169n);
    expect(await timed()).toEqual([longest + 10n ** (12n * 80n) + 1n, 1n]);
    const { event, ...refund } = when(clock(1), refunded('b', 1));
    const shown = { ...event, settlement: { ...('settlement' in event && event.settlement), at: clock(0) } };
    await projected.given({ ...refund, event: shown as typeof event });
    expect(await timed()).toEqual([longest + 1n, 1n]);
  });

  test('with what they cost by the purchase price of that time, or as upstream said, and those without apart', async () => {
    const prices = (price: object) => ({
      setting: JSON.stringify({ force_format: true, purchase_prices: { 'gpt-4o': price } }),
    });
    const tokens = prices({ input: 2.5, cached_input: 1.25, output: 10 });
    const usage = { input: 1_000, cachedInput: 400, output: 50 };
    const known = 0.0025 + 0.0005 + 0.0005;
    const facts = [
      when(clock(0), settled('early', 9, 1, { usage })),
      added(east, tokens),
      when(clock(0), settled('a', 9, 10, { usage })),
      when(clock(0), settled('elsewhere', 9, 20, { usage, channelId: west })),
      when(clock(0), settled('pictures', 9, 40, { usage: { ...usage, images: 1 } })),
      when(clock(0), settled('told', 9, 80, { channelId: west, upstreamCost: '0.25' })),
      edited(east, prices({ call: 0.000_000_000_001 })),
      when(clock(hour), settled('b', 9, 160, { usage })),
      edited(east, { setting: null }),
      when(clock(hour), settled('c', 9, 320, { usage })),
    ];
    const back = (id: string, charged: number, channelId: ChannelId) => {
      const { event, ...refund } = when(clock(2 * hour), refunded(id, charged));
      const settlement = { ...('settlement' in event && event.settlement), at: clock(0), channelId };
      return { ...refund, event: { ...event, settlement } as typeof event };
    };
    const costs = async (db: ReadModels) =>
      (await usageStatsBy(db, ever, { ...whole, interval: 'hour' })).map((row) => [
        ...[row.requests, row.quota, row.cost, row.requests_without_cost, row.quota_without_cost],
      ]);
    const db = await projected.given(...facts);
    expect(await costs(db)).toEqual([
      [5, 151, known + 0.25, 3, 61],
      [2, 480, 1e-12, 1, 320],
    ]);
    // What upstream has answered may have cost something, whether it was paid for or not.
    await projected.given(back('elsewhere', 20, west), back('a', 10, east), back('told', 80, west));
    expect((await costs(db))[0]).toEqual([2, 41, known + 0.25, 2, 41]);
    const before = await projected.dump(schemaOf(usageStats));
    await rebuild({
      projection: usageStats,
      feed: projected.store,
      pool: projected.pool,
      newClient: () => newClient(projected.database.connection),
      context: { personalData: projected.personalData },
      pageSize: 3,
    });
    expect(await projected.dump(schemaOf(usageStats))).toEqual(before);
  });

  test('further in later batches', async () => {
    const db = await projected.given(when(clock(0), settled('a', 9, 10)));
    await projected.given(when(clock(1), settled('b', 9, 5)));
    expect(await usageStatsBy(db, ever, whole)).toMatchObject([{ requests: 2, quota: 15 }]);
  });

  test('separately for names that would be equal when concatenated', async () => {
    const db = await projected.given(
      when(clock(0), settled('a', 9, 1, { facts: { model: 'ab', group: 'c' } })),
      when(clock(0), settled('b', 9, 2, { facts: { model: 'a', group: 'bc' } })),
    );
    expect(await usageStatsBy(db, ever, { ...whole, by: ['model'] })).toHaveLength(2);
  });
});

describe('the minutes of the last hours', () => {
  const minute = 60_000;
  const minutes = async () => {
    const { usage_stats_minutes: rows = [] } = await projected.dump(schemaOf(usageStats));
    return rows.map((row) => {
      const [start, user, , model, , , , requests, errors] = row.slice(1, -1).split(',');
      return [Number(start) - noon / 1000, Number(user), model, Number(requests), Number(errors)];
    });
  };

  test('are counted by every dimension', async () => {
    await projected.given(...history.slice(1, 6));
    expect(await minutes()).toEqual([
      [0, alice, 'gpt-4o', 1, 0],
      [3_540, alice, 'gpt-4o', 1, 0],
      [3_600, alice, 'gpt-4o', 1, 0],
      [3_600, bob, 'claude-sonnet', 1, 1],
    ]);
  });

  test('are dropped 13 hours before the newest event, with any batches and any rebuild', async () => {
    const runner = await projected.start({ pace: { batchSize: 1 } });
    const hours = [0, 1, 0.5, 13, 14, 14.5].map((hours, index) =>
      when(clock(hours * hour + minute - 1), settled(`${index}`, 9, 1)),
    );
    const position = await projected.record(...hours);
    await hold(runner, position);
    expect((await minutes()).map(([start]) => start)).toEqual([13 * 3_600, 14 * 3_600, 14.5 * 3_600]);
    const before = await projected.dump(schemaOf(usageStats));
    await rebuild({
      projection: usageStats,
      feed: projected.store,
      pool: projected.pool,
      newClient: () => newClient(projected.database.connection),
      context: { personalData: projected.personalData },
    });
    expect(await projected.dump(schemaOf(usageStats))).toEqual(before);
  });

  test('are not written where the log shows that they would be dropped', async () => {
    await prepareReadModels(projected.pool, [usageStats]);
    await projected.pool.query(`
      create function ${schemaOf(usageStats)}.refuse() returns trigger language plpgsql as $$
        begin raise 'nothing should have to be deleted'; end $$;
      create trigger refuse before delete on ${schemaOf(usageStats)}.usage_stats_minutes
        for each row execute function ${schemaOf(usageStats)}.refuse()
    `);
    await projected.record(when(clock(0), settled('a', 9, 1)), when(clock(20 * hour), settled('b', 9, 1)));
    const runner = await projected.start({ projections: [usageStats], pace: { batchSize: 1 } });
    await runner.passed('usage_stats', await projected.store.head(), 20_000);
    expect(runner.status()).toMatchObject([{ status: 'running' }]);
    expect((await minutes()).map(([start]) => start)).toEqual([20 * 3_600]);
  });
});

test('names that differ only in unstorable characters are one, and do not stop the read model', async () => {
  const named = (id: string, name: string) =>
    when(clock(0), settled(id, 9, 1, { facts: { apiKeyName: name, model: name, group: name } }));
  const db = await projected.given(named('a', 'n\0'), named('b', 'n\uFFFD'), named('c', 'n\uD800'));
  expect(await usageStatsBy(db, ever, { ...whole, by: ['model', 'group'] })).toMatchObject([{ requests: 3 }]);
});

describe('a query of statistics', () => {
  const until = (offset: number): UsageStatsFilter => ({ from: noon / 1000, to: (noon + offset) / 1000 });

  test('groups by hour', async () => {
    const db = await projected.given(...history);
    const rows = await usageStatsBy(db, until(24 * hour), { by: [], interval: 'hour', offsetMinutes: 0 });
    expect(rows.map(({ start, requests, errors }) => [start, requests, errors])).toEqual([
      [noon / 1000, 2, 0],
      [noon / 1000 + 3_600, 2, 1],
      [noon / 1000 + 13 * 3_600, 1, 0],
    ]);
  });

  test('groups by day, in the reader’s time zone', async () => {
    const db = await projected.given(...history);
    const days = async (offsetMinutes: number) => {
      const rows = await usageStatsBy(db, until(24 * hour), { by: [], interval: 'day', offsetMinutes });
      return rows.map(({ start, requests }) => [new Date((start ?? 0) * 1000).toISOString(), requests]);
    };
    expect(await days(0)).toEqual([
      ['2026-01-02T00:00:00.000Z', 4],
      ['2026-01-03T00:00:00.000Z', 1],
    ]);
    expect(await days(8 * 60)).toEqual([
      ['2026-01-01T16:00:00.000Z', 4],
      ['2026-01-02T16:00:00.000Z', 1],
    ]);
    expect(await days(-5 * 60)).toEqual([['2026-01-02T05:00:00.000Z', 5]]);
  });

  test('groups by any dimension, the largest first', async () => {
    const db = await projected.given(...history);
    const rows = await usageStatsBy(db, until(24 * hour), { ...whole, by: ['user_id', 'channel_id'] });
    expect(rows.map(({ user_id, channel_id, model, quota }) => [user_id, channel_id, model, quota])).toEqual([
      [bob, east, null, 100],
      [alice, east, null, 31],
      [alice, west, null, 5],
    ]);
  });

  test('ends with the hour that contains the end', async () => {
    const db = await projected.given(...history);
    expect(await usageStatsBy(db, until(0), whole)).toMatchObject([{ requests: 2 }]);
  });

  test.each<[string, Partial<UsageStatsFilter>, number]>([
    ['a user', { userId: alice }, 4],
    ['a user name', { username: 'bob' }, 1],
    ['an API key', { apiKeyId: bobKey }, 1],
    ['a model', { model: 'claude-sonnet' }, 1],
    ['a channel', { channelId: west }, 1],
    ['a group', { group: 'default' }, 4],
  ])('filters by %s', async (_, filter, requests) => {
    const db = await projected.given(...history);
    expect(await usageStatsBy(db, { ...until(24 * hour), ...filter }, whole)).toMatchObject([{ requests }]);
  });

  test.each([1, 2])('equals the sum of the events, for any range, zone and filter (history %i)', async (seed) => {
    const call = fc.record({
      pause: fc.oneof(fc.integer({ min: 1, max: 3 * hour }), fc.constant(hour)),
      failed: fc.boolean(),
      userId: fc.constantFrom(alice, bob),
      apiKeyId: fc.constantFrom(aliceKey, bobKey),
      apiKeyName: fc.constantFrom('ci', 'other'),
      model: fc.constantFrom('gpt-4o', 'claude'),
      group: fc.constantFrom('default', 'vip'),
      channelId: fc.constantFrom(east, west),
      charged: fc.nat(1_000),
    });
    const [calls = []] = fc.sample(fc.array(call, { minLength: 120, maxLength: 120 }), { seed, numRuns: 1 });
    let now = 0;
    const shown = calls.map((each, index) => {
      now += each.pause;
      const { userId, apiKeyId, apiKeyName, model, group, channelId, charged, failed } = each;
      const facts = { userId, apiKeyId, apiKeyName, model, group };
      const fact = failed
        ? released(`${index}`, 9, { facts, attempts: [channelId] })
        : settled(`${index}`, 9, charged, { facts, channelId });
      return { ...each, at: noon + now, fact: when(clock(now), fact) };
    });
    const db = await projected.given(
      registered(alice, 'alice'),
      registered(bob, 'bob'),
      ...shown.map(({ fact }) => fact),
    );

    const moment = fc.integer({ min: noon / 1000 - 7_200, max: Math.ceil((noon + now) / 1000) + 7_200 });
    const maybe = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 3 });
    const question = fc.record({
      ends: fc.tuple(moment, moment),
      narrowed: fc.record({
        userId: maybe(alice, bob),
        apiKeyId: maybe(aliceKey, bobKey),
        model: maybe('gpt-4o', 'none'),
        channelId: maybe(east, west),
        group: maybe('vip', 'none'),
      }),
      by: fc.subarray(['user_id', 'api_key_id', 'model', 'channel_id', 'group'] as const),
      interval: fc.constantFrom('hour', 'day', null),
      offsetMinutes: fc.constantFrom(0, 60, -300, 330, 345, 840, -720),
    });
    await fc.assert(
      fc.asyncProperty(question, async ({ ends, narrowed, by, interval, offsetMinutes }) => {
        const [from, to] = [Math.min(...ends), Math.max(...ends)];
        const expected = new Map<string, [requests: number, errors: number, quota: number]>();
        for (const { at, failed, charged, ...call } of shown) {
          const start = Math.floor(at / hour) * 3_600;
          const offset = offsetMinutes * 60;
          const day = Math.floor((start + offset) / 86_400) * 86_400 - offset;
          const dimensions = {
            ...{ user_id: call.userId, api_key_id: call.apiKeyId, model: call.model },
            ...{ channel_id: call.channelId, group: call.group },
          };
          const isAsked = Object.entries(narrowed).every(
            ([name, value]) => value === undefined || call[name as keyof typeof narrowed] === value,
          );
          if (start < from || start > to || !isAsked) continue;
          const key = JSON.stringify([
            interval && (interval === 'day' ? day : start),
            ...by.map((one) => dimensions[one]),
          ]);
          const [requests, errors, quota] = expected.get(key) ?? [0, 0, 0];
          expected.set(key, failed ? [requests, errors + 1, quota] : [requests + 1, errors, quota + charged]);
        }
        // One question without any grouping has one answer, be it nothing.
        if (by.length === 0 && interval === null && expected.size === 0) expected.set('[null]', [0, 0, 0]);
        const rows = await usageStatsBy(db, { from, to, ...narrowed }, { by, interval, offsetMinutes });
        const answered = rows.map((row): [string, number[]] => [
          JSON.stringify([row.start, ...by.map((one) => row[one])]),
          [row.requests, row.errors, row.quota],
        ]);
        expect(new Map(answered)).toEqual(expected);
        expect(answered).toHaveLength(expected.size);
      }),
      { numRuns: 100 },
    );
  });

  test('returns zeros without events', async () => {
    const db = await projected.given();
    expect(await usageStatsBy(db, ever, whole)).toMatchObject([{ requests: 0, quota: 0, start: null }]);
    expect(await usageStatsBy(db, ever, { ...whole, interval: 'hour' })).toEqual([]);
  });
});
