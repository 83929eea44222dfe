import { beforeEach, describe, expect, test } from 'vitest';
import type { NewUser } from '../../../src/application/users/user-registration.js';
import type { UserAction } from '../../../src/application/users/user-status.js';
import { beginning, type DomainEvent, streams } from '../../../src/domain/events/events.js';
import { Failure, type FailureCode } from '../../../src/domain/kernel/failure.js';
import { Sealed, type UserId } from '../../../src/domain/kernel/ids.js';
import type { Actor } from '../../../src/domain/user/user.js';
import type { UserSettings } from '../../../src/domain/user/user-fields.js';
import { someClient } from '../../support/gateway/sign-in.js';
import { newUser, ownProfile, userPatch } from '../../support/given/user-inputs.js';
import { admin, type MemoryNode, openMemoryNode, ordinary, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;

beforeEach(async () => {
  node = await openMemoryNode();
});

/** A registered user and who it is when it acts. */
async function registered(changed: Partial<NewUser> = {}): Promise<Actor> {
  const { id } = await node.users.create(root, newUser(changed));
  await node.caughtUp();
  return { id, role: changed.role ?? 'ordinary' };
}

const eventsOf = ({ id }: Actor): Promise<readonly DomainEvent[]> => node.eventsOf(streams.user(id));
const holderOf = async (name: string): Promise<UserId | null> => {
  const last = (await node.eventsOf(streams.username(name))).at(-1);
  return last?.type === 'UsernameClaimed' ? last.userId : null;
};

describe('creating a user', () => {
  test('claims the name and registers an ordinary user of the group "default"', async () => {
    const { id, position } = await node.users.create(admin, newUser({ displayName: 'Alice A.' }));
    expect(await holderOf('alice')).toBe(id);
    const [event, ...more] = await node.eventsOf(streams.user(id));
    expect(event).toMatchObject({
      type: 'UserRegistered',
      username: 'alice',
      role: 'ordinary',
      group: 'default',
      inviter: null,
    });
    expect(more).toStrictEqual([]);
    expect(position).toBe(await node.store.head());
  });

  test('encrypts the display name, which is the user name where none is given', async () => {
    const displayNameOf = async (user: Actor) => {
      const [event] = await eventsOf(user);
      return event?.type === 'UserRegistered' ? node.personal.open(user.id, event.displayName) : null;
    };
    expect(await displayNameOf(await registered({ displayName: 'Alice A.' }))).toBe('Alice A.');
    expect(await displayNameOf(await registered({ username: 'bob' }))).toBe('bob');
  });

  test('grants the initial quota of new users', async () => {
    await node.options.change(root, 'QuotaForNewUser', '500');
    await node.caughtUp();
    const alice = await registered();
    expect(await eventsOf(alice)).toContainEqual({ type: 'QuotaGranted', quota: 500, reason: 'signup' });
    expect(await node.gate.available(alice.id)).toBe(500);
  });

  test.each<[string, Partial<NewUser>, FailureCode]>([
    ['a blank name', { username: ' ' }, 'username-blank'],
    ['a name of 13 characters', { username: 'a'.repeat(13) }, 'username-too-long'],
    ['a password of 7 characters', { password: '1234567' }, 'password-length'],
    ['a password of 21 characters', { password: '1'.repeat(21) }, 'password-length'],
    ['a display name of 21 characters', { displayName: 'a'.repeat(21) }, 'display-name-too-long'],
  ])('is refused for %s, and changes nothing', async (_, changed, code) => {
    await expect(node.users.create(root, newUser(changed))).rejects.toThrow(refusal(code));
    expect(await node.store.everything()).toStrictEqual([]);
  });

  test('counts characters, not bytes', async () => {
    const changed = { username: '名'.repeat(12), password: '密'.repeat(20), displayName: '名'.repeat(20) };
    await expect(node.users.create(root, newUser(changed))).resolves.toBeDefined();
  });

  test('is for admins; only root creates admins, and no role creates roots', async () => {
    await expect(node.users.create(ordinary, newUser())).rejects.toThrow(refusal('role-too-low'));
    await expect(node.users.create(admin, newUser({ role: 'admin' }))).rejects.toThrow(
      refusal('role-create-forbidden'),
    );
    await expect(node.users.create(root, newUser({ role: 'root' }))).rejects.toThrow(refusal('role-create-forbidden'));
    await expect(node.users.create(root, newUser({ role: 'admin' }))).resolves.toBeDefined();
  });

  test('is refused for a taken name, in any letter case', async () => {
    await registered();
    await expect(node.users.create(root, newUser({ username: 'ALICE' }))).rejects.toThrow(refusal('username-taken'));
  });

  test('of one name many times at once creates one user', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => node.users.create(root, newUser())));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const everything = await node.store.everything();
    expect(everything.filter(({ event }) => event.type === 'UserRegistered')).toHaveLength(1);
  });

  test('that is interrupted leaves the name to the next claimant, after a minute', async () => {
    node.store.beforeAppend = async (stream) => {
      if (stream.startsWith('user-')) throw new Failure('store-unavailable');
    };
    await expect(node.users.create(root, newUser())).rejects.toThrow(refusal('outcome-unknown'));
    node.store.beforeAppend = async () => {};
    await expect(node.users.create(admin, newUser())).rejects.toThrow(refusal('username-taken'));
    node.clock.advance(60_000);
    const { id } = await node.users.create(admin, newUser());
    expect(await holderOf('alice')).toBe(id);
  });
});

