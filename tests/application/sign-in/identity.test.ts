import { beforeEach, describe, expect, test } from 'vitest';
import type { Directory, Passwords } from '../../../src/application/ports/storage-ports.js';
import { identity } from '../../../src/application/sign-in/identity.js';
import { passwordChecks } from '../../../src/application/sign-in/password-checks.js';
import { beginning } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { signIn, someClient } from '../../support/gateway/sign-in.js';
import { type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;
let alice: UserId;

beforeEach(async () => {
  node = await openMemoryNode();
  const user = { username: 'alice', password: 'correct horse', displayName: '' };
  alice = (await node.users.create(root, user)).id;
  await node.caughtUp();
});

const source = { byLogin: async () => alice, byAccessTokenHash: async () => null };

/** The directory, with another password for everybody. */
const withPassword = (passwordSecret: SecretId | null): Directory => ({
  ...node.directory,
  async credentials(id) {
    const found = await node.directory.credentials(id);
    return found === null ? null : { ...found, passwordSecret };
  },
});

const asAlice = () => ({ id: alice, role: 'ordinary' }) as const;
const newPassword = { username: null, password: 'new password', displayName: null };

/** What somebody who tries to sign in learns: the answer, and the work it took. */
async function attempt(login: string, password: string): Promise<{ code: string; verified: number }> {
  const before = node.passwords.verified;
  const code = await signIn(node.identity, login, password).then(
    () => 'signed in',
    (error: { code: string; details: object }) => `${error.code} ${JSON.stringify(error.details)}`,
  );
  return { code, verified: node.passwords.verified - before };
}

describe('signing in', () => {
  test('with name and password creates a session', async () => {
    const { user, token } = await signIn(node.identity, ' alice ', 'correct horse');
    expect(user).toMatchObject({ id: alice, username: 'alice', role: 'ordinary' });
    expect(await node.identity.bySession(token)).toMatchObject({ id: alice });
  });

  test('has one answer, after the same work, for a wrong password, an unknown, a disabled and a deleted user', async () => {
    const answers = [await attempt('alice', 'wrong horse'), await attempt('nobody', 'correct horse')];
    await node.users.manage(root, alice, 'disable');
    await node.caughtUp();
    answers.push(await attempt('alice', 'correct horse'), await attempt('alice', 'wrong horse'));
    await node.users.manage(root, alice, 'delete');
    await node.caughtUp();
    answers.push(await attempt('alice', 'correct horse'));
    for (const answer of answers) expect(answer).toStrictEqual({ code: 'wrong-credentials {}', verified: 1 });
  });

  test('is refused to a user without a password, whatever is sent', async () => {
    const { login } = identity({ ...node, source, directory: withPassword(null) });
    for (const password of ['', 'no such user', 'correct horse'])
      await expect(login('alice', password)).rejects.toThrow(refusal('wrong-credentials'));
  });

  test('is refused when the password is missing from the vault', async () => {
    const { login } = identity({ ...node, source, directory: withPassword(SecretId('gone')) });
    await expect(login('alice', 'no such user')).rejects.toThrow(refusal('wrong-credentials'));
  });

  test('is refused to all users while password login is switched off', async () => {
    await node.options.change(root, 'PasswordLoginEnabled', 'false');
    await node.caughtUp();
    expect(await attempt('alice', 'correct horse')).toStrictEqual({ code: 'password-login-closed {}', verified: 0 });
  });

  test('while the vault is unreadable is not counted as a guess: its owner need not wait when it is back', async () => {
    const stored = node.vault.get.bind(node.vault);
    node.vault.get = async () => {
      throw new Failure('store-unavailable');
    };
    for (let n = 0; n < 40; n++)
      await expect(
        node.identity.login('alice', 'correct horse', { ...someClient, network: `place ${n % 2}` }),
      ).rejects.toThrow(refusal('store-unavailable'));
    node.vault.get = stored;
    for (const network of ['place 0', 'place 1'])
      expect((await signIn(node.identity, 'alice', 'correct horse', { ...someClient, network })).user.id).toBe(alice);
    // And wrong ones still are.
    for (let n = 0; n < 6; n++)
      await expect(node.identity.login('alice', 'wrong horse', { ...someClient, network: 'place 0' })).rejects.toThrow(
        refusal('wrong-credentials'),
      );
    await expect(node.identity.login('alice', 'correct horse', { ...someClient, network: 'place 0' })).rejects.toThrow(
      refusal('too-many-attempts', { seconds: 1 }),
    );
  });

  test('works with the new password after a change, not with the old one', async () => {
    await node.users.changeOwnProfile(asAlice(), newPassword);
    await node.caughtUp();
    expect((await attempt('alice', 'correct horse')).code).toBe('wrong-credentials {}');
    expect((await attempt('alice', 'new password')).code).toBe('signed in');
  });
});

describe('every sign-in method', () => {
  test('creates a session, once it has identified the user', async () => {
    const entry = await node.identity.enter(alice, someClient);
    expect(entry).toMatchObject({ kind: 'signed-in', user: { id: alice } });
    if (entry.kind !== 'signed-in') return;
    expect(await node.identity.bySession(entry.token)).toMatchObject({ id: alice });
    expect(await node.sessions.openOf(alice, beginning)).toMatchObject([{ client: someClient }]);
  });

  test('refuses a disabled, deleted or unknown user with the reason', async () => {
    const enter = (id: UserId) => node.identity.enter(id, someClient);
    await node.users.manage(root, alice, 'disable');
    await node.caughtUp();
    await expect(enter(alice)).rejects.toThrow(refusal('user-disabled'));
    await node.users.manage(root, alice, 'delete');
    await node.caughtUp();
    await expect(enter(alice)).rejects.toThrow(refusal('user-deleted'));
    await expect(enter(UserId(4711))).rejects.toThrow(refusal('user-not-found'));
  });
});

describe('a session', () => {
  test('returns the user as it is now, not as it was', async () => {
    const { token } = await signIn(node.identity, 'alice', 'correct horse');
    await node.users.manage(root, alice, 'promote');
    await node.caughtUp();
    expect(await node.identity.bySession(token)).toMatchObject({ role: 'admin' });
  });

  test('of a disabled user ends; where one was created since, a face can still return the reason', async () => {
    const { token } = await signIn(node.identity, 'alice', 'correct horse');
    await node.users.manage(root, alice, 'disable');
    await node.caughtUp();
    expect(await node.identity.bySession(token)).toBeNull();
    const { endedAt } = (await node.directory.credentials(alice)) ?? { endedAt: beginning };
    const later = await node.sessions.open({ user: alice, since: endedAt }, someClient);
    expect(await node.identity.bySession(later)).toMatchObject({ status: 'disabled' });
  });

  test('of a disabled user is over before the directory knows, and then names the user', async () => {
    const { token } = await signIn(node.identity, 'alice', 'correct horse');
    const before = await node.directory.credentials(alice);
    const behind = identity({ ...node, source, directory: { ...node.directory, credentials: async () => before } });
    expect(await behind.bySession(token)).toMatchObject({ id: alice });
    await node.users.manage(root, alice, 'disable');
    expect(await behind.bySession(token)).toBeNull();
    expect(await behind.bySessionEvenDisabled(token)).toBeNull();
    await node.caughtUp();
    expect(await node.identity.bySession(token)).toBeNull();
    expect(await node.identity.bySessionEvenDisabled(token)).toMatchObject({ status: 'disabled' });
    await node.users.manage(root, alice, 'enable');
    await node.caughtUp();
    expect(await node.identity.bySessionEvenDisabled(token)).toBeNull();
  });

  test('of a deleted user is invalid', async () => {
    await node.users.manage(root, alice, 'delete');
    await node.caughtUp();
    const session = { user: alice, since: await node.store.head() };
    expect(await node.identity.bySession(await node.sessions.open(session, someClient))).toBeNull();
  });

  test('created with a password that was being changed is ended', async () => {
    const { verify } = node.passwords;
    // The old password has been read and is being compared; meanwhile there is a new one.
    const passwords: Passwords = Object.assign(Object.create(node.passwords) as Passwords, {
      async verify(hash: string, password: string) {
        await node.users.changeOwnProfile(asAlice(), newPassword);
        await node.caughtUp();
        return verify.call(node.passwords, hash, password);
      },
    });
    const { token } = await signIn(
      identity({
        ...node,
        source,
        passwordChecks: passwordChecks({ vault: node.vault, clock: node.clock, passwords }),
      }),
      'alice',
      'correct horse',
    );
    expect(await node.identity.bySession(token)).toBeNull();
  });

  test('created in place of one that its user’s password change ended is valid until it is ended', async () => {
    const position = await node.users.changeOwnProfile(asAlice(), newPassword);
    await node.caughtUp();
    const token = await node.identity.reopen(alice, position, someClient);
    expect(await node.identity.bySession(token)).toMatchObject({ id: alice });
    const reset = { ...newPassword, password: 'set by root', group: null, quota: null, role: null };
    await node.users.edit(root, alice, reset);
    await node.caughtUp();
    const late = await node.identity.reopen(alice, position, someClient);
    for (const ended of [token, late]) expect(await node.identity.bySession(ended)).toBeNull();
  });

  test('is not restored when a disabled user is enabled again, though its row still exists', async () => {
    const { token } = await signIn(node.identity, 'alice', 'correct horse');
    Object.assign(node.sessions, { closeOlder: async () => {} });
    for (const action of ['disable', 'enable'] as const) await node.users.manage(root, alice, action);
    await node.caughtUp();
    expect(await node.sessions.find(token)).not.toBeNull();
    expect(await node.identity.bySession(token)).toBeNull();
  });

  test('ends with signing out', async () => {
    const { token } = await signIn(node.identity, 'alice', 'correct horse');
    await node.identity.logout(token);
    expect(await node.identity.bySession(token)).toBeNull();
  });

  test('with an unknown id belongs to no user', async () =>
    expect(await node.identity.bySession('made up')).toBeNull());
});

describe('a personal access token', () => {
  test('identifies its user, until the next one is issued', async () => {
    const actor = { id: alice, role: 'ordinary' } as const;
    const first = await node.users.issueAccessToken(actor);
    await node.caughtUp();
    expect(await node.identity.byAccessToken(first.token)).toMatchObject({ id: alice });
    const second = await node.users.issueAccessToken(actor);
    await node.caughtUp();
    expect(await node.identity.byAccessToken(first.token)).toBeNull();
    expect(await node.identity.byAccessToken(second.token)).toMatchObject({ id: alice });
    expect(await node.identity.byAccessToken('made up')).toBeNull();
  });

  test('is invalidated by a new password and by disabling, and not restored', async () => {
    const orders = [
      () => node.users.changeOwnProfile(asAlice(), newPassword),
      async () => {
        for (const action of ['disable', 'enable'] as const) await node.users.manage(root, alice, action);
      },
    ];
    for (const order of orders) {
      const { token } = await node.users.issueAccessToken(asAlice());
      await node.caughtUp();
      expect(await node.identity.byAccessToken(token)).toMatchObject({ id: alice });
      await order();
      await node.caughtUp();
      expect(await node.identity.byAccessToken(token)).toBeNull();
    }
  });

  test('of a disabled user still identifies the user, so that a face can return the reason', async () => {
    const { token } = await node.users.issueAccessToken(asAlice());
    await node.users.manage(root, alice, 'disable');
    await node.caughtUp();
    expect(await node.identity.byAccessToken(token)).toMatchObject({ status: 'disabled' });
  });

  test('of a deleted user is invalid', async () => {
    const { token } = await node.users.issueAccessToken({ id: alice, role: 'ordinary' });
    await node.users.manage(root, alice, 'delete');
    await node.caughtUp();
    expect(await node.identity.byAccessToken(token)).toBeNull();
  });
});
