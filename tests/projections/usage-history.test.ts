import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edgesOf, type HistoryInterval, pieceOf } from '../../src/application/usage/history-pieces.js';
import { durationClassOf } from '../../src/domain/kernel/durations.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { type UsageHistoryQuery, usageHistory } from '../../src/projections/models/usage-stats/usage-history.js';
import { eventId } from '../support/given/events.js';
import { alice, aliceKey, bob, bobKey, east, refunded, registered, released, settled, west, when } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const hourMs = 3_600_000;
/** Berlin's clocks are set forward at 01:00 UTC of the next day, and Santiago's are set back a week later. */
const began = Date.UTC(2026, 2, 28, 12);
const dimensions = ['user_id', 'api_key_id', 'model', 'channel_id', 'group'] as const;
type DimensionName = (typeof dimensions)[number];

interface RecordedCall extends Record<DimensionName, number | string> {
  readonly at: number;
  readonly kind: 'settled' | 'failed' | 'refunded';
  readonly charged: number;
  readonly useTimeMs: number;
  readonly firstTokenMs: number | null;
}

const middleOf = (ms: number): number => Math.round(1.1 ** durationClassOf(ms));
const exactly = (durations: readonly number[], share: number): number | null => {
  const sorted = [...durations].sort((one, other) => one - other);
  const found = sorted[Math.ceil(sorted.length * share) - 1];
  return found === undefined ? null : middleOf(found);
};
const percentiles = (durations: readonly number[]) => ({
  p50: exactly(durations, 0.5),
  p95: exactly(durations, 0.95),
  p99: exactly(durations, 0.99),
});

/** What the calls come to, added up one by one. */
const folded = (calls: readonly RecordedCall[]) => {
  const served = calls.filter(({ kind }) => kind === 'settled');
  return {
    requests: served.length,
    errors: calls.length - served.length,
    quota: served.reduce((sum, { charged }) => sum + charged, 0),
    prompt_tokens: served.length * 120,
    latency: percentiles(served.map(({ useTimeMs }) => useTimeMs)),
    firstToken: percentiles(served.flatMap(({ firstTokenMs }) => firstTokenMs ?? [])),
  };
};
const { requests, errors, quota, prompt_tokens } = folded([]);
const nothing = { requests, errors, quota, prompt_tokens };
const sumsOf = ({ latency: _, firstToken: __, ...sums }: ReturnType<typeof folded>) => sums;

const call = fc.record({
  pause: fc.oneof(fc.integer({ min: 1, max: 3 * hourMs }), fc.constant(hourMs), fc.integer({ min: 1, max: 60_000 })),
  kind: fc.constantFrom('settled', 'settled', 'failed', 'refunded'),
  user_id: fc.constantFrom(alice, bob),
  api_key_id: fc.constantFrom(aliceKey, bobKey),
  model: fc.constantFrom('a', 'b', 'c', 'd'),
  group: fc.constantFrom('default', 'vip'),
  channel_id: fc.constantFrom(east, west),
  charged: fc.nat(1_000),
  useTimeMs: fc.oneof(fc.nat(200), fc.nat(60_000), fc.nat(20_000_000)),
  firstTokenMs: fc.option(fc.nat(20_000)),
}) satisfies fc.Arbitrary<Omit<RecordedCall, 'at'> & { pause: number }>;

const factsOf = (recorded: RecordedCall, index: number) => {
  const { user_id: userId, api_key_id: apiKeyId, model, group, channel_id: channelId } = recorded;
  const facts = { userId, apiKeyId, model, group } as Parameters<typeof settled>[3] & object;
  const { charged, useTimeMs, kind } = recorded;
  const at = Instant(recorded.at);
  const timed = { facts, useTimeMs } as object;
  if (kind === 'failed') return [when(at, released(`${index}`, 9, { ...timed, attempts: [channelId as never] }))];
  // Only whole answers are taken back.
  const firstTokenMs = kind === 'refunded' ? null : recorded.firstTokenMs;
  const settlement = when(
    at,
    settled(`${index}`, 9, charged, { ...timed, channelId: channelId as never, firstTokenMs }),
  );
  if (kind === 'settled' || settlement.event.type !== 'CallSettled') return [settlement];
  const { usage, attempts } = settlement.event;
  const takenBack = { eventId: eventId(index), at, usage, attempts, useTimeMs };
  const event = { ...takenBack, channelId: settlement.event.channelId, charged: settlement.event.charged };
  return [settlement, when(at, refunded(`${index}`, charged, { ...timed, settlement: event }))];
};

/** 160 calls, the last ones minutes apart, and read models that hold them. */
async function aPast(seed: number) {
  const [drawn = []] = fc.sample(fc.array(call, { minLength: 160, maxLength: 160 }), { seed, numRuns: 1 });
  let at = began;
  const calls = drawn.map(({ pause, ...one }, index): RecordedCall => {
    at += index < 120 ? pause : Math.min(pause, 600_000);
    return { ...one, at };
  });
  const db = await projected.given(
    registered(alice, 'alice'),
    registered(bob, 'bob'),
    ...calls.flatMap((recorded, index) => factsOf(recorded, index)),
  );
  return { calls, db, end: at };
}

