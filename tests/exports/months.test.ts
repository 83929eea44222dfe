import { afterEach, expect, test } from 'vitest';
import { PaymentId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import type { MovementCause } from '../../src/domain/ledger/movements.js';
import {
  adjusted,
  alice,
  bob,
  bought,
  corrected,
  type Fact,
  granted,
  redeemed,
  refunded,
  registered,
  reserved,
  returned,
  rewarded,
  root,
  settled,
  transferred,
  when,
} from '../projections/history.js';
import { forEachTest, type Projected } from '../projections/projected.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { balanceOf } from '../support/postgres/ledger-reads.js';
import { type ServedExports, serveExports } from './served-exports.js';

let projected: Projected;
let exports: ServedExports | undefined;
forEachTest((fresh) => {
  projected = fresh;
});
afterEach(() => exports?.stop());

/** Where February begins in Shanghai. */
const border = Date.UTC(2026, 0, 31, 16);
const hour = 60 * 60_000;
const hourly = (from: number, facts: readonly Fact[]): Fact[] =>
  facts.map((fact, index) => when(Instant(from + index * hour), fact));

const january = [
  ...hourly(Date.UTC(2026, 0, 2), [
    registered(alice, 'alice'),
    granted(alice, 1_000),
    ...bought(alice, 5_000_000, PaymentId('USR7NOepayAA1767323045')),
    ...bought(alice, 500_000, PaymentId('USR7NOstripe1767323045'), { provider: 'stripe', learned: { by: 'poll' } }),
    ...bought(alice, 250_000, PaymentId('USR7NOhandAA1767323045'), {
      learned: { by: 'hand', user: root, reason: 'seen in the bank' },
    }),
    ...returned(alice, 5_000_000, PaymentId('USR7NOepayAA1767323045')),
    redeemed(1, alice, 500),
    rewarded(alice, 300, bob),
    transferred(alice, 200),
    adjusted(alice, -50),
    granted(bob, 77),
  ]),
  ...hourly(Date.UTC(2026, 0, 20), [
    reserved('kept', 40),
    settled('kept', 40, 45),
    reserved('given back', 40),
    settled('given back', 40, 30),
    refunded('given back', 30),
    reserved('corrected', 40),
    settled('corrected', 40, 20),
    corrected('corrected', 20),
  ]),
  when(Instant(border - 2), reserved('last', 9)),
  when(Instant(border - 1), settled('last', 9, 11)),
  when(Instant(border - 1), reserved('under way', 600)),
];
const february = [
  when(Instant(border), adjusted(alice, 100)),
  ...hourly(border + hour, [settled('under way', 600, 601)]),
];

/** What becomes of a movement in a statement. */
const shown = {
  grant: 'line',
  adjustment: 'line',
  'top-up': 'line',
  'top-up-return': 'line',
  redemption: 'line',
  'invite-transfer': 'line',
  refund: 'line',
  correction: 'line',
  settlement: 'summed up by day',
  // Not in the wallet before it is transferred.
  'invite-reward': 'left out',
  // Still in the wallet.
  reservation: 'left out',
  release: 'left out',
  // Of an API key, and of the house.
  allowance: 'left out',
  suspense: 'left out',
} as const satisfies Record<MovementCause, string>;
const lines = Object.entries(shown).flatMap(([cause, what]) => (what === 'line' ? [cause] : []));

interface Row {
  readonly time: string;
  readonly kind: string;
  readonly amount: number;
  readonly balance: number;
}

async function statement(month: string): Promise<Row[]> {
  const answer = await exports?.ask(alice, `/export/statement.csv?month=${month}&zone=Asia/Shanghai`);
  const [, ...rows] = (await answer?.body())?.trimEnd().split('\r\n') ?? [];
  return rows.map((row) => {
    const [time = '', kind = '', , amount, , balance] = row.split(',');
    return { time, kind, amount: Number(amount), balance: Number(balance) };
  });
}

test('a month closes with the opening balance of the next one, which equals the ledger at that time', async () => {
  const ledgerThen = (await balanceOf(await projected.given(...january), alice)).total;
  const ledgerNow = (await balanceOf(await projected.given(...february), alice)).total;
  const progress = await projected.start();
  exports = await serveExports(projected, { progress, clock: settableClock(Instant(border + 40 * 24 * hour)) });
  const [first, second] = [await statement('2026-01'), await statement('2026-02')];

  expect(first.at(0)).toEqual({ time: '2026-01-01 00:00:00', kind: 'opening', amount: 0, balance: 0 });
  expect(first.at(-1)).toEqual({ time: '2026-01-31 23:59:59', kind: 'closing', amount: 0, balance: ledgerThen });
  expect(second.at(0)).toEqual({ time: '2026-02-01 00:00:00', kind: 'opening', amount: 0, balance: ledgerThen });
  expect(second.at(-1)).toMatchObject({ kind: 'closing', balance: ledgerNow });
  for (const rows of [first, second])
    for (const [index, { amount, balance }] of rows.entries())
      expect(balance - (rows[index - 1]?.balance ?? balance - amount)).toBe(amount);

  expect(first.slice(1, -1).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['grant', 1_000],
    ['top-up', 5_000_000],
    ['top-up', 500_000],
    ['top-up', 250_000],
    ['top-up-return', -500_000],
    ['top-up-return', -4_500_000],
    ['top-up-return', 4_500_000],
    ['redemption', 500],
    ['invite-transfer', 200],
    ['adjustment', -50],
    ['refund', 30],
    ['correction', 10],
    ['calls', -95],
    ['calls', -11],
  ]);
  expect(second.slice(1, -1).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['adjustment', 100],
    ['calls', -601],
  ]);
  expect(new Set(first.slice(1, -1).map(({ kind }) => kind))).toEqual(new Set([...lines, 'calls']));
});
