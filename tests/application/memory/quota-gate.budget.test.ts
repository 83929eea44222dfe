import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { type Budget, type BudgetPeriod, periodAt, spentOn } from '../../../src/domain/ledger/budget.js';
import {
  admit,
  admitted,
  alice,
  type GateWorld,
  key,
  refused,
  remaining,
  worldWith,
} from '../../support/memory/gate-world.js';

const hour = 3_600_000;
const wednesdayNoon = Date.parse('2026-03-04T12:00:00Z');
const budgetOf = (quota: number, period: BudgetPeriod = 'daily'): Budget => ({ quota: Quota(quota), period });
const short = (available: number, budget: Budget, resetsAt: string) => ({
  ...{ admitted: false, short: 'budget', available, budget },
  resetsAt: Instant(Date.parse(resetsAt)),
  resetsInMs: Date.parse(resetsAt) - wednesdayNoon,
});

function worldAtNoon(userQuota = 10_000, keyQuota = 10_000): GateWorld {
  const world = worldWith(userQuota, keyQuota);
  world.clock.advance(wednesdayNoon - world.clock.now());
  return world;
}

/** A whole call, as the gate and the log see it. */
async function call(world: GateWorld, id: string, charged: number, budget: Budget): Promise<void> {
  expect(await admit(world, id, charged, { budget })).toStrictEqual(admitted(charged));
  world.reserve(id, { quota: charged });
  world.settle(id, { quota: charged, charged });
  await world.gate.settled(CallId(id), Quota(charged));
}

