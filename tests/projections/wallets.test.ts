import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginning } from '../../src/domain/events/events.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { walletMovements, walletOver } from '../../src/projections/models/wallet-queries.js';
import { balanceOf } from '../support/postgres/ledger-reads.js';
import {
  adjusted,
  alice,
  bob,
  type Fact,
  granted,
  refunded,
  released,
  reserved,
  rewarded,
  settled,
  transferred,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const quarterMs = 15 * 60_000;
const start = Date.UTC(2026, 0, 1);
let calls = 0;

/** What one step of a history records. */
const steps = [
  (n: number) => [granted(alice, n)],
  (n: number) => [adjusted(alice, -n)],
  (n: number) => [rewarded(alice, n, bob), transferred(alice, n)],
  (n: number) => [reserved(`w${calls}`, n), settled(`w${calls}`, n, n + 3)],
  (n: number) => [reserved(`w${calls}`, n), released(`w${calls}`, n)],
  (n: number) => [reserved(`w${calls}`, n), settled(`w${calls}`, n, n), refunded(`w${calls}`, n)],
  // Still under way.
  (n: number) => [reserved(`w${calls}`, n)],
  (n: number) => [granted(bob, n)],
];

test('opening balance and movements add up to the closing balance, which in the end is the ledger’s balance', async () => {
  const history = fc.array(
    fc.record({
      step: fc.nat(steps.length - 1),
      amount: fc.integer({ min: 1, max: 900 }),
      wait: fc.nat(3 * quarterMs),
    }),
    { minLength: 30, maxLength: 60 },
  );
  let now = start;
  await fc.assert(
    fc.asyncProperty(history, fc.nat(200), async (moves, border) => {
      const facts = moves.flatMap(({ step, amount, wait }): Fact[] => {
        now += wait;
        calls += 1;
        return (steps[step]?.(amount) ?? []).map((fact) => when(Instant(now), fact));
      });
      const db = await projected.given(...facts);
      const middle = Instant(start + border * quarterMs);
      const ledger = BigInt((await balanceOf(db, alice)).total);
      let balance = 0n;
      for (const range of [
        { from: Instant(start), to: middle },
        { from: middle, to: Instant(start + 1e12) },
      ]) {
        const { opening, charges, position } = await walletOver(db, alice, range);
        expect(opening).toBe(balance);
        let after = null;
        for (;;) {
          const page = await walletMovements(db, alice, range, { upTo: position, after, limit: 7 });
          for (const { amount } of page) balance += amount;
          after = page.at(-1) ?? null;
          if (after === null) break;
        }
        for (const { amount } of charges) balance += amount;
      }
      expect(balance).toBe(ledger);
    }),
    { numRuns: 12 },
  );
}, 60_000);

test('wallet pages omit events that the snapshot has not folded', async () => {
  const db = await projected.given(granted(alice, 5));
  const range = { from: Instant(0), to: Instant(start * 2) };
  expect(await walletMovements(db, alice, range, { upTo: beginning, after: null, limit: 9 })).toEqual([]);
});