describe('changing the own profile', () => {
  test('encrypts the display name and keeps the password in the vault', async () => {
    const alice = await registered();
    await node.users.changeOwnProfile(alice, ownProfile({ displayName: 'A.', password: 'new password' }));
    const [changed, password] = (await eventsOf(alice)).slice(-2);
    expect(changed?.type === 'UserProfileChanged' && changed.displayName).toBeTruthy();
    const secret = password?.type === 'PasswordChanged' ? password.passwordSecret : null;
    expect(secret && (await node.vault.get(secret))).toBe(await node.passwords.hash('new password'));
  });

  test('is refused for a display name or password of the wrong length', async () => {
    const alice = await registered();
    const change = (changed: Parameters<typeof ownProfile>[0]) =>
      node.users.changeOwnProfile(alice, ownProfile(changed));
    await expect(change({ displayName: 'a'.repeat(21) })).rejects.toThrow(refusal('display-name-too-long'));
    await expect(change({ password: 'short' })).rejects.toThrow(refusal('password-length'));
  });
});

describe('editing a user', () => {
  test('is for admins', async () => {
    const alice = await registered();
    await expect(node.users.edit(ordinary, alice.id, userPatch({ group: 'vip' }))).rejects.toThrow(
      refusal('role-too-low'),
    );
  });

  test('sets the balance to the requested amount, whatever it was', async () => {
    const alice = await registered();
    await node.users.adjustQuota(root, alice.id, { delta: 1_000 });
    await node.caughtUp();
    const position = await node.users.edit(admin, alice.id, userPatch({ group: 'vip', quota: 300 }));
    expect(position).toBe(await node.store.head());
    await node.caughtUp();
    expect(await node.gate.available(alice.id)).toBe(300);
    expect((await eventsOf(alice)).slice(-2)).toStrictEqual([
      { type: 'UserGroupChanged', group: 'vip', by: admin.id },
      { type: 'QuotaAdjusted', delta: -700, gift: 0, by: admin.id, observed: 1_000 },
    ]);
  });

  test('to the same balance twice, faster than the memory of the node, has the effect of one', async () => {
    const alice = await registered();
    node.store.hold();
    const edits = [
      node.users.edit(root, alice.id, userPatch({ quota: 300 })),
      node.users.edit(root, alice.id, userPatch({ quota: 300 })),
    ];
    await node.store.head();
    node.store.letGo();
    await Promise.all(edits);
    await node.caughtUp();
    expect(await node.gate.available(alice.id)).toBe(300);
  });

  test('to a balance beyond the integer range changes nothing', async () => {
    const alice = await registered();
    const before = await node.store.head();
    for (const quota of [Number.NaN, 1.5, 2 ** 53])
      await expect(node.users.edit(root, alice.id, userPatch({ group: 'vip', quota }))).rejects.toThrow(
        refusal('quota-out-of-range'),
      );
    expect(await node.store.head()).toBe(before);
  });

  test('never raises a role to that of the editor', async () => {
    const alice = await registered();
    await expect(node.users.edit(admin, alice.id, userPatch({ role: 'admin' }))).rejects.toThrow(
      refusal('role-raise-forbidden'),
    );
  });
});

