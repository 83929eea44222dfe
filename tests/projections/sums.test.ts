import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openQuotaGate } from '../../src/application/memory/quota-gate.js';
import type { ChannelId, UserId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { QuotaScalar, SafeIntScalar } from '../../src/graphql/server/scalars.js';
import { apiKeyById } from '../../src/projections/models/api-keys.js';
import { channelById } from '../../src/projections/models/channel-queries.js';
import { apiKeySnapshot, quotaSnapshot } from '../../src/projections/models/ledger/ledger-queries.js';
import { isSound, verifyLedger } from '../../src/projections/models/ledger/verify-ledger.js';
import { usageOfLastMinute, usageTotals } from '../../src/projections/models/usage-log/usage-totals.js';
import { usageStatsBy } from '../../src/projections/models/usage-stats/usage-stats-queries.js';
import { userById, userPage } from '../../src/projections/models/user-queries.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { balanceOf, postingsOf, trialBalance } from '../support/postgres/ledger-reads.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { EmptiedTables } from './emptied-tables.js';
import {
  added,
  adjusted,
  alice,
  aliceKey,
  at,
  bob,
  bobKey,
  east,
  type Fact,
  granted,
  issued,
  ofApiKey,
  refunded,
  registered,
  released,
  reserved,
  seconds,
  settled,
  west,
} from './history.js';
import { Projected } from './projected.js';

/* No sum has an end: whatever has been accepted is folded, can be read, and adds up. */

const largest = Number.MAX_SAFE_INTEGER;
const maxPerCall = 1e12;

type Step =
  | { readonly kind: 'grant' | 'adjust' | 'allow'; readonly who: 0 | 1; readonly amount: number; readonly gift: number }
  | {
      readonly kind: 'settle' | 'refund' | 'release' | 'hold';
      readonly who: 0 | 1;
      readonly held: number;
      readonly charged: number;
      readonly unpaid: number;
      readonly tokens: number;
    };

const signed = fc.oneof(
  fc.constantFrom(largest, -largest, largest - 1, 1, -1),
  fc.integer({ min: -largest, max: largest }),
);
const whole = (max: number) => fc.oneof(fc.constantFrom(max, max - 1, 0, 1), fc.integer({ min: 0, max }));
const who = fc.constantFrom<0 | 1>(0, 1);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('grant', 'adjust', 'allow'), who, amount: signed, gift: signed }),
  fc.record({
    kind: fc.constantFrom('settle', 'settle', 'refund', 'release', 'hold'),
    who,
    held: whole(maxPerCall),
    charged: whole(maxPerCall),
    unpaid: whole(largest),
    tokens: whole(largest),
  }),
);

const users = [alice, bob] as const;
const keys = [aliceKey, bobKey] as const;
const channels = [east, west] as const;

/** What the books must say, to the last unit. */
interface Expected {
  readonly given: [bigint, bigint];
  readonly allowed: [bigint, bigint];
  readonly charged: [bigint, bigint];
  readonly held: [bigint, bigint];
  readonly tokens: [bigint, bigint];
  suspense: bigint;
}

function historyOf(steps: readonly Step[]): { facts: Fact[]; expected: Expected } {
  const expected: Expected = {
    given: [0n, 0n],
    allowed: [0n, 0n],
    charged: [0n, 0n],
    held: [0n, 0n],
    tokens: [0n, 0n],
    suspense: 0n,
  };
  const facts = steps.flatMap((taken, index): Fact[] => {
    const user = users[taken.who];
    if ('amount' in taken) {
      const { kind, amount, gift } = taken;
      if (kind === 'allow') {
        expected.allowed[taken.who] += BigInt(amount);
        const edited = { type: 'ApiKeyEdited', owner: user, quotaDelta: Quota(amount), terms: apiKeyTerms() } as const;
        return [ofApiKey(keys[taken.who], edited)];
      }
      expected.given[taken.who] += BigInt(kind === 'grant' ? Math.abs(amount) : amount);
      return [kind === 'grant' ? granted(user, Math.abs(amount)) : adjusted(user, amount, gift)];
    }
    const { kind, held, charged, unpaid, tokens } = taken;
    const id = `call${index}`;
    const parties = { facts: { userId: user, apiKeyId: keys[taken.who] } };
    const channelId: ChannelId = channels[taken.who];
    const begun = reserved(id, held, parties);
    if (kind === 'hold') {
      expected.held[taken.who] += BigInt(held);
      return [begun];
    }
    expected.suspense += BigInt(unpaid);
    if (kind === 'release') return [begun, released(id, held, { ...parties, suspense: Quota(unpaid) })];
    const usage = { cachedInput: tokens, reasoning: tokens };
    const answered = settled(id, held, charged, { ...parties, channelId, uncovered: Quota(unpaid), usage });
    if (kind === 'settle') {
      expected.charged[taken.who] += BigInt(charged);
      expected.tokens[taken.who] += BigInt(tokens);
      return [begun, answered];
    }
    const back = refunded(id, charged, { ...parties, suspense: Quota(0) });
    if (back.event.type !== 'CallRefunded') throw new Error('not a refund');
    const settlement = { ...back.event.settlement, channelId, attempts: [channelId], usage };
    return [begun, answered, { ...back, event: { ...back.event, settlement } }];
  });
  return { facts, expected };
}

/** As far as a number can represent it. */
const shown = (sum: bigint): number =>
  sum > BigInt(largest) ? largest : sum < -BigInt(largest) ? -largest : Number(sum);

