import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { CallReserved } from '../../src/domain/call/call.js';
import { beginning, Position } from '../../src/domain/events/events.js';
import { PaymentId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { dayOf, daysRemembered } from '../../src/domain/ledger/budget.js';
import type { Projection } from '../../src/projections/engine/projection.js';
import { ledger } from '../../src/projections/models/ledger/ledger.js';
import { apiKeySnapshot, openCalls, quotaSnapshot } from '../../src/projections/models/ledger/ledger-queries.js';
import { isSound, verifyLedger } from '../../src/projections/models/ledger/verify-ledger.js';
import { wallets } from '../../src/projections/models/wallets.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { eventId } from '../support/given/events.js';
import { allBalances, balanceOf, postingsOf, trialBalance } from '../support/postgres/ledger-reads.js';
import {
  adjusted,
  alice,
  aliceKey,
  at,
  bob,
  bought,
  codeIssued,
  east,
  type Fact,
  granted,
  issued,
  ofApiKey,
  redeemed,
  refunded,
  released,
  reserved,
  returned,
  rewarded,
  seconds,
  settled,
  transferred,
  when,
} from './history.js';
import { forEachTest, hold, type Projected } from './projected.js';

const today = dayOf(at());

let projected: Projected;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);

/** Account → balance, those at zero left out. */
const balances = async (...facts: readonly Fact[]) => {
  const db = await projected.given(...facts);
  const rows = (await allBalances(db)).filter(({ balance }) => balance !== 0);
  return Object.fromEntries(rows.map(({ account, balance }) => [account, balance]));
};