describe('adjusting a balance', () => {
  test('adds amount and gift, and records both and the previous balance', async () => {
    const alice = await registered();
    await node.users.adjustQuota(admin, alice.id, { delta: 500, gift: 50 });
    await node.caughtUp();
    await node.users.adjustQuota(admin, alice.id, { delta: -100 });
    expect((await eventsOf(alice)).slice(-2)).toStrictEqual([
      { type: 'QuotaAdjusted', delta: 550, gift: 50, by: admin.id, observed: 0 },
      { type: 'QuotaAdjusted', delta: -100, gift: 0, by: admin.id, observed: 550 },
    ]);
  });

  test('many times at once loses nothing', async () => {
    const alice = await registered();
    await Promise.all(Array.from({ length: 10 }, () => node.users.adjustQuota(root, alice.id, { delta: 10, gift: 1 })));
    await node.caughtUp();
    expect(await node.gate.available(alice.id)).toBe(110);
  });

  test('beyond the integer range is refused', async () => {
    const alice = await registered();
    for (let time = 0; time < 9; time++) {
      await node.users.adjustQuota(root, alice.id, { delta: 1e15 });
      await node.caughtUp();
    }
    await expect(node.users.adjustQuota(root, alice.id, { delta: 1e15 })).rejects.toThrow(
      refusal('quota-out-of-range'),
    );
  });

  test('by an implausible amount is refused, naming the amount', async () => {
    const alice = await registered();
    for (const amount of [1e15 + 1, -1e15 - 1, Number.NaN, 0.5]) {
      const refused = (field: string) => refusal('quota-out-of-range', { field });
      await expect(node.users.adjustQuota(root, alice.id, { delta: amount })).rejects.toThrow(refused('delta'));
      await expect(node.users.adjustQuota(root, alice.id, { delta: 1, gift: amount })).rejects.toThrow(refused('gift'));
    }
  });

  test('is for admins, over lower roles', async () => {
    const [alice, peer] = [await registered(), await registered({ username: 'peer', role: 'admin' })];
    await expect(node.users.adjustQuota(ordinary, alice.id, { delta: 5 })).rejects.toThrow(refusal('role-too-low'));
    await expect(node.users.adjustQuota(admin, peer.id, { delta: 5 })).rejects.toThrow(
      refusal('peer-update-forbidden'),
    );
  });
});

describe('managing a user', () => {
  test.each<[UserAction, DomainEvent['type']]>([
    ['disable', 'UserDisabled'],
    ['delete', 'UserDeleted'],
    ['promote', 'UserRoleChanged'],
  ])('%s is recorded', async (action, type) => {
    const alice = await registered();
    await node.users.manage(root, alice.id, action);
    expect((await eventsOf(alice)).at(-1)).toMatchObject({ type, by: root.id });
  });

  test('is reversible: enabling reverses disabling, demoting reverses promoting', async () => {
    const alice = await registered();
    for (const action of ['disable', 'enable', 'promote', 'demote'] as const)
      await node.users.manage(root, alice.id, action);
    await node.caughtUp();
    expect(await node.directory.user(alice.id)).toMatchObject({ status: 'enabled', role: 'ordinary' });
  });

  test('by deletion or a new password ends all sessions', async () => {
    const password = { username: null, displayName: null, password: 'another one' };
    const orders: Record<string, (user: Actor) => Promise<unknown>> = {
      delete: ({ id }) => node.users.manage(root, id, 'delete'),
      change: (user) => node.users.changeOwnProfile(user, password),
      reset: ({ id }) => node.users.edit(root, id, { ...password, group: null, quota: null, role: null }),
    };
    for (const [name, order] of Object.entries(orders)) {
      const user = await registered({ username: name });
      const token = await node.sessions.open({ user: user.id, since: beginning }, someClient);
      await order(user);
      expect(await node.sessions.find(token), name).toBeNull();
    }
  });

  test('by a refused command ends no session', async () => {
    const peer = await registered({ role: 'admin' });
    const session = { user: peer.id, since: beginning };
    const token = await node.sessions.open(session, someClient);
    await expect(node.users.manage(admin, peer.id, 'disable')).rejects.toThrow(refusal('peer-update-forbidden'));
    expect(await node.sessions.find(token)).toEqual({ ...session, ended: false });
  });

  test('by deletion makes the user’s encrypted data permanently unreadable', async () => {
    const alice = await registered({ displayName: 'Alice A.' });
    await node.users.manage(root, alice.id, 'delete');
    const [event] = await eventsOf(alice);
    const sealed = event?.type === 'UserRegistered' ? event.displayName : Sealed('none');
    expect(await node.personal.open(alice.id, sealed)).toBeNull();
  });

  test('is for admins', async () => {
    const alice = await registered();
    await expect(node.users.manage(ordinary, alice.id, 'disable')).rejects.toThrow(refusal('role-too-low'));
  });
});

