import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  auditedBalance,
  historyPage,
  historyPages,
  quotaHistoryQueries,
} from '../../src/application/audit/quota-history.js';
import { beginning, Position, type Recorded } from '../../src/domain/events/events.js';
import type { Moment } from '../../src/domain/events/moment.js';
import { PaymentId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { movementsOf } from '../../src/domain/ledger/movements.js';
import type { ReadModels } from '../../src/projections/database.js';
import {
  type HistoryAccount,
  type HistoryFilter,
  type Holding,
  holdingAt,
  quotaMovements,
} from '../../src/projections/models/quota-history/quota-history-queries.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { EmptiedTables } from './emptied-tables.js';
import {
  adjusted,
  alice,
  aliceKey,
  bob,
  bought,
  east,
  type Fact,
  granted,
  issued,
  redeemed,
  refunded,
  released,
  reserved,
  returned,
  rewarded,
  settled,
  transferred,
  when,
} from './history.js';
import { Projected } from './projected.js';

/* One long history of every kind of movement, and what was held at any point of it. */

/** AUDIT_CUTS=1000 tries more of them. */
const cuts = Number(process.env.AUDIT_CUTS ?? 60);
const start = Date.UTC(2026, 0, 1);
const order = (n: number) => PaymentId(`USR7NOabcdef${String(n).padStart(10, '0')}`);

/** What one step of a history records. */
const steps: readonly ((amount: number, n: number) => readonly Fact[])[] = [
  (amount) => [granted(alice, amount)],
  (amount) => [adjusted(alice, amount, Math.floor(amount / 3))],
  (amount) => [adjusted(bob, -amount)],
  (amount) => [rewarded(alice, amount, bob), transferred(alice, amount)],
  (amount, n) => [redeemed(n + 1, alice, amount)],
  (amount, n) => bought(alice, amount * 10, order(n)),
  (amount, n) => [...bought(bob, amount * 10, order(n)), ...returned(bob, amount * 10, order(n))],
  (amount, n) => [reserved(`h${n}`, amount), settled(`h${n}`, amount, amount + 3)],
  (amount, n) => [reserved(`h${n}`, amount), settled(`h${n}`, amount, amount, { uncovered: 5 as never })],
  (amount, n) => [reserved(`h${n}`, amount), released(`h${n}`, amount)],
  (amount, n) => [reserved(`h${n}`, amount), released(`h${n}`, amount, { suspense: 7 as never })],
  (amount, n) => [reserved(`h${n}`, amount), settled(`h${n}`, amount, amount), refunded(`h${n}`, amount)],
  // Still under way.
  (amount, n) => [reserved(`h${n}`, amount, { facts: { userId: bob, apiKeyId: null } })],
];

const anyHistory = fc.array(
  // Now and then a clock is set back.
  fc.record({
    step: fc.nat(steps.length - 1),
    amount: fc.integer({ min: 1, max: 900 }),
    wait: fc.integer({ min: -40_000, max: 90_000 }),
  }),
  { minLength: 150, maxLength: 150 },
);

const accounts: readonly HistoryAccount[] = [
  { owner: 'user', id: alice },
  { owner: 'user', id: bob },
  { owner: 'api-key', id: aliceKey },
  { owner: 'channel', id: east },
];
const everything: HistoryFilter = { causes: null, from: null, to: null };
const nothing: Holding = { available: 0n, reserved: 0n, invites: 0n };

let database: TestDatabase;
let projected: Projected;
let db: ReadModels;
let log: readonly Recorded[];
let newest: number;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await new EmptiedTables(database.pool).renew();
  projected = new Projected(database);
  const made = fc.sample(anyHistory, { numRuns: 1, seed: 41 })[0] ?? [];
  let now = start;
  newest = start;
  const facts = made.flatMap(({ step, amount, wait }, n): Fact[] => {
    now += wait;
    newest = Math.max(newest, now);
    return (steps[step]?.(amount, n) ?? []).map((fact) => when(Instant(now), fact));
  });
  db = await projected.given(issued(aliceKey, alice, 5_000), ...facts);
  log = await projected.store.readAll(beginning, 10_000);
});
afterAll(async () => {
  await projected?.close();
  await database?.drop();
});