describe('every movement sums to zero', () => {
  test('for a grant, which comes from grants', async () => {
    expect(await balances(granted(alice, 100))).toEqual({ 'user:7:available': 100, grants: -100 });
  });

  test('for an adjustment, which comes from adjustments, and its gift from grants', async () => {
    expect(await balances(adjusted(alice, 110, 10))).toEqual({
      'user:7:available': 110,
      adjustments: -100,
      grants: -10,
    });
    expect(await balances(adjusted(alice, -30))).toMatchObject({ 'user:7:available': 80, adjustments: -70 });
  });

  test('for a redeemed code, which comes from codes', async () => {
    expect(await balances(codeIssued(1), redeemed(1, alice))).toEqual({ 'user:7:available': 500, codes: -500 });
    expect(await postingsOf(projected.db, 'user:7:available', { limit: 1 })).toMatchObject([
      { amount: 500, kind: 'redemption' },
    ]);
    expect(isSound(await verifyLedger(projected.db, projected.store))).toBe(true);
  });

  test('for a reward for inviting, which comes from grants, and is separate from the balance until it is transferred', async () => {
    expect(await balances(rewarded(alice, 100, bob))).toEqual({ 'user:7:invites': 100, grants: -100 });
    expect((await quotaSnapshot(projected.db, alice)).balance).toBe(0n);
    expect(await balances(transferred(alice, 60))).toEqual({
      'user:7:available': 60,
      'user:7:invites': 40,
      grants: -100,
    });
    expect((await quotaSnapshot(projected.db, alice)).balance).toBe(60n);
    expect(await postingsOf(projected.db, 'user:7:invites', { limit: 2 })).toMatchObject([
      { amount: -60, kind: 'invite-transfer' },
      { amount: 100, kind: 'invite-reward' },
    ]);
    expect(isSound(await verifyLedger(projected.db, projected.store))).toBe(true);
  });

  test('for a reservation, which moves within the user’s own accounts', async () => {
    expect(await balances(granted(alice, 100), reserved('a', 40))).toEqual({
      'user:7:available': 60,
      'user:7:reserved': 40,
      grants: -100,
    });
  });

  test('for a settlement, which goes to revenue, with the rest of the reservation back to the user', async () => {
    expect(await balances(granted(alice, 100), reserved('a', 40), settled('a', 40, 15))).toEqual({
      'user:7:available': 85,
      revenue: 15,
      grants: -100,
    });
  });

  test('for a settlement above the reservation, which may leave a debt', async () => {
    expect(await balances(reserved('a', 40), settled('a', 40, 55))).toEqual({ 'user:7:available': -55, revenue: 55 });
  });

  test('for a release, which returns the reservation', async () => {
    expect(await balances(granted(alice, 100), reserved('a', 40), released('a', 40))).toEqual({
      'user:7:available': 100,
      grants: -100,
    });
  });

  test('for a release with unknown upstream cost, which is booked to suspense as well', async () => {
    const recovered = released('a', 40, { reason: 'recovered', suspense: Quota(40) });
    expect(await balances(granted(alice, 100), reserved('a', 40), recovered)).toEqual({
      'user:7:available': 100,
      grants: -100,
      suspense: 40,
      revenue: -40,
    });
  });

  test('for a settlement with the cost of earlier attempts, which is in suspense', async () => {
    const retried = settled('a', 40, 15, { suspense: Quota(40) });
    expect(await balances(granted(alice, 100), reserved('a', 40), retried)).toEqual({
      'user:7:available': 85,
      grants: -100,
      suspense: 40,
      revenue: -25,
    });
  });

  test('for a refund, which returns the charge to user and key, and books the work done to suspense', async () => {
    const history = [granted(alice, 100), issued(aliceKey, alice, 50), reserved('a', 40), settled('a', 40, 15)];
    expect(await balances(...history, refunded('a', 15))).toEqual({
      'user:7:available': 100,
      grants: -100,
      suspense: 15,
      revenue: -15,
    });
    expect(await apiKeySnapshot(projected.db, aliceKey)).toMatchObject({ balance: 50n, spending: [[today, 0n]] });
    expect(await postingsOf(projected.db, 'user:7:available', { limit: 1 })).toMatchObject([
      { amount: 15, kind: 'refund' },
    ]);
    expect(isSound(await verifyLedger(projected.db, projected.store))).toBe(true);
  });

  test('for a refund on a later day, which is subtracted from the day of its settlement', async () => {
    const settlement = { charged: Quota(15), usage: {}, channelId: east, attempts: [], useTimeMs: 1 };
    const refund = refunded('a', 15, { settlement: { ...settlement, eventId: eventId(1), at: at() } });
    await projected.given(issued(aliceKey, alice, 50), reserved('a', 40), settled('a', 40, 15));
    await projected.given(when(at(86_400), settled('b', 0, 4)), when(at(86_400), refund));
    const { spending } = await apiKeySnapshot(projected.db, aliceKey);
    expect(spending).toEqual([
      [today + 1, 4n],
      [today, 0n],
    ]);
    expect(isSound(await verifyLedger(projected.db, projected.store))).toBe(true);
  });

  test('for all of them together, batch after batch', async () => {
    const db = await projected.given(granted(alice, 100), adjusted(bob, 70, 7), reserved('a', 40));
    await projected.given(settled('a', 40, 55), reserved('b', 9, { facts: { userId: bob } }));
    expect(await trialBalance(db)).toEqual({ sum: 0, accounts: 7, available: 106, reserved: 9 });
    expect(await balanceOf(db, bob)).toEqual({ available: 61, reserved: 9, total: 70 });
    expect(await balanceOf(db, alice)).toEqual({ available: 45, reserved: 0, total: 45 });
  });
});

describe('postings', () => {
  test('are kept for movements that the usage log does not contain', async () => {
    const db = await projected.given(granted(alice, 100), reserved('a', 40), settled('a', 40, 15), adjusted(alice, 5));
    expect(await postingsOf(db, 'user:7:available', { limit: 10 })).toEqual([
      { position: 3, account: 'user:7:available', amount: 5, kind: 'adjustment', created_at: seconds(at()) },
      { position: 0, account: 'user:7:available', amount: 100, kind: 'grant', created_at: seconds(at()) },
    ]);
    expect(await postingsOf(db, 'user:7:available', { limit: 10, before: 3 as never })).toHaveLength(1);
  });
});

