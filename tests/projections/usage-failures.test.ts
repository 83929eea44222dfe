import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiKeyId } from '../../src/domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../src/domain/kernel/instant.js';
import {
  callFailureKinds,
  failureHistory,
  type UsageFailureFilter,
  usageFailures,
} from '../../src/projections/models/usage-stats/usage-failures.js';
import {
  alice,
  bob,
  bobKey,
  type Fact,
  furtherRefusals,
  ofStrangers,
  refunded,
  refused,
  released,
  settled,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const noon = Date.UTC(2026, 0, 2, 12);
const hour = 3_600_000;
const clock = (offset: number) => Instant(noon + offset);
const ever: UsageFailureFilter = { from: 0, to: Number.MAX_SAFE_INTEGER };
const { refused: isRefused, failed: isFailed } = callFailureKinds;

const found = async (facts: readonly Fact[], filter: Partial<UsageFailureFilter> = {}) => {
  const rows = await usageFailures(await projected.given(...facts), { ...ever, ...filter });
  return rows.map(({ kind, status, code, failures }) => [kind, status, code, failures]);
};

describe('failures are counted by cause', () => {
  test('for refused calls by their error: those with events of their own, and the rest', async () => {
    expect(await found([refused('a'), refused('b'), furtherRefusals(412), refused('c', ofStrangers)])).toEqual([
      [isRefused, 403, 'insufficient_user_quota', 414],
      [isRefused, 401, 'invalid_api_key', 1],
    ]);
  });

  test('for calls that had been reserved and could not be served', async () => {
    const shown = { status: 503, code: 'busy' };
    expect(await found([released('a', 9, shown), released('b', 9, { status: null, code: null })])).toEqual([
      [isFailed, 0, '', 1],
      [isFailed, 503, 'busy', 1],
    ]);
  });

  test('except for disconnected callers, and recovered or served calls', async () => {
    const left = released('a', 9, { reason: 'caller-left' });
    expect(await found([left, released('b', 9, { reason: 'recovered' }), settled('c', 9, 1)])).toEqual([]);
  });

  test('for a withheld answer, by the error its caller received', async () => {
    expect(await found([settled('a', 9, 1), refunded('a', 1)])).toEqual([[isFailed, 503, 'store_unavailable', 1]]);
  });

  test('for one user, or one key, as filtered', async () => {
    const bobs = refused('b', { userId: bob, apiKeyId: bobKey, code: 'token_disabled', status: 401 });
    const facts = [refused('a'), bobs, refused('c', ofStrangers)];
    expect(await found(facts, { userId: bob })).toEqual([[isRefused, 401, 'token_disabled', 1]]);
    expect(await found([], { apiKeyId: ApiKeyId(12) })).toEqual([[isRefused, 403, 'insufficient_user_quota', 1]]);
  });
});

/** Any failures of two users within six hours: the events, and what each adds to which hour of whose cause. */
function anyFailures() {
  const shown = fc.record({ status: fc.constantFrom(401, 403, 429, 503), code: fc.constantFrom('a', 'b', 'c') });
  const event = fc.record({
    at: fc.integer({ min: 0, max: 6 * hour }),
    user: fc.constantFrom(alice, bob),
    what: fc.oneof(
      fc.record({ refused: fc.integer({ min: 1, max: 500 }), shown }),
      fc.record({ served: fc.boolean(), shown }),
    ),
  });
  const [events] = fc.sample(fc.array(event, { minLength: 80, maxLength: 80 }), { numRuns: 1, seed: 62 });
  const counted: { hour: number; user: number; kind: number; status: number; code: string; n: number }[] = [];
  const facts = (events ?? []).map(({ at, user, what }, index) => {
    const instant = clock(at);
    const seconds = unixSeconds(instant);
    const count = (kind: number, status: number, code: string, n: number) =>
      counted.push({ hour: seconds - (seconds % 3_600), user, kind, status, code, n });
    if ('refused' in what) {
      count(isRefused, what.shown.status, what.shown.code, what.refused);
      const change = { userId: user, ...what.shown };
      return when(instant, what.refused === 1 ? refused(`${index}`, change) : furtherRefusals(what.refused, change));
    }
    const change = { facts: { userId: user } };
    if (what.served) return when(instant, settled(`${index}`, 9, 1, change));
    count(isFailed, what.shown.status, what.shown.code, 1);
    return when(instant, released(`${index}`, 9, { ...change, ...what.shown }));
  });
  return { facts, counted };
}

test('any range of any history has the failure counts of its events', async () => {
  const asked = fc.record({
    from: fc.integer({ min: -1, max: 7 }),
    length: fc.integer({ min: 0, max: 6 }),
    user: fc.option(fc.constantFrom(alice, bob), { nil: undefined }),
  });
  const { facts, counted } = anyFailures();
  const db = await projected.given(...facts);
  await fc.assert(
    fc.asyncProperty(asked, async ({ from, length, user }) => {
      const range = { from: (noon + from * hour) / 1000, to: (noon + (from + length) * hour) / 1000 };
      const expected = new Map<string, number>();
      for (const { hour: began, user: of, kind, status, code, n } of counted) {
        if (began < range.from || began > range.to || (user !== undefined && of !== user)) continue;
        expected.set(`${kind} ${status} ${code}`, (expected.get(`${kind} ${status} ${code}`) ?? 0) + n);
      }
      const rows = await usageFailures(db, { ...range, userId: user });
      const shown = rows.map(({ kind, status, code, failures }) => [`${kind} ${status} ${code}`, failures] as const);
      expect(new Map(shown)).toEqual(expected);
      expect(shown.map(([, n]) => n)).toEqual([...expected.values()].sort((one, other) => other - one));
    }),
    { numRuns: 60 },
  );
});

describe('failures over time', () => {
  test('have in each interval, for each of the top causes and for all others, the counts of the events', async () => {
    const asked = fc.record({
      from: fc.integer({ min: -1, max: 7 }),
      pieces: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 }),
      top: fc.integer({ min: 1, max: 20 }),
      user: fc.option(fc.constantFrom(alice, bob), { nil: undefined }),
    });
    const { facts, counted } = anyFailures();
    const db = await projected.given(...facts);
    await fc.assert(
      fc.asyncProperty(asked, async ({ from, pieces, top, user }) => {
        const edges = [(noon + from * hour) / 1000];
        for (const hours of pieces) edges.push((edges.at(-1) ?? 0) + hours * 3_600);
        const expected = new Map<string, number[]>();
        for (const { hour: began, user: of, kind, status, code, n } of counted) {
          const piece = edges.findIndex((edge, index) => edge <= began && began < (edges[index + 1] ?? 0));
          if (piece < 0 || (user !== undefined && of !== user)) continue;
          const cause = `${kind} ${status} ${code}`;
          const sums = expected.get(cause) ?? pieces.map(() => 0);
          sums[piece] = (sums[piece] ?? 0) + n;
          expected.set(cause, sums);
        }
        const shares = await failureHistory(db, { edges, top, userId: user });
        const total = (sums: readonly number[]): number => sums.reduce((sum, n) => sum + n, 0);
        const ranks = [...expected.values()].map(total).sort((one, other) => other - one);
        const named = shares.filter(({ cause }) => cause !== null);
        expect(named.map(({ failures }) => failures)).toEqual(ranks.slice(0, top));
        expect(shares.length).toBe(named.length + (ranks.length > top ? 1 : 0));
        for (const { cause, failures, pieces: found } of named) {
          expect(found).toEqual(expected.get(`${cause?.kind} ${cause?.status} ${cause?.code}`));
          expect(failures).toBe(total(found));
          expected.delete(`${cause?.kind} ${cause?.status} ${cause?.code}`);
        }
        if (shares.length > named.length) {
          const rest = [...expected.values()];
          expect(shares.at(-1)?.pieces).toEqual(pieces.map((_, index) => total(rest.map((sums) => sums[index] ?? 0))));
          expect(shares.at(-1)?.failures).toBe(total(rest.map(total)));
        }
      }),
      { numRuns: 60 },
    );
  });

  test('have no shares where nothing failed', async () => {
    const db = await projected.given(settled('a', 9, 1));
    expect(await failureHistory(db, { edges: [0, 3_600], top: 8 })).toEqual([]);
  });
});
