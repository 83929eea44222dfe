import { describe, expect, test } from 'vitest';
import { Instant } from '../../src/domain/instant.js';
import { type UsageStatsFilter, usageStatsBy } from '../../src/projections/models/usage-stats.js';
import { alice, bob, bobKey, east, refunded, registered, released, settled, west, when } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const noon = Date.UTC(2026, 0, 2, 12);
const hour = 3_600_000;
const clock = (offset: number) => Instant(noon + offset);
const ever = { from: 0, to: noon };
const whole = { by: [], interval: null, offsetMinutes: 0 } as const;

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

describe('usage is counted', () => {
  test('by the hour and everything one may ask about', async () => {
    await projected.given(...history);
    const { usage_stats: rows } = await projected.dump('usage_stats_v3');
    expect(rows).toHaveLength(4);
    expect(rows?.[0]).toBe(`(${noon / 1000},7,12,gpt-4o,3,default,0,2,0,30,240,64,40,16,4200)`);
  });

  test('with calls that could not be served as errors, and neither callers that left nor recovered calls', async () => {
    const db = await projected.given(
      when(clock(0), released('a', 9, { attempts: [] })),
      when(clock(0), released('b', 9, { reason: 'caller-left' })),
      when(clock(0), released('c', 9, { reason: 'recovered' })),
    );
    expect(await usageStatsBy(db, ever, { ...whole, by: ['channel_id'] })).toMatchObject([
      { channel_id: 0, requests: 0, errors: 1, quota: 0 },
    ]);
  });

  test('with refunded calls as errors of the hour they were told in, and not as requests of the hour before', async () => {
    const facts = [when(clock(0), settled('a', 9, 10)), when(clock(0), settled('b', 9, 4))];
    const { event, ...refund } = when(clock(hour), refunded('a', 10));
    const told = { ...event, settlement: { ...('settlement' in event && event.settlement), at: clock(0) } };
    const db = await projected.given(...facts, { ...refund, event: told as typeof event });
    expect(await usageStatsBy(db, ever, { ...whole, interval: 'hour' })).toMatchObject([
      { start: noon / 1000, requests: 1, errors: 0, quota: 4, prompt_tokens: 120, use_time_ms: 2_100 },
      { requests: 0, errors: 1, quota: 0, prompt_tokens: 0, use_time_ms: 0 },
    ]);
  });

  test('further in later batches', async () => {
    const db = await projected.given(when(clock(0), settled('a', 9, 10)));
    await projected.given(when(clock(1), settled('b', 9, 5)));
    expect(await usageStatsBy(db, ever, whole)).toMatchObject([{ requests: 2, quota: 15 }]);
  });

  test('apart for names that merely look alike when joined', async () => {
    const db = await projected.given(
      when(clock(0), settled('a', 9, 1, { facts: { model: 'ab', group: 'c' } })),
      when(clock(0), settled('b', 9, 2, { facts: { model: 'a', group: 'bc' } })),
    );
    expect(await usageStatsBy(db, ever, { ...whole, by: ['model'] })).toHaveLength(2);
  });
});

describe('statistics', () => {
  const until = (offset: number): UsageStatsFilter => ({ from: noon / 1000, to: (noon + offset) / 1000 });

  test('come by hour', async () => {
    const db = await projected.given(...history);
    const rows = await usageStatsBy(db, until(24 * hour), { by: [], interval: 'hour', offsetMinutes: 0 });
    expect(rows.map(({ start, requests, errors }) => [start, requests, errors])).toEqual([
      [noon / 1000, 2, 0],
      [noon / 1000 + 3_600, 2, 1],
      [noon / 1000 + 13 * 3_600, 1, 0],
    ]);
  });

  test('come by day, as days are where the reader is', async () => {
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

  test('come by any dimension, the dearest first', async () => {
    const db = await projected.given(...history);
    const rows = await usageStatsBy(db, until(24 * hour), { ...whole, by: ['user_id', 'channel_id'] });
    expect(rows.map(({ user_id, channel_id, model, quota }) => [user_id, channel_id, model, quota])).toEqual([
      [bob, east, null, 100],
      [alice, east, null, 31],
      [alice, west, null, 5],
    ]);
  });

  test('end with the hour that begins at the end asked for', async () => {
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
  ])('narrow to %s', async (_, filter, requests) => {
    const db = await projected.given(...history);
    expect(await usageStatsBy(db, { ...until(24 * hour), ...filter }, whole)).toMatchObject([{ requests }]);
  });

  test('are zero where nothing was', async () => {
    const db = await projected.given();
    expect(await usageStatsBy(db, ever, whole)).toMatchObject([{ requests: 0, quota: 0, start: null }]);
    expect(await usageStatsBy(db, ever, { ...whole, interval: 'hour' })).toEqual([]);
  });
});