let database: TestDatabase;
let tables: EmptiedTables;
beforeAll(async () => {
  database = await createEmptyDatabase();
  tables = new EmptiedTables(database.pool);
});
afterAll(() => database.drop());

async function checkBooks(steps: readonly Step[]): Promise<void> {
  await tables.renew();
  const projected = new Projected(database);
  try {
    const { facts, expected } = historyOf(steps);
    const db = await projected.given(
      registered(alice, 'alice'),
      registered(bob, 'bob'),
      issued(aliceKey, alice, 0),
      issued(bobKey, bob, 0),
      added(east),
      added(west),
      ...facts,
    );
    for (const index of [0, 1] as const) {
      const [user, key, channel]: [UserId, typeof aliceKey, ChannelId] = [users[index], keys[index], channels[index]];
      const charged = expected.charged[index];
      const [total, held] = [expected.given[index] - charged, expected.held[index]];
      const available = shown(total - held);

      const row = await userById(db, user);
      expect([row?.quota, row?.used_quota]).toEqual([available, shown(charged)]);
      expect(await balanceOf(db, user)).toEqual({ available, reserved: shown(held), total: shown(total) });
      expect((await quotaSnapshot(db, user)).balance).toBe(total);

      const apiKey = await apiKeyById(db, key);
      const allowed = expected.allowed[index] - charged;
      expect([apiKey?.remain_quota, apiKey?.used_quota]).toEqual([shown(allowed - held), shown(charged + held)]);
      expect((await apiKeySnapshot(db, key)).balance).toBe(allowed);

      expect((await channelById(db, channel))?.used_quota).toBe(shown(charged));
      const tokens = shown(expected.tokens[index]);
      const used = { quota: shown(charged), prompt_tokens: tokens, completion_tokens: tokens };
      const [stats] = await usageStatsBy(
        db,
        { from: 0, to: seconds(at()), userId: user },
        { by: [], interval: null, offsetMinutes: 0 },
      );
      expect(stats).toMatchObject({ ...used, cached_tokens: tokens, reasoning_tokens: tokens });
      expect(await usageTotals(db, { userId: user }, 'both')).toMatchObject(used);
      const minute = await usageOfLastMinute(db, { userId: user }, seconds(at()), 'both');
      expect(minute.tokens).toBe(shown(2n * expected.tokens[index]));

      const source = {
        user: (id: UserId) => quotaSnapshot(db, id),
        apiKey: (id: typeof aliceKey) => apiKeySnapshot(db, id),
        caughtUp: async () => true,
        between: async () => [],
      };
      const gate = openQuotaGate(source, { capacity: 10, after: await projected.store.head(), clock: { now: at } });
      // What is held beyond the balance leaves nothing, and never less.
      const [rest, lowest] = [total - held, total < 0n ? total : 0n];
      const free = shown(rest > lowest ? rest : lowest);
      expect([await gate.available(user), await gate.remaining(key)]).toEqual([free, shown(allowed - held)]);

      for (const { amount } of await postingsOf(db, `user:${user}:available`, { limit: 100 }))
        expect(QuotaScalar.serialize(amount)).toBe(amount);
      for (const figure of [row?.quota, row?.used_quota, apiKey?.remain_quota, minute.tokens])
        expect([QuotaScalar.serialize(figure), SafeIntScalar.serialize(figure)]).toEqual([figure, figure]);
    }
    expect(
      (await userPage(db, projected.personalData, { page: 1, size: 10, sort: 'used_quota_desc' })).items,
    ).toHaveLength(2);
    expect((await trialBalance(db)).sum).toBe(0);
    const verdict = await verifyLedger(db, projected.store);
    expect(verdict.differences).toEqual([]);
    expect(isSound(verdict)).toBe(true);
    const { rows } = await projected.pool.query(
      `select balance::text from ledger_v3.ledger_balance where account = 'suspense'`,
    );
    expect(BigInt(rows[0]?.balance ?? 0)).toBe(expected.suspense);
  } finally {
    await projected.close();
  }
}

describe('a sum of any size', () => {
  test('of the largest amounts, repeatedly, is folded, read and verified', async () => {
    const largestFold = { who: 0, held: maxPerCall, charged: maxPerCall, unpaid: largest, tokens: largest } as const;
    const amounts = { who: 0, amount: largest, gift: -largest } as const;
    const kinds = ['grant', 'adjust', 'allow'] as const;
    await checkBooks([
      ...Array.from({ length: 5 }, () => kinds.map((kind) => ({ kind, ...amounts }))).flat(),
      ...Array.from({ length: 5 }, () => ({ kind: 'settle', ...largestFold }) as const),
      { kind: 'refund', ...largestFold },
      { kind: 'release', ...largestFold },
      { kind: 'hold', ...largestFold },
      ...Array.from({ length: 12 }, () => ({ kind: 'adjust', who: 0, amount: -largest, gift: largest }) as const),
    ]);
  }, 60_000);

  test('is correct for any accepted amounts, in any order', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), checkBooks), {
      numRuns: 10,
      endOnFailure: true,
    });
  }, 120_000);
});

test.each([QuotaScalar, SafeIntScalar])('$name returns the nearest number where none is exact', (scalar) => {
  expect(scalar.serialize(2 ** 60)).toBe(largest);
  expect(scalar.serialize(-(2 ** 60))).toBe(-largest);
  expect(() => scalar.serialize(0.5)).toThrow('whole number');
  expect(() => scalar.parseValue(2 ** 60)).toThrow('whole number');
});