describe('a budget', () => {
  test('refuses a call that it cannot cover, with the time of its renewal', async () => {
    for (const [period, resetsAt] of [
      ['daily', '2026-03-05T00:00:00Z'],
      ['weekly', '2026-03-09T00:00:00Z'],
      ['monthly', '2026-04-01T00:00:00Z'],
    ] as const) {
      const world = worldAtNoon();
      const budget = budgetOf(100, period);
      await call(world, 'c1', 70, budget);
      expect(await admit(world, 'c2', 31, { budget })).toStrictEqual(short(30, budget, resetsAt));
      expect(await admit(world, 'c3', 30, { budget })).toStrictEqual(admitted(30));
    }
  });

  test('limits an unlimited API key, too', async () => {
    const world = worldAtNoon(10_000, 0);
    const budget = budgetOf(100);
    expect(await admit(world, 'c1', 100, { unlimited: true, budget })).toStrictEqual(admitted(100));
    expect(await admit(world, 'c2', 1, { unlimited: true, budget })).toMatchObject({ short: 'budget', available: 0 });
  });

  test('lets 200 parallel calls share an amount for 10', async () => {
    const world = worldAtNoon();
    const budget = budgetOf(1_000);
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, n) => admit(world, `c${n}`, 100, { budget })));
    expect(verdicts.filter((verdict) => verdict.admitted)).toHaveLength(10);
    expect(await remaining(world)).toStrictEqual({ user: 9_000, key: 9_000 });
  });

  test('grants the rest to a call that accepts less', async () => {
    const budget = budgetOf(100);
    expect(await admit(worldAtNoon(), 'c1', 500, { budget, min: 40 })).toStrictEqual(admitted(100));
  });

  test('that is spent refuses even a free call', async () => {
    const world = worldAtNoon();
    const budget = budgetOf(100);
    await call(world, 'c1', 100, budget);
    expect(await admit(world, 'c2', 0, { budget })).toMatchObject({ short: 'budget', available: 0 });
  });

  test('is not checked for a call without an API key', async () => {
    expect(await admit(worldAtNoon(), 'c1', 500, { apiKey: null, budget: budgetOf(1) })).toStrictEqual(admitted(500));
  });

  test('is checked before the balance of the user, and after the allowance of the key', async () => {
    const budget = budgetOf(50);
    expect(await admit(worldAtNoon(10, 10), 'c1', 60, { budget })).toStrictEqual(refused('api-key', 10));
    expect(await admit(worldAtNoon(10, 100), 'c1', 60, { budget })).toMatchObject({ short: 'budget' });
    expect(await admit(worldAtNoon(10, 100), 'c1', 40, { budget })).toStrictEqual(refused('user', 10));
  });

  test('limits how far a reservation grows, and how much of a more expensive call is charged', async () => {
    const world = worldAtNoon();
    await admit(world, 'c1', 60, { budget: budgetOf(100) });
    expect(await world.gate.extend(CallId('c1'), Quota(101))).toBe(false);
    expect(await world.gate.extend(CallId('c1'), Quota(100))).toBe(true);
    expect(await world.gate.charge(CallId('c1'), Quota(150))).toBe(100);
    expect(await admit(world, 'c2', 1, { budget: budgetOf(100) })).toMatchObject({ short: 'budget', available: 0 });
  });

  test('gets back what a call reserved and did not cost, or never used', async () => {
    const world = worldAtNoon();
    const budget = budgetOf(100);
    await admit(world, 'c1', 100, { budget });
    world.reserve('c1', { quota: 100 });
    world.settle('c1', { quota: 100, charged: 25 });
    await world.gate.settled(CallId('c1'), Quota(25));
    await admit(world, 'c2', 75, { budget });
    await world.gate.drop(CallId('c2'));
    expect(await admit(world, 'c3', 75, { budget })).toStrictEqual(admitted(75));
  });

  test('is renewed at the next period, whatever was spent before', async () => {
    const world = worldAtNoon();
    const budget = budgetOf(100);
    await call(world, 'c1', 100, budget);
    world.deliver();
    world.clock.advance(12 * hour - 1);
    expect(await admit(world, 'c2', 1, { budget })).toMatchObject({ short: 'budget' });
    world.clock.advance(1);
    expect(await admit(world, 'c3', 100, { budget })).toStrictEqual(admitted(100));
  });

  test('counts a call that runs past midnight in the period of its settlement, and its reservation from midnight on', async () => {
    const world = worldAtNoon();
    const budget = budgetOf(100);
    await admit(world, 'c1', 60, { budget });
    world.reserve('c1', { quota: 60 });
    world.clock.advance(12 * hour);
    expect(await admit(world, 'c2', 41, { budget })).toMatchObject({ short: 'budget', available: 40 });
    world.settle('c1', { quota: 60, charged: 60 });
    world.deliver();
    expect(await admit(world, 'c2', 41, { budget })).toMatchObject({ short: 'budget', available: 40 });
    world.clock.advance(24 * hour);
    expect(await admit(world, 'c2', 100, { budget })).toStrictEqual(admitted(100));
  });

  test('gets back a refund in the period of the charge', async () => {
    const world = worldAtNoon();
    const budget = budgetOf(100, 'weekly');
    const settledAt = world.clock.now();
    await call(world, 'c1', 100, budget);
    world.deliver();
    world.clock.advance(24 * hour);
    world.refund('c1', { charged: 100, settledAt });
    world.deliver();
    expect(await admit(world, 'c2', 100, { budget })).toStrictEqual(admitted(100));
    await world.gate.drop(CallId('c2'));
    expect(await admit(world, 'c3', 101, { budget: budgetOf(100) })).toMatchObject({ available: 100 });
  });

  test('that is changed includes what was spent under the previous one, or without any', async () => {
    const world = worldAtNoon();
    await call(world, 'c1', 60, budgetOf(100));
    await admit(world, 'c2', 20);
    world.reserve('c2', { quota: 20 });
    world.settle('c2', { quota: 20, charged: 20 });
    world.deliver();
    world.clock.advance(24 * hour);
    const weekly = budgetOf(100, 'weekly');
    expect(await admit(world, 'c3', 21, { budget: weekly })).toMatchObject({ short: 'budget', available: 20 });
    expect(await admit(world, 'c4', 21, { budget: budgetOf(100) })).toStrictEqual(admitted(21));
  });

  test('is the same after a restart as before', async () => {
    const world = worldAtNoon();
    const budget = budgetOf(100);
    await call(world, 'c1', 30, budget);
    world.deliver();
    world.project();
    await call(world, 'c2', 30, budget);
    await admit(world, 'c3', 15, { budget });
    world.reserve('c3', { quota: 15 });
    world.deliver();
    world.restart();
    expect(await admit(world, 'c4', 26, { budget })).toMatchObject({ short: 'budget', available: 25 });
    expect(await admit(world, 'c4', 25, { budget })).toStrictEqual(admitted(25));
  });

  test('survives a clock that is set back by a day at the first of a month', async () => {
    const world = worldAtNoon();
    const budget = budgetOf(100, 'monthly');
    await call(world, 'c1', 60, budget);
    world.deliver();
    world.project();
    world.clock.advance(Date.parse('2026-04-01T00:00:01Z') - world.clock.now());
    world.restart();
    expect(await world.gate.remaining(key)).toBe(9_940);
    world.clock.advance(-24 * hour);
    expect(await admit(world, 'c2', 41, { budget })).toMatchObject({ short: 'budget', available: 40 });
  });
});