/** A fold of the log alone. */
function folded({ owner, id }: HistoryAccount, upTo: Position): Holding {
  const held = { ...nothing };
  for (const recorded of log.filter(({ position }) => position <= upTo))
    for (const { postings, cause } of movementsOf(recorded))
      for (const posting of postings) {
        if (owner === 'user' && posting.owner === 'user' && posting.id === id) held[posting.part] += posting.amount;
        if (owner === 'user' && posting.owner === 'inviter' && posting.id === id) held.invites += posting.amount;
        if (owner === 'api-key' && posting.owner === 'api-key' && posting.id === id) held.available += posting.amount;
        // All calls of this history were served by one channel.
        if (owner === 'channel' && posting.owner === 'house' && posting.part === 'revenue' && cause !== 'release')
          held.available += posting.amount;
      }
  return held;
}

const isMoney = (recorded: Recorded) => movementsOf(recorded).length > 0;

/** The last, in the log, of those with the latest time that is not later. */
const positionAtInstant = (at: number): Position => {
  const before = log.filter((recorded) => isMoney(recorded) && recorded.at <= at);
  const latest = Math.max(...before.map((recorded) => recorded.at));
  return before.filter((recorded) => recorded.at === latest).at(-1)?.position ?? beginning;
};

describe('what an account held', () => {
  test(
    'at any position or instant is what a fold of the log up to there makes of it',
    async () => {
      const last = Number(log.at(-1)?.position ?? 0);
      const moments = fc.oneof(
        fc.integer({ min: -1, max: last + 3 }).map((position): Moment => ({ position: Position(position) })),
        fc.integer({ min: start - 60_000, max: newest + 60_000 }).map((at): Moment => ({ at: Instant(at) })),
        fc.constantFrom(...log).map(({ at }): Moment => ({ at })),
      );
      await fc.assert(
        fc.asyncProperty(moments, fc.constantFrom(...accounts), async (moment, account) => {
          const upTo = 'at' in moment ? positionAtInstant(moment.at) : moment.position;
          expect(await holdingAt(db, account, moment)).toEqual(folded(account, upTo));
        }),
        { numRuns: cuts },
      );
    },
    30_000 + cuts * 200,
  );

  test('is nothing for an account that never had a movement', async () => {
    expect(await holdingAt(db, { owner: 'user', id: 999 }, { position: Position(1_000_000) })).toEqual(nothing);
  });
});

