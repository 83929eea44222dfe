import { describe, expect, test } from 'vitest';
import { CallId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import {
  admit,
  admitted,
  alice,
  bob,
  key,
  otherKey,
  refused,
  remaining,
  worldWith,
} from '../../support/memory/gate-world.js';

describe('admission by the quota gate', () => {
  test('reserves the estimate for user and API key together', async () => {
    const world = worldWith(1_000, 500);
    expect(await admit(world, 'c1', 200)).toStrictEqual(admitted(200));
    expect(await remaining(world)).toStrictEqual({ user: 800, key: 300 });
  });

  test('is possible down to the last unit', async () => {
    const world = worldWith(100, 100);
    expect(await admit(world, 'c1', 100)).toStrictEqual(admitted(100));
    expect(await remaining(world)).toStrictEqual({ user: 0, key: 0 });
  });

  test('is refused when the user lacks quota, and then reserves nothing on the key', async () => {
    const world = worldWith(100, 500);
    expect(await admit(world, 'c1', 101)).toStrictEqual(refused('user', 100));
    expect(await remaining(world)).toStrictEqual({ user: 100, key: 500 });
  });

  test('is refused when the API key lacks quota, and then reserves nothing on the user', async () => {
    const world = worldWith(1_000, 100);
    expect(await admit(world, 'c1', 101)).toStrictEqual(refused('api-key', 100));
    expect(await remaining(world)).toStrictEqual({ user: 1_000, key: 100 });
  });

  test('of a free call is refused to a user with a balance of zero or less', async () => {
    expect(await admit(worldWith(0, 500), 'c1', 0)).toStrictEqual(refused('user', 0));
    expect(await admit(worldWith(-5, 500), 'c1', 0)).toStrictEqual(refused('user', -5));
    expect(await admit(worldWith(500, 0), 'c1', 0)).toStrictEqual(refused('api-key', 0));
    expect(await admit(worldWith(500, -5), 'c1', 0)).toStrictEqual(refused('api-key', -5));
    expect(await admit(worldWith(1, 1), 'c1', 0)).toStrictEqual(admitted(0));
  });

  test('with an unlimited API key is limited by the user only; the key is still counted', async () => {
    const world = worldWith(1_000, 0);
    expect(await admit(world, 'c1', 600, { unlimited: true })).toStrictEqual(admitted(600));
    expect(await remaining(world)).toStrictEqual({ user: 400, key: -600 });
    expect(await admit(world, 'c2', 401, { unlimited: true })).toStrictEqual(refused('user', 400));
  });

  test('without an API key concerns the user only', async () => {
    const world = worldWith(1_000, 10);
    expect(await admit(world, 'c1', 600, { apiKey: null })).toStrictEqual(admitted(600));
    expect(await remaining(world)).toStrictEqual({ user: 400, key: 10 });
  });

  test('lets 200 parallel calls share an amount for 10', async () => {
    const world = worldWith(1_000, 5_000);
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, n) => admit(world, `c${n}`, 100)));
    expect(verdicts.filter((verdict) => verdict.admitted)).toHaveLength(10);
    expect(await remaining(world)).toStrictEqual({ user: 0, key: 4_000 });
  });

  test('lets 200 parallel calls by two API keys share their user’s amount for 10', async () => {
    const world = worldWith(1_000, 700);
    world.issueKey(13, 700);
    world.deliver();
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, n) => admit(world, `c${n}`, 100, { apiKey: n % 2 === 0 ? key : otherKey })),
    );
    expect(verdicts.filter((verdict) => verdict.admitted)).toHaveLength(10);
    expect(await world.gate.available(alice)).toBe(0);
    expect((await world.gate.remaining(key)) + (await world.gate.remaining(otherKey))).toBe(400);
  });

  test('of an in-flight call is refused, and keeps its reservation', async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'c1', 200);
    await expect(admit(world, 'c1', 100)).rejects.toMatchObject({ code: 'lost-race' });
    expect(await remaining(world)).toStrictEqual({ user: 800, key: 300 });
    await world.gate.drop(CallId('c1'));
    expect(await remaining(world)).toStrictEqual({ user: 1_000, key: 500 });
  });

  test('for one user does not affect another', async () => {
    const world = worldWith(100, 1_000);
    world.grant(8, 100);
    world.deliver();
    expect(await admit(world, 'c1', 100)).toStrictEqual(admitted(100));
    expect(await admit(world, 'c2', 100, { user: bob, apiKey: null })).toStrictEqual(admitted(100));
    expect(await world.gate.available(bob)).toBe(0);
  });
});

