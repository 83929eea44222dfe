import { beforeEach, describe, expect, test } from 'vitest';
import type { SetupInput } from '../../../src/application/sign-in/setup.js';
import { streams } from '../../../src/domain/events/events.js';
import { Failure, type FailureCode } from '../../../src/domain/kernel/failure.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;

beforeEach(async () => {
  node = await openMemoryNode();
});

const input = (changed: Partial<SetupInput> = {}): SetupInput => ({
  username: 'root',
  password: 'correct horse',
  confirmPassword: 'correct horse',
  mode: 'external',
  ...changed,
});

const typesIn = async (): Promise<string[]> => (await node.store.everything()).map(({ event }) => event.type);

describe('the first set-up', () => {
  test('creates the root user, with quota, and sets the mode', async () => {
    expect(await node.setup.isDone()).toBe(false);
    const position = await node.setup.complete(input({ username: ' root ', mode: 'self' }));
    await node.caughtUp();
    expect(position).toBe(await node.store.head());
    expect(await node.setup.isDone()).toBe(true);
    expect(await node.directory.user(UserId(1))).toMatchObject({ username: 'root', role: 'root', status: 'enabled' });
    expect(await node.gate.available(UserId(1))).toBe(100_000_000);
    expect(node.directory.settings()).toMatchObject({ selfUseMode: true });
    expect(node.directory.settings().flag('DemoSiteEnabled')).toBe(false);
    const [registered] = await node.eventsOf(streams.user(UserId(1)));
    expect(registered?.type === 'UserRegistered' && (await node.personal.open(UserId(1), registered.displayName))).toBe(
      'Root User',
    );
    await expect(node.identity.login('root', 'correct horse')).resolves.toMatchObject({ user: { role: 'root' } });
  });

  test.each([
    ['external', false, false],
    ['self', true, false],
    ['demo', false, true],
  ] as const)('in mode %s sets the options of that mode', async (mode, self, demo) => {
    await node.setup.complete(input({ mode }));
    await node.caughtUp();
    const settings = node.directory.settings();
    expect([settings.flag('SelfUseModeEnabled'), settings.flag('DemoSiteEnabled')]).toStrictEqual([self, demo]);
  });

  test.each<[string, Partial<SetupInput>, FailureCode]>([
    ['a blank name', { username: '  ' }, 'username-blank'],
    ['a name that is too long', { username: 'x'.repeat(600_000) }, 'username-too-long'],
    ['a name with a NUL character', { username: 'ro\0ot' }, 'invalid-field'],
    ['a name with half a character', { username: 'ro\ud800ot' }, 'invalid-field'],
    ['an endless password', { password: 'x'.repeat(257), confirmPassword: 'x'.repeat(257) }, 'invalid-field'],
    ['two different passwords', { confirmPassword: 'correct house' }, 'passwords-differ'],
    ['a password of 7 bytes', { password: '1234567', confirmPassword: '1234567' }, 'password-too-short'],
  ])('is refused for %s', async (_, changed, code) => {
    await expect(node.setup.complete(input(changed))).rejects.toThrow(refusal(code));
    expect(await typesIn()).toStrictEqual([]);
  });

  test('counts the bytes of a password, not its characters', async () => {
    const password = '密码密';
    await expect(node.setup.complete(input({ password, confirmPassword: password }))).resolves.toBeDefined();
  });

  test('succeeds once', async () => {
    await node.setup.complete(input());
    const before = await node.store.head();
    await expect(node.setup.complete(input({ username: 'other' }))).rejects.toThrow(refusal('already-set-up'));
    expect(await node.store.head()).toBe(before);
  });

  test('that two requests attempt at once succeeds for one, and there is one root', async () => {
    const other = await openMemoryNode(node.store, node.ids, node.vault);
    const outcomes = await Promise.allSettled([
      node.setup.complete(input({ username: 'one' })),
      other.setup.complete(input({ username: 'two' })),
      node.setup.complete(input({ username: 'three' })),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'already-set-up' });
    const types = await typesIn();
    expect(types.filter((type) => type === 'SetupCompleted')).toHaveLength(1);
    expect(types.filter((type) => type === 'UserRegistered')).toHaveLength(1);
    expect(types.filter((type) => type === 'QuotaGranted')).toHaveLength(1);
  });
});

describe('a set-up that is interrupted after its decision', () => {
  /** The process dies before the n-th append after the decision. */
  const dieBefore = async (append: number): Promise<void> => {
    let appends = 0;
    node.store.beforeAppend = async (stream) => {
      if (stream !== streams.system && appends++ >= append) throw new Failure('store-unavailable');
    };
    await expect(node.setup.complete(input({ mode: 'self' }))).rejects.toThrow(refusal('store-unavailable'));
    node.store.beforeAppend = async () => {};
  };

  test.each([0, 1, 2, 3])('before its append %d is completed at the next start, once', async (append) => {
    await dieBefore(append);
    expect(await typesIn()).not.toContain('UserRegistered');

    await node.setup.resume();
    const types = await typesIn();
    // The name that had been claimed when it died is claimed anew: the first claim may look abandoned by now.
    for (const [type, times] of [
      ['SetupCompleted', 1],
      ['UsernameClaimed', append === 3 ? 2 : 1],
      ['UserRegistered', 1],
      ['QuotaGranted', 1],
    ] as const)
      expect(
        types.filter((one) => one === type),
        type,
      ).toHaveLength(times);
    await node.caughtUp();
    expect(node.directory.settings().selfUseMode).toBe(true);
    await expect(node.identity.login('root', 'correct horse')).resolves.toBeDefined();

    await node.setup.resume();
    expect(await typesIn()).toStrictEqual(types);
  });

  test('is completed by the next attempt, which is answered that it is done', async () => {
    await dieBefore(1);
    await expect(node.setup.complete(input({ username: 'other', password: 'x' }))).rejects.toThrow(
      refusal('already-set-up'),
    );
    await node.caughtUp();
    await expect(node.identity.login('root', 'correct horse')).resolves.toMatchObject({ user: { username: 'root' } });
  });

  test('is completed once by two nodes that start together', async () => {
    await dieBefore(0);
    const other = await openMemoryNode(node.store, node.ids, node.vault);
    await Promise.all([node.setup.resume(), other.setup.resume()]);
    const types = await typesIn();
    expect(types.filter((type) => type === 'UserRegistered')).toHaveLength(1);
    expect(types.filter((type) => type === 'QuotaGranted')).toHaveLength(1);
  });
});

describe('a start of the gateway', () => {
  test('before the set-up changes nothing', async () => {
    await node.setup.resume();
    expect(await typesIn()).toStrictEqual([]);
  });

  test('after the set-up changes nothing, even if root has changed its options', async () => {
    await node.setup.complete(input({ mode: 'self' }));
    await node.options.change(root, 'SelfUseModeEnabled', 'false');
    const actor = { id: UserId(1), role: 'root' } as const;
    await node.users.changeOwnProfile(actor, { username: 'admin', password: null, displayName: null });
    const before = await typesIn();
    await node.setup.resume();
    expect(await typesIn()).toStrictEqual(before);
  });
});
