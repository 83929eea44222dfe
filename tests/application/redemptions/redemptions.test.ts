import { beforeEach, describe, expect, test } from 'vitest';
import { redemptionCommands } from '../../../src/application/redemptions/redemption-commands.js';
import { streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;
const alice: Actor = { id: UserId(1), role: 'ordinary' };
const bob: Actor = { id: UserId(2), role: 'ordinary' };
const [here, there] = ['192.0.2.1', '192.0.2.2'];
const wrong = 'f'.repeat(32);

const register = (id: UserId) =>
  node.users.register({ id, username: `user${id}`, displayName: 'x', passwordSecret: null, role: 'ordinary' }, []);

beforeEach(async () => {
  node = await openMemoryNode();
  for (const { id } of [alice, bob]) await register(id);
  await node.caughtUp();
});

const issue = (count = 1, key: string | null = null, quota = 500) =>
  node.redemptions.issue(admin, { name: 'promo', quota }, count, key);
const one = async (quota = 500) => {
  const [issued] = (await issue(1, null, quota)).codes;
  if (issued === undefined) throw new Error('no code was issued');
  return issued;
};
const redeem = (actor: Actor, code: string, key: string | null = null, index = here) =>
  node.redemptions.redeem(actor, code, index, key);
const available = async ({ id }: Actor): Promise<number> => {
  await node.caughtUp();
  return node.gate.available(id);
};
const codesInLog = async () =>
  (await node.store.everything()).filter(({ event }) => event.type === 'RedemptionCodeIssued').length;

describe('issuing redemption codes', () => {
  test('makes each of 32 unpredictable hexadecimal digits, and stores its hash only', async () => {
    const { codes, failure } = await issue(20);
    expect(failure).toBeNull();
    expect(new Set(codes.map(({ code }) => code)).size).toBe(20);
    const [{ id, code } = { id: 0, code: '' }] = codes;
    expect(code).toMatch(/^[0-9a-f]{32}$/);
    const [event] = await node.eventsOf(streams.redemption(id as never));
    expect(event).toMatchObject({ codeHash: node.vault.hash(code), name: 'promo', quota: 500, by: admin.id });
    expect(JSON.stringify(await node.store.everything())).not.toContain(code);
    expect(event?.type === 'RedemptionCodeIssued' && (await node.vault.get(event.secret))).toBe(code);
  });

  test('repeated under its idempotency key returns the same codes and makes no others', async () => {
    const first = await issue(7, 'k');
    expect(await issue(7, 'k')).toEqual(first);
    expect(await codesInLog()).toBe(7);
    expect(node.vault.secrets.size).toBe(7);
    await expect(issue(7, 'k', 600)).rejects.toThrow(refusal('idempotency-key-reused'));
  });

  test('that is interrupted lists the existing codes, and continues under its idempotency key', async () => {
    let left = 5;
    node.store.beforeAppend = async () => {
      if (left-- <= 0) throw new Failure('store-unavailable');
    };
    const broken = await issue(9, 'k');
    expect(broken.codes).toHaveLength(5);
    expect(broken.failure).toMatchObject({ code: 'outcome-unknown', details: { key: 'k' } });
    node.store.beforeAppend = async () => {};
    const whole = await issue(9, 'k');
    expect(whole.failure).toBeNull();
    expect(whole.codes).toHaveLength(9);
    expect(whole.codes).toEqual(expect.arrayContaining([...broken.codes]));
    expect(await codesInLog()).toBe(9);
  });

  test('of zero codes is refused with the reason', async () => {
    node.store.beforeAppend = async () => {
      throw new Failure('store-busy');
    };
    await expect(issue(3)).rejects.toThrow(refusal('outcome-unknown'));
  });

  test('is for administrators, and checks name, number and quota in this order', async () => {
    const order = (name: string, quota: number, count: number, actor = admin) =>
      node.redemptions.issue(actor, { name, quota }, count);
    await expect(order('', 0, 0, alice)).rejects.toThrow(refusal('role-too-low'));
    await expect(order('', 0, 0)).rejects.toThrow(refusal('redemption-name-length'));
    await expect(order('x', 0, 0)).rejects.toThrow(refusal('redemption-count-too-small'));
    await expect(order('x', 0, 101)).rejects.toThrow(refusal('redemption-count-too-large'));
    await expect(order('x', 0, 1)).rejects.toThrow(refusal('redemption-quota-too-small'));
    expect(await codesInLog()).toBe(0);
    expect(node.vault.secrets.size).toBe(0);
  });
});

describe('an idempotency key', () => {
  test('that was used for one code is refused with another one, and with another command', async () => {
    const { codes } = await node.redemptions.issue(admin, { name: 'two', quota: 5 }, 2);
    const [first = '', second = ''] = codes.map(({ code }) => code);
    await redeem(alice, first, 'k');
    await expect(redeem(alice, second, 'k')).rejects.toThrow(refusal('idempotency-key-reused', { key: 'k' }));
    expect(await redeem(alice, second, 'another')).toMatchObject({ quota: 5 });
    await node.users.adjustQuota(root, alice.id, { delta: 5 }, 'r');
    await expect(node.users.adjustQuota(root, bob.id, { delta: 5 }, 'r')).rejects.toThrow(
      refusal('idempotency-key-reused'),
    );
    await expect(node.redemptions.issue(root, { name: 'two', quota: 5 }, 1, 'r')).rejects.toThrow(
      refusal('idempotency-key-reused'),
    );
    await node.users.adjustQuota(root, alice.id, { delta: 5 }, 'r');
  });

  test('stays usable where the command was refused', async () => {
    const { codes } = await node.redemptions.issue(admin, { name: 'one', quota: 5 }, 1);
    const code = codes[0]?.code ?? '';
    await redeem(bob, code);
    await expect(redeem(alice, code, 'k')).rejects.toThrow(refusal('redemption-code-used'));
    const { codes: more } = await node.redemptions.issue(admin, { name: 'one', quota: 5 }, 1);
    expect(await redeem(alice, more[0]?.code ?? '', 'k')).toMatchObject({ quota: 5 });
  });
});

describe('redeeming a code', () => {
  test('credits its value, with or without blanks around it', async () => {
    const { code } = await one();
    expect(await redeem(alice, ` ${code}\n`)).toMatchObject({ quota: 500 });
    expect(await available(alice)).toBe(500);
  });

  test('succeeds for one of a thousand concurrent users', async () => {
    const { code, id } = await one();
    const users = Array.from(
      { length: 1_000 },
      (_, index): Actor => ({ id: UserId(10_000 + index), role: 'ordinary' }),
    );
    await Promise.all(users.map((user) => register(user.id)));
    await node.caughtUp();
    const tried = await Promise.allSettled(users.map((user) => redeem(user, code, null, `192.0.2.${user.id}`)));
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of tried)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'redemption-code-used' });
    const balances = await Promise.all(users.map(({ id: user }) => node.gate.available(user)));
    expect(balances.reduce((sum, balance) => sum + balance, 0)).toBe(500);
    expect((await node.eventsOf(streams.redemption(id))).map(({ type }) => type)).toEqual([
      'RedemptionCodeIssued',
      'RedemptionCodeRedeemed',
    ]);
  });

  test('repeated under its idempotency key returns the first result, also when the code has been deleted', async () => {
    const { code, id } = await one();
    const first = await redeem(alice, code, 'k');
    await node.redemptions.remove(admin, id);
    expect(await redeem(alice, code, 'k')).toEqual(first);
    expect(await available(alice)).toBe(500);
    await expect(redeem(alice, code)).rejects.toThrow(refusal('redemption-code-unknown'));
    await expect(redeem(bob, code, 'k')).rejects.toThrow(refusal('redemption-code-unknown'));
  });

  test('without an answer has an unknown outcome, and its repeat without an idempotency key is the same command', async () => {
    const { code } = await one();
    node.store.beforeAppend = async () => {
      throw new Failure('store-unavailable');
    };
    await expect(redeem(alice, code)).rejects.toThrow(refusal('outcome-unknown'));
    node.store.beforeAppend = async () => {};
    expect(await redeem(alice, code)).toMatchObject({ quota: 500 });
    expect(await available(alice)).toBe(500);
    await expect(redeem(alice, code)).rejects.toThrow(refusal('redemption-code-used'));
  });

  test('is refused to users who are disabled or deleted, and leaves the code unused', async () => {
    const { code } = await one();
    await node.users.manage(admin, alice.id, 'disable');
    await node.users.manage(admin, bob.id, 'delete');
    await node.caughtUp();
    await expect(redeem(alice, code)).rejects.toThrow(refusal('user-disabled'));
    await expect(redeem(bob, code)).rejects.toThrow(refusal('user-deleted'));
    await node.users.manage(admin, alice.id, 'enable');
    await node.caughtUp();
    expect(await redeem(alice, code)).toMatchObject({ quota: 500 });
  });

  test('works whatever has become of its issuer', async () => {
    const issuer: Actor = { id: UserId(50), role: 'admin' };
    await register(issuer.id);
    const { codes } = await node.redemptions.issue(issuer, { name: 'promo', quota: 9 }, 1);
    await node.users.manage(admin, issuer.id, 'delete');
    expect(await redeem(alice, codes[0]?.code ?? '')).toMatchObject({ quota: 9 });
  });

  test('that would exceed the integer range is refused, and leaves the code unused', async () => {
    const { code } = await one(10);
    const grant = { quota: Quota(Number.MAX_SAFE_INTEGER - 5), reason: 'signup' as const };
    const rich: Actor = { id: UserId(3), role: 'ordinary' };
    await node.users.register(
      { id: rich.id, username: 'rich', displayName: 'x', passwordSecret: null, role: 'ordinary' },
      [grant],
    );
    await node.caughtUp();
    await expect(redeem(rich, code)).rejects.toThrow(refusal('quota-out-of-range'));
    expect(await redeem(alice, code)).toMatchObject({ quota: 10 });
  });
});