describe('extending a reservation', () => {
  test('raises it to the amount given', async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'c1', 200);
    expect(await world.gate.extend(CallId('c1'), Quota(500))).toBe(true);
    expect(await remaining(world)).toStrictEqual({ user: 500, key: 0 });
  });

  test('beyond what user or API key can afford changes nothing', async () => {
    const poorUser = worldWith(300, 500);
    await admit(poorUser, 'c1', 200);
    expect(await poorUser.gate.extend(CallId('c1'), Quota(301))).toBe(false);
    expect(await remaining(poorUser)).toStrictEqual({ user: 100, key: 300 });

    const poorKey = worldWith(500, 300);
    await admit(poorKey, 'c1', 200);
    expect(await poorKey.gate.extend(CallId('c1'), Quota(301))).toBe(false);
    expect(await remaining(poorKey)).toStrictEqual({ user: 300, key: 100 });
  });

  test('does not check an unlimited API key', async () => {
    const world = worldWith(1_000, 0);
    await admit(world, 'c1', 200, { unlimited: true });
    expect(await world.gate.extend(CallId('c1'), Quota(1_000))).toBe(true);
    expect(await remaining(world)).toStrictEqual({ user: 0, key: -1_000 });
  });

  test('to less than before changes nothing', async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'c1', 200);
    expect(await world.gate.extend(CallId('c1'), Quota(100))).toBe(true);
    expect(await remaining(world)).toStrictEqual({ user: 800, key: 300 });
  });

  test('of a call that was not admitted is refused', async () => {
    expect(await worldWith(1_000, 500).gate.extend(CallId('c1'), Quota(1))).toBe(false);
  });

  test('survives the echo of the reservation, which has the first amount only', async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'c1', 200);
    await world.gate.extend(CallId('c1'), Quota(400));
    world.reserve('c1', { quota: 200 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 600, key: 100 });
  });
});

describe('a settlement', () => {
  const settledWorld = async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'c1', 200);
    world.reserve('c1', { quota: 200 });
    world.settle('c1', { quota: 200, charged: 150 });
    return world;
  };

  test('counts as the charge from the moment it is durable, before the tail has it', async () => {
    const world = await settledWorld();
    await world.gate.settled(CallId('c1'), Quota(150));
    expect(await remaining(world)).toStrictEqual({ user: 850, key: 350 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 850, key: 350 });
  });

  test('counts once when the tail was faster', async () => {
    const world = await settledWorld();
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 850, key: 350 });
    await world.gate.settled(CallId('c1'), Quota(150));
    expect(await remaining(world)).toStrictEqual({ user: 850, key: 350 });
  });

  test('counts the same between the echo of the reservation and its own', async () => {
    const world = await settledWorld();
    world.deliver(1);
    await world.gate.settled(CallId('c1'), Quota(150));
    expect(await remaining(world)).toStrictEqual({ user: 850, key: 350 });
    world.deliver(1);
    expect(await remaining(world)).toStrictEqual({ user: 850, key: 350 });
  });

  test('above the reservation may make a balance negative: the work was done', async () => {
    const world = worldWith(200, 500);
    await admit(world, 'c1', 200);
    world.reserve('c1', { quota: 200 });
    world.settle('c1', { quota: 200, charged: 230 });
    await world.gate.settled(CallId('c1'), Quota(230));
    expect(await remaining(world)).toStrictEqual({ user: -30, key: 270 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: -30, key: 270 });
    expect(await admit(world, 'c2', 0)).toStrictEqual(refused('user', -30));
  });

  test('ends the call: it can no longer be extended', async () => {
    const world = await settledWorld();
    world.deliver();
    expect(await world.gate.extend(CallId('c1'), Quota(900))).toBe(false);
  });
});

