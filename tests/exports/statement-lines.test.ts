import fc from 'fast-check';
import { expect, test } from 'vitest';
import { monthNamed } from '../../src/application/calendar.js';
import { type StatementLine, statementLines } from '../../src/application/usage/statement-lines.js';
import { beginning, type Recorded } from '../../src/domain/events/events.js';
import { PaymentId } from '../../src/domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../src/domain/kernel/instant.js';
import { movementsOf } from '../../src/domain/ledger/movements.js';
import { walletChanges } from '../../src/projections/models/wallets.js';
import {
  adjusted,
  alice,
  aliceKey,
  bob,
  bought,
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
  toRecord,
  transferred,
  when,
} from '../projections/history.js';
import { MemoryEventStore } from '../support/memory/memory-event-store.js';

interface Happening {
  readonly facts: readonly Fact[];
  /** What Alice's wallet gains. */
  readonly gain: number;
}

const orderOf = (id: string) => PaymentId(`USR7NO${id.padStart(6, 'A')}1767323045`);

/** Everything that can become of an amount; `id` is of nothing else. */
const happenings: readonly ((n: number, id: string) => Happening)[] = [
  (n) => ({ facts: [granted(alice, n)], gain: n }),
  (n) => ({ facts: [adjusted(alice, -n, 1)], gain: -n }),
  (n, id) => ({ facts: bought(alice, n, orderOf(id)), gain: n }),
  (n, id) => ({ facts: bought(alice, n, orderOf(id), { provider: 'stripe', learned: { by: 'poll' } }), gain: n }),
  (n, id) => ({
    facts: bought(alice, n, orderOf(id), { learned: { by: 'hand', user: bob, reason: 'in cash' } }),
    gain: n,
  }),
  // Refunded by a tenth, disputed, and the dispute won.
  (n, id) => ({
    facts: [...bought(alice, 10 * n, orderOf(id)), ...returned(alice, 10 * n, orderOf(id))],
    gain: 9 * n,
  }),
  (n, id) => ({
    facts: [...bought(alice, 10 * n, orderOf(id)), ...returned(alice, 10 * n, orderOf(id)).slice(0, 2)],
    gain: 0,
  }),
  (n, id) => ({ facts: [redeemed(Number(id), alice, n)], gain: n }),
  (n) => ({ facts: [rewarded(alice, n, bob)], gain: 0 }),
  (n) => ({ facts: [rewarded(alice, n, bob), transferred(alice, n)], gain: n }),
  (n, id) => ({ facts: [reserved(id, n), settled(id, n, n + 3)], gain: -n - 3 }),
  (n, id) => ({ facts: [reserved(id, n), settled(id, n, 0)], gain: 0 }),
  (n, id) => ({ facts: [reserved(id, n), settled(id, n, n), refunded(id, n)], gain: 0 }),
  (n, id) => ({ facts: [reserved(id, n), released(id, n)], gain: 0 }),
  (n, id) => ({ facts: [reserved(id, n)], gain: 0 }),
  (n) => ({ facts: [issued(aliceKey, alice, n)], gain: 0 }),
  (n) => ({ facts: [granted(bob, n)], gain: 0 }),
];

const history = fc.array(
  fc.record({
    happening: fc.nat(happenings.length - 1),
    amount: fc.integer({ min: 1, max: 1_000_000 }),
    /** Minutes until the next step of it, and of the history. */
    wait: fc.nat(3 * 24 * 60),
  }),
  { minLength: 5, maxLength: 60 },
);
const zones = ['UTC', 'Asia/Shanghai', 'Asia/Kathmandu', 'America/New_York', 'Pacific/Apia'];
const months = ['2026-02', '2026-03', '2026-04', '2026-05'];
const start = Date.UTC(2026, 1, 2);
const now = Instant(Date.UTC(2026, 5, 2));

async function recordedOf(facts: readonly Fact[]): Promise<readonly Recorded[]> {
  const store = new MemoryEventStore();
  for (const fact of facts) {
    const { ok } = await store.append(fact.stream, [toRecord(fact)], 'any');
    if (!ok) throw new Error('the history contradicts itself');
  }
  return store.readAll(beginning, 10_000);
}

/** As the tables would list it: in order, in pages, calls by the quarter of an hour. */
function walletOf(events: readonly Recorded[], batch: number) {
  const changes = Array.from({ length: Math.ceil(events.length / batch) }, (_, n) =>
    walletChanges(events.slice(n * batch, (n + 1) * batch)),
  );
  const movements = changes.flatMap(({ moved }) => moved.filter(({ user_id }) => user_id === alice));
  const charges = new Map<number, { quarter: number; calls: number; amount: bigint }>();
  for (const { user_id, quarter, calls, amount } of changes.flatMap(({ charged }) => charged)) {
    if (user_id !== alice) continue;
    const before = charges.get(quarter);
    charges.set(quarter, { quarter, calls: calls + (before?.calls ?? 0), amount: amount + (before?.amount ?? 0n) });
  }
  return { movements, charges: [...charges.values()].sort((a, b) => a.quarter - b.quarter) };
}

const sum = (amounts: readonly (bigint | null)[]): bigint =>
  amounts.reduce<bigint>((all, one) => all + (one ?? 0n), 0n);

test('opening balance and lines add up to the closing balance, month after month, up to the ledger, with any events', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.constantFrom(...zones),
      fc.integer({ min: 1, max: 40 }),
      async (steps, zone, batch) => {
        let at = start;
        let expected = 0n;
        const facts = steps.flatMap(({ happening, amount, wait }, index) => {
          const { facts: happened, gain } = happenings[happening]?.(amount, String(index + 1)) ?? {
            facts: [],
            gain: 0,
          };
          expected += BigInt(gain);
          return happened.map((fact) => {
            at += wait * 60_000;
            return when(Instant(Math.min(at, now - 1)), fact);
          });
        });
        const events = await recordedOf(facts);
        const wallet = walletOf(events, batch);

        let balance = 0n;
        for (const name of [...months, '2026-06']) {
          const month = monthNamed(name, zone, now);
          const { from, to } = month;
          const isIn = (instant: number) => instant >= from && instant < to;
          const earlier = [
            ...wallet.movements.filter((movement) => movement.at < from),
            ...wallet.charges.filter(({ quarter }) => quarter < unixSeconds(from)),
          ];
          const range = {
            opening: sum(earlier.map(({ amount }) => amount)),
            charges: wallet.charges.filter(({ quarter }) => isIn(quarter * 1000)),
          };
          const movements = wallet.movements.filter((movement) => isIn(movement.at));
          async function* pages() {
            for (let n = 0; n < movements.length; n += 7) yield movements.slice(n, n + 7);
          }
          const lines: StatementLine[] = [];
          for await (const page of statementLines(month, range, pages(), now)) lines.push(...page);

          expect([lines.at(0)?.kind, lines.at(0)?.balance]).toEqual(['opening', balance]);
          expect([...lines].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))).toEqual(lines);
          for (const line of lines.slice(1)) {
            balance += line.amount ?? 0n;
            expect(line.balance).toBe(balance);
          }
          expect(lines.at(-1)?.kind).toBe('closing');
        }
        const postings = events.flatMap(movementsOf).flatMap((movement) => movement.postings);
        const ledger = postings.map((posting) =>
          posting.owner === 'user' && posting.id === alice ? posting.amount : 0n,
        );
        expect(balance).toBe(sum(ledger));
        expect(balance).toBe(expected);
      },
    ),
    { numRuns: 100 },
  );
}, 60_000);
