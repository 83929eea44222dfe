import { describe, expect, test } from 'vitest';
import { ApiKeyId, CallId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { flush } from '../../support/flush.js';
import {
  admit,
  admitted,
  alice,
  bob,
  GateWorld,
  refused,
  remaining,
  worldWith,
} from '../../support/memory/gate-world.js';

describe('an account on its first use', () => {
  test('is read once for concurrent readers, after the read model has had time to reach the tail', async () => {
    const world = worldWith(1_000, 500, { byHand: true });
    const asked = [admit(world, 'c1', 200, { apiKey: null }), admit(world, 'c2', 300, { apiKey: null })];
    const available = world.gate.available(alice);
    await flush();
    expect(world.waiting).toStrictEqual([{ user: alice }]);
    expect(world.caughtUpTo).toStrictEqual([1]);
    world.answer();
    expect(await Promise.all(asked)).toStrictEqual([admitted(200), admitted(300)]);
    expect(await available).toBeGreaterThanOrEqual(500);
    expect(await world.gate.available(alice)).toBe(500);
    expect(world.reads).toBe(1);
  });

  test('is empty for an unknown user', async () => {
    const world = new GateWorld();
    expect(await world.gate.available(alice)).toBe(0);
    expect(await admit(world, 'c1', 0, { apiKey: null })).toStrictEqual(refused('user', 0));
  });

  test('is read at the present even if that is ahead of the tail: nothing is applied twice', async () => {
    const world = worldWith(1_000, 500);
    world.grant(7, 100);
    world.reserve('theirs', { quota: 300 });
    world.reserve('done', { quota: 50 });
    world.settle('done', { quota: 50, charged: 40 });
    world.project();
    expect(await remaining(world)).toStrictEqual({ user: 760, key: 160 });
    expect(world.gaps).toStrictEqual([]);
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 760, key: 160 });
    world.settle('theirs', { quota: 300, charged: 10 });
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 1_050, key: 450 });
  });

  test('is completed from the log where the read model is behind the tail', async () => {
    const world = worldWith(1_000, 500);
    world.reserve('theirs', { quota: 300 });
    world.project();
    world.grant(7, 100);
    world.editKey(12, -100);
    world.settle('theirs', { quota: 300, charged: 30 });
    world.reserve('open', { quota: 70 });
    world.grant(8, 5_000);
    world.deliver();
    expect(await remaining(world)).toStrictEqual({ user: 1_000, key: 300 });
    expect(world.gaps).toStrictEqual([
      [2, 7],
      [2, 7],
    ]);
  });

  test('receives the events of the tail while it is read', async () => {
    const world = worldWith(1_000, 500, { byHand: true });
    const available = world.gate.available(alice);
    await flush();
    const snapshot = world.snapshotOf({ user: alice });
    world.grant(7, 100);
    world.reserve('theirs', { quota: 300 });
    world.deliver();
    world.answer(snapshot);
    expect(await available).toBe(800);
  });

  test('receives them once, where the read has some of them too', async () => {
    const world = worldWith(1_000, 500, { byHand: true });
    const available = world.gate.available(alice);
    await flush();
    world.grant(7, 100);
    world.deliver();
    world.project();
    const snapshot = world.snapshotOf({ user: alice });
    world.reserve('theirs', { quota: 300 });
    world.deliver();
    world.answer(snapshot);
    expect(await available).toBe(800);
  });

  test('receives the gap from the log and the rest from the tail, each once', async () => {
    const world = worldWith(1_000, 500, { byHand: true });
    world.grant(7, 10);
    world.deliver();
    const available = world.gate.available(alice);
    await flush();
    const behind = world.snapshotOf({ user: alice });
    world.grant(7, 100);
    world.deliver();
    world.answer(behind);
    expect(await available).toBe(1_110);
  });

  test('fails for its readers if it cannot be read; the next one reads again', async () => {
    const world = worldWith(1_000, 500, { byHand: true });
    const asked = [world.gate.available(alice), admit(world, 'c1', 5, { apiKey: null })];
    const failures = Promise.all(asked.map((answer) => expect(answer).rejects.toThrow('cannot be read')));
    await flush();
    world.fail();
    await failures;
    const again = world.gate.available(alice);
    await flush();
    world.answer();
    expect(await again).toBe(1_000);
  });
});

describe('the number of accounts in memory', () => {
  test('is limited: an idle account is evicted, and read again with nothing lost', async () => {
    const world = worldWith(1_000, 500, { capacity: 1 });
    await admit(world, 'c1', 200, { apiKey: null });
    world.reserve('c1', { quota: 200, apiKeyId: null });
    world.settle('c1', { quota: 200, charged: 150, apiKeyId: null });
    await world.gate.settled(CallId('c1'), Quota(150));
    world.deliver();
    world.project(1);
    await world.gate.available(bob);
    const reads = world.reads;
    expect(await world.gate.available(alice)).toBe(850);
    expect(world.reads).toBe(reads + 1);
  });

  test('is exceeded rather than evict a reservation', async () => {
    const world = worldWith(1_000, 500, { capacity: 1 });
    await admit(world, 'c1', 200);
    for (let user = 100; user < 120; user++) await world.gate.available(UserId(user));
    for (let other = 100; other < 120; other++) await world.gate.remaining(ApiKeyId(other));
    expect(await remaining(world)).toStrictEqual({ user: 800, key: 300 });
    expect(await world.gate.extend(CallId('c1'), Quota(900))).toBe(false);
    expect(await world.gate.extend(CallId('c1'), Quota(500))).toBe(true);
    expect(await remaining(world)).toStrictEqual({ user: 500, key: 0 });
  });

  test('when limited to one still serves callers that alternate', async () => {
    const world = worldWith(1_000, 500, { capacity: 1 });
    world.grant(8, 1_000);
    world.deliver();
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, n) => admit(world, `c${n}`, 10, n % 2 === 0 ? {} : { user: bob, apiKey: null })),
    );
    expect(verdicts.every((verdict) => verdict.admitted)).toBe(true);
    expect(await remaining(world)).toStrictEqual({ user: 750, key: 250 });
    expect(await world.gate.available(bob)).toBe(750);
  });
});