describe('a personal access token', () => {
  test('is shown once, random, and stored by its hash only', async () => {
    const alice = await registered();
    const first = await node.users.issueAccessToken(alice);
    const second = await node.users.issueAccessToken(alice);
    expect(first.token).toMatch(/^[A-Za-z0-9+/]{32}$/);
    expect(first.token).not.toBe(second.token);
    expect((await eventsOf(alice)).at(-1)).toStrictEqual({
      type: 'AccessTokenIssued',
      tokenHash: node.vault.hash(second.token),
    });
  });
});

describe('the own settings of a user', () => {
  const settings = (changed: Partial<UserSettings> = {}): UserSettings => ({
    notifyType: 'email',
    quotaWarningThreshold: 500_000,
    webhookUrl: '',
    webhookSecret: '',
    notificationEmail: '',
    acceptUnpricedModels: false,
    ...changed,
  });

  const stored = async (user: Actor): Promise<{ text: unknown; secret: string | null }> => {
    const event = (await eventsOf(user)).at(-1);
    if (event?.type !== 'UserSettingsChanged') throw new Error('no settings');
    const text = await node.personal.open(user.id, event.settings);
    return {
      text: JSON.parse(text ?? 'null') as unknown,
      secret: event.webhookSecret === null ? null : await node.vault.get(event.webhookSecret),
    };
  };

  test('for e-mail keep the address, and nothing of a webhook', async () => {
    const alice = await registered();
    await node.users.changeSettings(
      alice,
      settings({ notificationEmail: 'a@b.example', webhookUrl: 'https://h.example', webhookSecret: 's3' }),
    );
    expect(await stored(alice)).toStrictEqual({
      text: {
        notify_type: 'email',
        quota_warning_threshold: 500_000,
        accept_unset_model_ratio_model: false,
        notification_email: 'a@b.example',
      },
      secret: null,
    });
  });

  test('for a webhook keep its address, and its secret in the vault', async () => {
    const alice = await registered();
    const webhook = settings({ notifyType: 'webhook', webhookUrl: 'https://h.example/q', webhookSecret: 's3' });
    await node.users.changeSettings(alice, webhook);
    expect(await stored(alice)).toStrictEqual({
      text: {
        notify_type: 'webhook',
        quota_warning_threshold: 500_000,
        accept_unset_model_ratio_model: false,
        webhook_url: 'https://h.example/q',
      },
      secret: 's3',
    });
    await node.users.changeSettings(alice, { ...webhook, webhookSecret: '' });
    expect((await stored(alice)).secret).toBeNull();
  });

  test('include whether models without a price are accepted, and the threshold of warnings', async () => {
    const alice = await registered();
    await node.users.changeSettings(alice, settings({ acceptUnpricedModels: true, quotaWarningThreshold: 7 }));
    expect((await eventsOf(alice)).at(-1)).toMatchObject({ acceptUnpricedModels: true, quotaWarningThreshold: 7 });
    await node.caughtUp();
    expect(await node.directory.user(alice.id)).toMatchObject({ acceptUnpricedModels: true });
  });

  test.each<[string, Partial<UserSettings>, FailureCode]>([
    ['a threshold of 0', { quotaWarningThreshold: 0 }, 'warning-threshold-invalid'],
    ['a threshold that is not a number', { quotaWarningThreshold: Number.NaN }, 'warning-threshold-invalid'],
    ['a webhook without an address', { notifyType: 'webhook' }, 'webhook-url-missing'],
    ['a webhook with an invalid address', { notifyType: 'webhook', webhookUrl: 'h.example' }, 'webhook-url-invalid'],
    ['a webhook without encryption', { notifyType: 'webhook', webhookUrl: 'http://h.example' }, 'webhook-url-invalid'],
    ['an e-mail address without @', { notificationEmail: 'alice' }, 'notification-email-invalid'],
  ])('are refused for %s', async (_, changed, code) => {
    const alice = await registered();
    const before = await node.store.head();
    await expect(node.users.changeSettings(alice, settings(changed))).rejects.toThrow(refusal(code));
    expect(await node.store.head()).toBe(before);
  });
});