describe('the history of quota', () => {
  const whole = (account: HistoryAccount, filter = everything) =>
    quotaMovements(db, account, filter, { order: 'oldest', after: null, upTo: null, limit: 10_000 });

  test.each(accounts)('of a $owner adds up: each balance is the one before and the change', async (account) => {
    const movements = await whole(account);
    expect(movements.length).toBeGreaterThan(20);
    let held = nothing;
    for (const { change, balance } of movements) {
      held = {
        available: held.available + change.available,
        reserved: held.reserved + change.reserved,
        invites: held.invites + change.invites,
      };
      expect(balance).toEqual(held);
    }
  });

  test('names counter-accounts that are the postings of the house in the ledger', async () => {
    const house = new Map<string, bigint>();
    for (const { owner, id } of accounts.filter(({ owner }) => owner === 'user'))
      for (const { counters } of await whole({ owner, id }))
        for (const { account, amount } of counters)
          if (account !== 'reserved' && account !== 'invites') house.set(account, (house.get(account) ?? 0n) + amount);
    for (const { cause, counters } of await whole({ owner: 'channel', id: east }))
      if (cause === 'suspense')
        for (const { account, amount } of counters) house.set(account, (house.get(account) ?? 0n) + amount);
    const expected = new Map<string, bigint>();
    for (const recorded of log)
      for (const { postings } of movementsOf(recorded))
        for (const posting of postings)
          if (posting.owner === 'house')
            expected.set(posting.part, (expected.get(posting.part) ?? 0n) + posting.amount);
    expect(Object.fromEntries(house)).toEqual(Object.fromEntries(expected));
  });

  test.each(['oldest', 'newest'] as const)('is the same page by page, %s first', async (order) => {
    const account = { owner: 'channel', id: east } as const;
    const pages = [];
    let after = null;
    for (;;) {
      const page: Awaited<ReturnType<typeof quotaMovements>> = await quotaMovements(db, account, everything, {
        order,
        after,
        upTo: null,
        limit: 7,
      });
      pages.push(...page);
      after = page.at(-1) ?? null;
      if (after === null) break;
    }
    const all = await whole(account);
    expect(pages).toEqual(order === 'oldest' ? all : all.reverse());
  });

  test.each([[['grant', 'refund'] as const], [['settlement', 'grant'] as const]])(
    'is filtered by the causes %j and by time, also where a clock was set back',
    async (causes) => {
      const account = { owner: 'user', id: alice } as const;
      const [from, to] = [Instant(start + 600_000), Instant(start + 2_400_000)];
      const found = await whole(account, { causes, from, to });
      const expected = (await whole(account)).filter(
        ({ cause, at }) => causes.some((wanted) => wanted === cause) && at >= from && at < to,
      );
      expect(found.length).toBeGreaterThan(1);
      expect(found).toEqual(expected);
    },
  );

  test('of a code, a payment or a call is read from its own events', async () => {
    const stored = { db, store: projected.store };
    const refund = (await whole(accounts[0] as HistoryAccount)).find(({ cause }) => cause === 'refund');
    const of = { kind: 'call', id: refund?.subject ?? '' } as const;
    const page = await historyPage(stored, { of, filter: everything, order: 'oldest', after: null, first: 9 }, null);
    expect(page.map(({ cause }) => cause)).toEqual(['reservation', 'settlement', 'refund']);
    expect(page.at(-1)?.balance).toEqual(nothing);

    const paid = (await whole(accounts[1] as HistoryAccount)).find(({ cause }) => cause === 'top-up');
    const payment = { kind: 'payment', id: paid?.subject ?? '' } as const;
    const pages = [];
    for await (const movements of historyPages(stored, payment, everything, { upTo: null })) pages.push(...movements);
    expect(pages.map(({ cause }) => cause)).toEqual(['top-up', 'top-up-return', 'top-up-return', 'top-up-return']);
    expect(await auditedBalance(stored, payment, { position: paid?.position ?? beginning })).toEqual(paid?.change);
  });
});

test.each([
  { _name: 'was released', type: 'CallReleased' },
  { _name: 'has cost more than could be charged', type: 'CallSettled' },
  { _name: 'was refunded', type: 'CallRefunded' },
])(
  'what the house bears of a call that $_name is shown to administrators, and not to whose call it is',
  async ({ type }) => {
    const { store } = projected;
    const asked = { filter: everything, order: 'oldest', after: null, first: 100 } as const;
    const { quotaHistory } = quotaHistoryQueries({
      ...{ db, store, tail: { position: () => Position(log.length) }, progress: { reached: async () => true } },
    });
    const shown = async (role: 'ordinary' | 'auditor', id: string) =>
      (await quotaHistory({ id: alice, role }, { ...asked, of: { kind: 'call', id } })).items;
    const isSuspended = ({ postings }: ReturnType<typeof movementsOf>[number]) =>
      postings.some((posting) => posting.owner === 'house' && posting.part === 'suspense' && posting.amount > 0n);
    const suspended = log.find((recorded) => recorded.event.type === type && movementsOf(recorded).some(isSuspended));
    const id = String(suspended?.stream).slice('call-'.length);
    const counters = (items: Awaited<ReturnType<typeof shown>>) => items.flatMap((movement) => movement.counters);
    expect(counters(await shown('auditor', id)).map(({ account }) => account)).toContain('suspense');
    const own = await shown('ordinary', id);
    expect(own.length).toBeGreaterThan(1);
    expect(own.map(({ cause }) => cause)).not.toContain('suspense');
    expect(counters(own).map(({ account }) => account)).not.toContain('suspense');
    const paid = own.reduce((sum, { change }) => sum + change.available + change.reserved, 0n);
    const earned = counters(own).filter(({ account }) => account === 'revenue');
    expect(earned.reduce((sum, { amount }) => sum + amount, paid)).toBe(0n);
  },
);