describe('open calls', () => {
  test('are those without an outcome, in the order of the log, with their whole reservation', async () => {
    const first = reserved('first', 40);
    const db = await projected.given(when(at(10), reserved('second', 5)), when(at(5), first), reserved('done', 1));
    await projected.given(settled('done', 1, 1), when(at(20), reserved('third', 5)), released('third', 5));
    const newest = Position(9);
    expect(await openCalls(db, { after: null, upTo: newest, limit: 10 })).toMatchObject([
      { callId: 'second', position: 0, since: at(10) },
      { callId: 'first', reservation: first.event, position: 1 },
    ]);
    expect(await openCalls(db, { after: null, upTo: Position(0), limit: 10 })).toHaveLength(1);
    expect(await openCalls(db, { after: Position(0), upTo: newest, limit: 10 })).toHaveLength(1);
    expect(await openCalls(db, { after: null, upTo: newest, limit: 1 })).toHaveLength(1);
  });

  test('of an earlier release are read with the price in its current form', async () => {
    const db = await projected.given(reserved('a', 50));
    const { price: _price, ...kept } = reserved('a', 50).event as CallReserved;
    const earlier = {
      ...{ per: 'token', model: '2', completion: '4', cache: '0.5', cacheWrite: '1.25', image: '1' },
      ...{ reasoning: '6', group: '1' },
    };
    const reservation = JSON.stringify({ ...kept, price: earlier });
    await sql`update open_call set reservation = ${reservation}::json`.execute(db);
    const [call] = await openCalls(db, { after: null, upTo: Position(9), limit: 1 });
    expect(call?.reservation.price).toEqual({
      per: 'token',
      model: '2',
      ratios: { output: '4', cachedInput: '0.5', cacheWrite: '1.25', imageInput: '1', reasoning: '6' },
      group: '1',
    });
  });
});

describe('a ledger snapshot for the quota gate', () => {
  test('contains a user’s balance without reservations, the reservations, and the position of both', async () => {
    const db = await projected.given(granted(alice, 100), reserved('a', 40), reserved('b', 5));
    await projected.given(settled('b', 5, 3));
    expect(await quotaSnapshot(db, alice)).toEqual({
      balance: 97n,
      spending: [],
      reservations: [{ callId: 'a', quota: 40 }],
      position: 3,
    });
  });

  test('contains the same for an API key', async () => {
    const edited = { type: 'ApiKeyEdited', owner: alice, quotaDelta: Quota(-20), terms: apiKeyTerms() } as const;
    const db = await projected.given(
      issued(aliceKey, alice, 500),
      ofApiKey(aliceKey, edited),
      reserved('a', 40),
      reserved('b', 5),
      settled('b', 5, 3),
      reserved('c', 7, { facts: { apiKeyId: null } }),
    );
    expect(await apiKeySnapshot(db, aliceKey)).toEqual({
      balance: 477n,
      spending: [[today, 3n]],
      reservations: [{ callId: 'a', quota: 40 }],
      position: 5,
    });
  });

  test('is empty, not missing, for an account without history', async () => {
    const db = await projected.given();
    expect(await quotaSnapshot(db, alice)).toEqual({
      balance: 0n,
      spending: [],
      reservations: [],
      position: beginning,
    });
    expect(await apiKeySnapshot(db, aliceKey)).toEqual({
      balance: 0n,
      spending: [],
      reservations: [],
      position: beginning,
    });
  });

  test('contains the spending of an API key by day, for the days that are kept', async () => {
    const dayMs = 86_400_000;
    const days = Array.from({ length: daysRemembered + 3 }, (_, n) => n);
    const db = await projected.given(
      ...days.flatMap((n) => [
        reserved(`call-${n}`, 100),
        when(Instant(at() + n * dayMs), settled(`call-${n}`, 100, n + 1)),
        when(Instant(at() + n * dayMs), settled(`late-${n}`, 100, 1_000)),
      ]),
    );
    const { spending } = await apiKeySnapshot(db, aliceKey);
    expect(spending).toHaveLength(daysRemembered);
    expect(new Map(spending)).toEqual(new Map(days.slice(3).map((n) => [today + n, BigInt(1_001 + n)])));
  });
});

