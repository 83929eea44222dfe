import { describe, expect, test } from 'vitest';
import { CallId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
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

const charge = ({ gate }: GateWorld, call: string, cost: number): Promise<number | null> =>
  gate.charge(CallId(call), Quota(cost));

/** The settlement in the log, and known as durable. */
const settle = async (world: GateWorld, call: string, reserved: number, charged: number): Promise<void> => {
  world.reserve(call, { quota: reserved });
  world.settle(call, { quota: reserved, charged });
  await world.gate.settled(CallId(call), Quota(charged));
};

const unlimited = { unlimited: true } as const;
const daily = (quota: number) => ({ quota: Quota(quota), period: 'daily' }) as const;

describe('a call that cost more than its reservation', () => {
  test('is charged from what another call has reserved, down to zero and not below', async () => {
    const world = worldWith(1_000, 0);
    await admit(world, 'a', 990, unlimited);
    expect(await admit(world, 'b', 500, { ...unlimited, min: 5 })).toStrictEqual(admitted(10));
    expect(await charge(world, 'b', 400)).toBe(400);
    await settle(world, 'b', 10, 400);
    expect(await world.gate.available(alice)).toBe(0);
    expect(await admit(world, 'c', 0, unlimited)).toStrictEqual(refused('user', 0));
    world.deliver();
    expect(await world.gate.available(alice)).toBe(0);
    expect(await charge(world, 'a', 990)).toBe(600);
  });

  test('leaves the rest to the other call once that is released', async () => {
    const world = worldWith(1_000, 0);
    await admit(world, 'a', 990, unlimited);
    await admit(world, 'b', 500, { ...unlimited, min: 5 });
    await settle(world, 'b', 10, (await charge(world, 'b', 400)) ?? 0);
    world.reserve('a', { quota: 990 });
    world.release('a', { quota: 990 });
    await world.gate.settled(CallId('a'), Quota(0));
    expect(await world.gate.available(alice)).toBe(600);
    world.deliver();
    expect(await world.gate.available(alice)).toBe(600);
  });

  test('is charged with all others no more than the balance, in whatever order they end', async () => {
    const world = worldWith(900, 0);
    const granted: number[] = [];
    for (let n = 0; n < 40; n++) {
      const verdict = await admit(world, `c${n}`, 60, { ...unlimited, min: 20 });
      if (verdict.admitted) granted.push(n);
    }
    const charges = await Promise.all(granted.map(async (n) => (await charge(world, `c${n}`, 100)) ?? 0));
    expect(charges.reduce((sum, one) => sum + one, 0)).toBe(900);
    for (const [at, n] of granted.entries()) await settle(world, `c${n}`, 60, charges[at] ?? 0);
    world.deliver();
    expect(await world.gate.balance(alice)).toBe(0);
  });

  test('has its charge decided again when its settlement is repeated', async () => {
    const world = worldWith(100, 0);
    await admit(world, 'a', 50, unlimited);
    expect(await charge(world, 'a', 80)).toBe(80);
    expect(await charge(world, 'a', 70)).toBe(70);
    await admit(world, 'b', 20, { ...unlimited, min: 1 });
    expect(await charge(world, 'b', 100)).toBe(30);
  });

  test('keeps its charge once its settlement is durable, whatever recovery asks, and others what they have reserved', async () => {
    const world = worldWith(100, 0);
    await admit(world, 'a', 50, unlimited);
    await admit(world, 'b', 40, unlimited);
    await settle(world, 'a', 50, (await charge(world, 'a', 60)) ?? 0);
    const left = { callId: CallId('a'), userId: alice, apiKeyId: key, reserved: Quota(50) };
    expect(await world.gate.chargeLeft(left, Quota(90))).toBe(60);
    expect(await charge(world, 'a', 90)).toBe(60);
    expect(await charge(world, 'b', 40)).toBe(40);
  });

  test('is charged no more than the allowance of a limited key, which other calls of the key have reserved', async () => {
    const world = worldWith(100_000, 1_000);
    await admit(world, 'a', 990);
    await admit(world, 'b', 500, { min: 5 });
    expect(await charge(world, 'b', 400)).toBe(400);
    expect(await charge(world, 'a', 990)).toBe(600);
    await settle(world, 'b', 10, 400);
    await settle(world, 'a', 990, 600);
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 99_000, key: 0 });
  });

  test('is charged no more than its budget leaves, which other calls of the key have reserved', async () => {
    const world = worldWith(100_000, 0);
    const terms = { ...unlimited, budget: daily(1_000) };
    await admit(world, 'a', 990, terms);
    await admit(world, 'b', 500, { ...terms, min: 5 });
    expect(await charge(world, 'b', 400)).toBe(400);
    await settle(world, 'b', 10, 400);
    world.deliver();
    expect(await charge(world, 'a', 990)).toBe(600);
    expect(await admit(world, 'c', 1, terms)).toMatchObject({ short: 'budget', available: 0 });
  });
});

describe('quota that an owner removes while a call is in flight', () => {
  test('is not removed from a reservation: the allowance of a key, or quota of the user', async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'a', 400);
    world.editKey(key, -500);
    world.adjust(alice, -900);
    world.deliver();
    expect(await charge(world, 'a', 400)).toBe(400);
  });

  test('makes no call cheaper: of two budgets of a key the larger one counts', async () => {
    const world = worldWith(100_000, 0);
    await admit(world, 'a', 900, { ...unlimited, budget: daily(1_000) });
    await admit(world, 'b', 50_000, { ...unlimited, budget: daily(90_000) });
    await settle(world, 'b', 50_000, (await charge(world, 'b', 50_000)) ?? 0);
    expect(await charge(world, 'a', 900)).toBe(900);
  });
});

describe('a call that a dead process left behind', () => {
  const leftCall = (reserved: number) => ({
    callId: CallId('theirs'),
    userId: alice,
    apiKeyId: key,
    reserved: Quota(reserved),
  });

  test('is charged for its cost beyond its reservation, up to the balance, and once', async () => {
    const world = worldWith(1_000, 500);
    world.reserve('theirs', { quota: 300 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 700, key: 200 });
    expect(await world.gate.chargeLeft(leftCall(300), Quota(400))).toBe(400);
    expect(await world.gate.chargeLeft(leftCall(300), Quota(1_400))).toBe(1_000);
    expect(await world.gate.chargeLeft(leftCall(300), Quota(450))).toBe(450);
    world.settle('theirs', { quota: 300, charged: 450 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 550, key: 50 });
  });

  test('is charged less than its reservation where others have taken that', async () => {
    const world = worldWith(1_000, 0);
    world.reserve('theirs', { quota: 900 });
    world.deliver();
    await admit(world, 'b', 500, { ...unlimited, min: 5 });
    await settle(world, 'b', 100, (await charge(world, 'b', 700)) ?? 0);
    expect(await world.gate.chargeLeft(leftCall(900), Quota(900))).toBe(300);
  });

  test('has no reservation at the gate where it has ended in the log', async () => {
    const world = worldWith(1_000, 500);
    world.reserve('theirs', { quota: 300 });
    world.settle('theirs', { quota: 300, charged: 200 });
    world.deliver();
    expect(await world.gate.chargeLeft(leftCall(300), Quota(400))).toBe(300);
    expect(await remaining(world)).toStrictEqual({ user: 800, key: 300 });
  });
});