const lengths = { minute: 60, 'five-minutes': 300, hour: 3_600, day: 86_400, week: 7 * 86_400 } as const;

describe('a usage history', () => {
  test.each([1, 2, 3])(
    'equals the sum of the events, for any range, zone and filter (seed %i)',
    async (seed) => {
      const { calls, db, end } = await aPast(seed);
      const now = Instant(end + 1);
      const maybe = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 3 });
      const asked = fc.record({
        interval: fc.constantFrom<HistoryInterval>('minute', 'five-minutes', 'hour', 'day', 'week'),
        // Before the end, and how long, in parts of what may be asked for.
        ends: fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0.01, max: 1, noNaN: true })),
        zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Kolkata', 'Australia/Lord_Howe'),
        filter: fc.record({
          userId: maybe(alice, bob),
          apiKeyId: maybe(aliceKey, bobKey),
          model: maybe('a', 'none'),
          channelId: maybe(east, west),
          group: maybe('vip'),
        }),
        by: fc.option(fc.constantFrom(...dimensions)),
        top: fc.integer({ min: 1, max: 4 }),
        order: fc.constantFrom<UsageHistoryQuery['order']>('quota', 'requests', 'errors', 'tokens'),
      });
      await fc.assert(
        fc.asyncProperty(asked, async ({ interval, ends, zone, filter, ...question }) => {
          const [before, share] = ends;
          const maxSpan = pieceOf(interval) === 'minute' ? 5 * 3_600 : 20 * 86_400;
          const from = Math.floor(end / 1000 - before * maxSpan);
          const to = from + Math.ceil(share * (pieceOf(interval) === 'minute' ? 6 * 3_600 : 20 * 86_400));
          const edges = edgesOf({ from, to, interval, zone }, now);
          expect(edges[0]).toBeLessThanOrEqual(from);
          expect(edges.at(-1)).toBeGreaterThanOrEqual(to);
          for (const [index, edge] of edges.slice(1).entries())
            expect(Math.abs(edge - (edges[index] ?? 0) - lengths[interval])).toBeLessThanOrEqual(3_600);

          const piece = pieceOf(interval);
          const counts = lengths[piece];
          const pieceIndexOf = ({ at }: RecordedCall): number => {
            const start = Math.floor(at / 1000 / counts) * counts;
            return edges.findIndex(
              (edge, index) => edge <= start && start < (edges[index + 1] ?? Number.NEGATIVE_INFINITY),
            );
          };
          const named = { user_id: filter.userId, api_key_id: filter.apiKeyId, channel_id: filter.channelId };
          const wanted = Object.entries({ ...named, model: filter.model, group: filter.group });
          const matching = calls.filter(
            (one) =>
              pieceIndexOf(one) >= 0 &&
              wanted.every(([name, value]) => value === undefined || one[name as DimensionName] === value),
          );
          const found = await usageHistory(db, { filter, edges, piece, ...question });

          expect(found.total).toMatchObject(folded(matching));
          expect(found.pieces.map(({ start }) => start)).toEqual(edges.slice(0, -1));
          for (const [index, one] of found.pieces.entries())
            expect(one).toMatchObject(folded(matching.filter((recorded) => pieceIndexOf(recorded) === index)));

          const { by, top, order } = question;
          if (by === null) {
            expect(found.shares).toEqual([]);
            return;
          }
          const rankOf = (about: number | string): number => {
            const { quota, requests, errors } = folded(matching.filter((recorded) => recorded[by] === about));
            return { quota, requests, errors, tokens: requests }[order];
          };
          const all = [...new Set(matching.map((recorded) => recorded[by]))];
          const first = found.shares.flatMap(({ about }) => (about === null ? [] : [about]));
          expect(first).toHaveLength(Math.min(top, all.length));
          expect(new Set(first).size).toBe(first.length);
          const ranks = all.map(rankOf).sort((one, other) => other - one);
          expect(first.map(rankOf)).toEqual(ranks.slice(0, top));
          expect(found.shares.length).toBe(first.length + (all.length > top ? 1 : 0));
          for (const { about, total, pieces } of found.shares) {
            const its = matching.filter((recorded) =>
              about === null ? !first.includes(recorded[by]) : recorded[by] === about,
            );
            expect(total).toMatchObject(folded(its));
            for (const [index, one] of pieces.entries())
              expect(one).toMatchObject(sumsOf(folded(its.filter((recorded) => pieceIndexOf(recorded) === index))));
          }
        }),
        { numRuns: 60 },
      );
    },
    120_000,
  );

  test('is zero without events, without percentiles', async () => {
    const db = await projected.given(registered(alice, 'alice'));
    const none = { p50: null, p95: null, p99: null };
    const found = await usageHistory(db, {
      filter: {},
      edges: [0, 3_600, 7_200],
      piece: 'hour',
      by: 'model',
      top: 1,
      order: 'quota',
    });
    expect(found.shares).toEqual([]);
    expect(found.total).toMatchObject({ ...nothing, latency: none, firstToken: none });
    expect(found.pieces).toMatchObject([
      { start: 0, ...nothing },
      { start: 3_600, ...nothing },
    ]);
  });
});