describe('verifying the ledger', () => {
  const history = [
    granted(alice, 1_000),
    ...bought(bob, 5_000_000, PaymentId('USR8NOx4Tk9b8305516274')),
    ...returned(bob, 5_000_000, PaymentId('USR8NOx4Tk9b8305516274')),
    adjusted(bob, 110, 10),
    issued(aliceKey, alice, 500),
    reserved('a', 40),
    settled('a', 40, 55),
    reserved('b', 30),
    released('b', 30, { suspense: Quota(30) }),
    reserved('open', 20),
  ];

  test('finds no fault in a correct one', async () => {
    const db = await projected.given(...history);
    const verdict = await verifyLedger(db, projected.store);
    expect(verdict).toEqual({ position: 12, events: 13, accounts: 8, wallets: 2, sum: 0n, differences: [] });
    expect(isSound(verdict)).toBe(true);
  });

  test('compares at the position of the ledger, whatever has been appended since', async () => {
    const db = await projected.given(...history);
    await projected.stopAll();
    await projected.record(granted(alice, 77));
    expect(isSound(await verifyLedger(db, projected.store))).toBe(true);
  });

  test('compares wallets at their own position, which may differ from that of the ledger', async () => {
    const db = await projected.given(...history);
    await projected.stopAll();
    const foldAlone = async (projection: Projection, ...facts: readonly Fact[]) => {
      const position = await projected.record(...facts);
      await hold(await projected.start({ projections: [projection] }), position);
      await projected.stopAll();
      return position;
    };
    const ahead = await foldAlone(ledger, granted(alice, 77), granted(bob, 1));
    expect(await verifyLedger(db, projected.store)).toMatchObject({ position: ahead, events: 15, differences: [] });
    await foldAlone(wallets, granted(alice, 1));
    expect(await verifyLedger(db, projected.store)).toMatchObject({ position: ahead, events: 16, differences: [] });
  });

  test('reports where wallets have not been built yet', async () => {
    const db = await projected.given(...history);
    await projected.pool.query('drop schema wallets_v2 cascade');
    const verdict = await verifyLedger(db, projected.store);
    expect([verdict.wallets, isSound(verdict)]).toEqual([null, true]);
  });

  test.each([
    ['a balance', `update ledger_balance set balance = balance + 1 where account = 'revenue'`, 'revenue', 25n, 26n],
    ['an account', `delete from ledger_balance where account = 'suspense'`, 'suspense', 30n, 0n],
    ['a key’s balance', 'update api_key_balance set balance = 0', 'apikey:12', 445n, 0n],
    ['the spending of a key', 'update api_key_spending set spent = 5', 'apikey:12:2026-01-02', 55n, 5n],
    ['a day of a key’s', 'delete from api_key_spending', 'apikey:12:2026-01-02', 55n, 0n],
    ['a reservation', 'delete from open_call', 'call:open', 20n, 0n],
    ['a surplus reservation', `insert into open_call select 'ghost', 7, null, 1, 0, 0, '{}'`, 'call:ghost', 0n, 1n],
    [
      'a movement',
      `update wallet_movement set amount = 111 where cause = 'adjustment'`,
      'wallet:8',
      4_500_110n,
      4_500_111n,
    ],
    ['the charges of calls', 'delete from wallet_charge', 'wallet:7', 945n, 1_000n],
    ['a surplus movement', `insert into wallet_movement values (99, 0, 0, 'grant', 5)`, 'wallet:99', 0n, 5n],
  ])('finds %s that was tampered with', async (_, tampering, account, expected, actual) => {
    const db = await projected.given(...history);
    await projected.pool.query(`set search_path to ledger_v3, wallets_v2; ${tampering}; reset search_path`);
    const verdict = await verifyLedger(db, projected.store);
    expect(verdict.differences).toEqual([{ account, expected, actual }]);
    expect(isSound(verdict)).toBe(false);
  });

  test('finds money that was moved without a posting', async () => {
    const db = await projected.given(...history);
    await projected.pool.query(`
      update ledger_v3.ledger_balance set balance = balance - 5 where account = 'revenue';
      update ledger_v3.ledger_balance set balance = balance + 5 where account = 'user:8:available'
    `);
    const { sum, differences } = await verifyLedger(db, projected.store);
    expect(sum).toBe(0n);
    expect(differences.map(({ account }) => account)).toEqual(['revenue', 'user:8:available']);
  });
});