/*
 * What the owner was promised, stated without the gate: in no period do calls cost more than the budget, as long as
 * none costs more than it held.
 */
test('no period costs more than the budget, whatever happens in whatever order', async () => {
  const step = fc.record({
    kind: fc.constantFrom('admit', 'admit', 'admit', 'extend', 'settle', 'settle', 'drop', 'echo', 'pass', 'restart'),
    which: fc.nat(20),
    quota: fc.integer({ min: 0, max: 60 }),
    share: fc.constantFrom(0, 0.3, 1),
    hours: fc.integer({ min: 1, max: 60 }),
  });
  let [refusals, periods] = [0, 0];
  const runs = fc.asyncProperty(
    fc.constantFrom<BudgetPeriod>('daily', 'weekly', 'monthly'),
    fc.array(step, { minLength: 30, maxLength: 100, size: 'max' }),
    async (period, steps) => {
      const world = worldAtNoon(1_000_000, 1_000_000);
      const budget = budgetOf(100, period);
      let open: { id: string; reserved: number; held: number }[] = [];
      const spentIn = new Map<number, number>();
      for (const [index, { kind, which, quota, share, hours }] of steps.entries()) {
        const chosen = open[which % Math.max(1, open.length)];
        if (kind === 'admit') {
          const id = `c${index}`;
          const verdict = await admit(world, id, quota, { budget, min: Math.floor(quota * share), unlimited: true });
          if (verdict.admitted) {
            open.push({ id, reserved: verdict.granted, held: verdict.granted });
            world.reserve(id, { quota: verdict.granted });
          } else refusals += 1;
        } else if (kind === 'echo') world.deliver(which + 1);
        else if (kind === 'pass') world.clock.advance(hours * hour);
        else if (kind === 'restart') {
          // What the node alone knew, by how much holds had grown, is gone with those who would have used it.
          open = open.map(({ id, reserved }) => ({ id, reserved, held: reserved }));
          world.deliver();
          world.project(which);
          world.restart();
        } else if (chosen !== undefined) {
          if (kind === 'extend') {
            if (await world.gate.extend(CallId(chosen.id), Quota(chosen.held + quota))) chosen.held += quota;
          } else {
            open = open.filter(({ id }) => id !== chosen.id);
            const charged = kind === 'drop' ? 0 : Math.floor(chosen.held * share);
            if (kind === 'drop') world.release(chosen.id, { quota: chosen.reserved });
            else world.settle(chosen.id, { quota: chosen.reserved, charged });
            await world.gate.settled(CallId(chosen.id), Quota(charged));
            const { first } = periodAt(period, world.clock.now());
            spentIn.set(first, (spentIn.get(first) ?? 0) + charged);
          }
        }
        for (const spent of spentIn.values()) expect(spent).toBeLessThanOrEqual(100);
      }
      periods += spentIn.size;
      // The log, folded by those who never saw the gate, says the same.
      world.project();
      const { spending } = world.snapshotOf({ apiKey: key });
      for (const [first, spent] of spentIn)
        expect(spentOn(periodAt(period, Instant(first * 24 * hour)), spending)).toBe(BigInt(spent));
      expect(await world.gate.available(alice)).toBeGreaterThan(0);
    },
  );
  await fc.assert(runs, { numRuns: 300 });
  // The runs must have been about something.
  expect(refusals).toBeGreaterThan(300);
  expect(periods).toBeGreaterThan(300);
});