describe('a released reservation', () => {
  test('is available again as soon as the release is durable', async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'c1', 200);
    world.reserve('c1', { quota: 200 });
    world.release('c1', { quota: 200 });
    await world.gate.settled(CallId('c1'), Quota(0));
    expect(await remaining(world)).toStrictEqual({ user: 1_000, key: 500 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 1_000, key: 500 });
  });

  test('is available again when the tail brings the release', async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'c1', 200);
    world.reserve('c1', { quota: 200 });
    world.release('c1', { quota: 200 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 1_000, key: 500 });
  });

  test('is dropped if it never became durable', async () => {
    const world = worldWith(1_000, 500);
    await admit(world, 'c1', 200);
    await world.gate.drop(CallId('c1'));
    expect(await remaining(world)).toStrictEqual({ user: 1_000, key: 500 });
    await world.gate.drop(CallId('c1'));
    expect(await remaining(world)).toStrictEqual({ user: 1_000, key: 500 });
    expect(await world.gate.extend(CallId('c1'), Quota(10))).toBe(false);
  });
});

describe('an event of others at the gate', () => {
  test('counts when the tail brings it: grants, adjustments, edits of the key', async () => {
    const world = worldWith(1_000, 500);
    await remaining(world);
    world.grant(7, 100);
    world.adjust(7, -300);
    world.editKey(12, 50);
    world.grant(8, 9_999);
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 800, key: 550 });
  });

  test('is included for calls of another node', async () => {
    const world = worldWith(1_000, 500);
    await remaining(world);
    world.reserve('theirs', { quota: 300 });
    world.reserve('theirs too', { quota: 100 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 600, key: 100 });
    world.settle('theirs', { quota: 300, charged: 250 });
    world.release('theirs too', { quota: 100 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 750, key: 250 });
  });

  test('without an API key leaves every key unchanged', async () => {
    const world = worldWith(1_000, 500);
    await remaining(world);
    world.reserve('playground', { quota: 300, apiKeyId: null });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 700, key: 500 });
  });
});

describe('a spent API key', () => {
  test('has nothing left even if all its reservations are released', async () => {
    const world = worldWith(1_000, 100);
    await admit(world, 'c1', 100);
    expect(await world.gate.remaining(key)).toBe(0);
    expect(await world.gate.isSpent(key)).toBe(false);
    world.reserve('c1', { quota: 100 });
    world.settle('c1', { quota: 100, charged: 100 });
    world.deliver();
    expect(await world.gate.isSpent(key)).toBe(true);
  });

  test('is reported once, when it becomes spent', async () => {
    const world = worldWith(1_000, 100);
    const spent: number[] = [];
    world.gate.onSpent((id) => spent.push(id));
    await admit(world, 'c1', 60);
    await admit(world, 'c2', 40);
    world.reserve('c1', { quota: 60 });
    world.reserve('c2', { quota: 40 });
    world.settle('c1', { quota: 60, charged: 60 });
    world.deliver();
    expect(spent).toEqual([]);
    world.settle('c2', { quota: 40, charged: 40 });
    world.deliver();
    expect(spent).toEqual([key]);
    world.editKey(key, -10);
    world.deliver();
    expect(spent).toEqual([key]);
    world.editKey(key, 100);
    world.editKey(key, -100);
    world.deliver();
    expect(spent).toEqual([key, key]);
  });

  test('may become spent unnoticed when the key is evicted for another: that is reported as well', async () => {
    const world = worldWith(1_000, 100, { capacity: 1 });
    world.issueKey(otherKey, 100);
    world.deliver();
    world.project();
    const notified: number[] = [];
    world.gate.onSpent((id) => notified.push(id));
    await world.gate.isSpent(key);
    expect(notified).toEqual([]);
    await world.gate.isSpent(otherKey);
    expect(notified).toEqual([key]);
  });
});

describe('an amount at the limit of integers', () => {
  test('stops neither the tail nor the account: it is reported as the maximum', async () => {
    const world = worldWith(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    await admit(world, 'c1', 1_000);
    world.reserve('c1', { quota: 1_000 });
    world.editKey(12, 1_000);
    world.grant(7, 1_000);
    world.release('c1', { quota: 1_000 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: Number.MAX_SAFE_INTEGER, key: Number.MAX_SAFE_INTEGER });
    world.adjust(7, -1_000);
    world.editKey(12, -1_000);
    world.adjust(7, -Number.MAX_SAFE_INTEGER);
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 0, key: Number.MAX_SAFE_INTEGER });
  });
});