describe('guesses of redemption codes', () => {
  const guess = (actor: Actor, index = here) => redeem(actor, wrong, null, index);

  test('are refused as wrong, and after ten by the rate limit', async () => {
    for (let n = 0; n < 10; n++) await expect(guess(alice)).rejects.toThrow(refusal('redemption-code-unknown'));
    for (const index of [here, there])
      await expect(guess(alice, index)).rejects.toThrow(refusal('too-many-attempts', { seconds: 600 }));
    // Nobody else waits, and what can be no code is no guess.
    await expect(guess(bob)).rejects.toThrow(refusal('redemption-code-unknown'));
    for (let n = 0; n < 20; n++) await expect(redeem(bob, 'hello')).rejects.toThrow(refusal('redemption-code-unknown'));
    node.clock.advance(10 * 60_000);
    await expect(guess(alice)).rejects.toThrow(refusal('redemption-code-unknown'));
  });

  test('of many users in one network are counted together', async () => {
    const users = Array.from({ length: 101 }, (_, index): Actor => ({ id: UserId(100 + index), role: 'ordinary' }));
    for (const user of users.slice(0, 100))
      await expect(guess(user)).rejects.toThrow(refusal('redemption-code-unknown'));
    const last = users[100] ?? alice;
    await expect(guess(last)).rejects.toThrow(refusal('too-many-attempts'));
    await expect(guess(last, there)).rejects.toThrow(refusal('redemption-code-unknown'));
  });

  test('do not count correct codes: a user with many may redeem them all', async () => {
    const { codes } = await issue(30);
    for (const { code } of codes) await redeem(alice, code);
    for (const { code } of codes) await expect(redeem(alice, code)).rejects.toThrow(refusal('redemption-code-used'));
    expect(await available(alice)).toBe(30 * 500);
  });

  test('are not judged by a stale read', async () => {
    const building = redemptionCommands({ ...node, progress: { reached: async () => false } });
    const { code } = await one();
    for (let n = 0; n < 15; n++)
      await expect(building.redeem(alice, wrong, here)).rejects.toThrow(refusal('store-unavailable'));
    expect(await building.redeem(alice, code, here)).toMatchObject({ quota: 500 });
  });
});

describe('only an administrator', () => {
  test('edits, switches and deletes redemption codes', async () => {
    const { id, code } = await one();
    const input = { name: 'other', quota: 7 };
    for (const order of [
      node.redemptions.edit(alice, id, input),
      node.redemptions.setEnabled(alice, id, false),
      node.redemptions.remove(alice, id),
    ])
      await expect(order).rejects.toThrow(refusal('role-too-low'));
    await node.redemptions.edit(admin, id, input);
    await node.redemptions.setEnabled(admin, id, false);
    await expect(redeem(alice, code)).rejects.toThrow(refusal('redemption-code-used'));
    await node.redemptions.setEnabled(admin, id, true);
    expect(await redeem(alice, code)).toMatchObject({ quota: 7 });
    await expect(node.redemptions.setEnabled(admin, id, true)).rejects.toThrow(refusal('redemption-used'));
    await node.redemptions.remove(admin, id);
    await expect(node.redemptions.remove(admin, id)).rejects.toThrow(refusal('redemption-not-found'));
  });
});
