import { beforeEach, describe, expect, test } from 'vitest';
import { identity } from '../../src/application/identity.js';
import { SecretId, type UserId } from '../../src/domain/ids.js';
import { type MemoryNode, openMemoryNode, root } from '../support/memory-node.js';
import { refusal } from '../support/refusal.js';

let node: MemoryNode;
let alice: UserId;

beforeEach(async () => {
  node = await openMemoryNode();
  const user = { username: 'alice', password: 'correct horse', displayName: '' };
  alice = (await node.users.create(root, user)).id;
  await node.caughtUp();
});

/** What somebody who tries to sign in learns: the answer, and the work it took. */
async function attempt(login: string, password: string): Promise<{ code: string; verified: number }> {
  const before = node.passwords.verified;
  const code = await node.identity.login(login, password).then(
    () => 'signed in',
    (error: { code: string; details: object }) => `${error.code} ${JSON.stringify(error.details)}`,
  );
  return { code, verified: node.passwords.verified - before };
}

describe('signing in', () => {
  test('with name and password opens a session', async () => {
    const { user, token } = await node.identity.login(' alice ', 'correct horse');
    expect(user).toMatchObject({ id: alice, username: 'alice', role: 'ordinary' });
    expect(await node.identity.bySession(token)).toMatchObject({ id: alice });
  });

  test('gets one answer, after the same work, for a wrong password, an unknown, a disabled and a deleted user', async () => {
    const answers = [await attempt('alice', 'wrong horse'), await attempt('nobody', 'correct horse')];
    await node.users.manage(root, alice, 'disable');
    await node.caughtUp();
    answers.push(await attempt('alice', 'correct horse'), await attempt('alice', 'wrong horse'));
    await node.users.manage(root, alice, 'delete');
    await node.caughtUp();
    answers.push(await attempt('alice', 'correct horse'));
    for (const answer of answers) expect(answer).toStrictEqual({ code: 'wrong-credentials {}', verified: 1 });
  });

  test('is refused to a user without password, whatever is given', async () => {
    const source = { byLogin: async () => ({ id: alice, passwordSecret: null }), byAccessTokenHash: async () => null };
    const { login } = identity({ ...node, source });
    for (const password of ['', 'no such user', 'correct horse'])
      await expect(login('alice', password)).rejects.toThrow(refusal('wrong-credentials'));
  });

  test('is refused when the password is gone from the vault', async () => {
    const source = {
      byLogin: async () => ({ id: alice, passwordSecret: SecretId('gone') }),
      byAccessTokenHash: async () => null,
    };
    await expect(identity({ ...node, source }).login('alice', 'no such user')).rejects.toThrow(
      refusal('wrong-credentials'),
    );
  });

  test('is closed to everybody while password login is switched off', async () => {
    await node.options.change(root, 'PasswordLoginEnabled', 'false');
    await node.caughtUp();
    expect(await attempt('alice', 'correct horse')).toStrictEqual({ code: 'password-login-closed {}', verified: 0 });
  });

  test('works with the new password after a change, not with the old one', async () => {
    const change = { username: null, password: 'new password', displayName: null };
    await node.users.changeOwnProfile({ id: alice, role: 'ordinary' }, change);
    expect((await attempt('alice', 'correct horse')).code).toBe('wrong-credentials {}');
    expect((await attempt('alice', 'new password')).code).toBe('signed in');
  });
});

describe('a session', () => {
  test('shows the user as it is now, not as it was', async () => {
    const { token } = await node.identity.login('alice', 'correct horse');
    await node.users.manage(root, alice, 'promote');
    await node.caughtUp();
    expect(await node.identity.bySession(token)).toMatchObject({ role: 'admin' });
  });

  test('of a disabled user ends; where one was opened since, a face can still say what is the matter', async () => {
    const { token } = await node.identity.login('alice', 'correct horse');
    await node.users.manage(root, alice, 'disable');
    await node.caughtUp();
    expect(await node.identity.bySession(token)).toBeNull();
    const later = await node.sessions.open(alice);
    expect(await node.identity.bySession(later)).toMatchObject({ status: 'disabled' });
  });

  test('of a deleted user is worth nothing', async () => {
    await node.users.manage(root, alice, 'delete');
    await node.caughtUp();
    expect(await node.identity.bySession(await node.sessions.open(alice))).toBeNull();
  });

  test('ends with signing out', async () => {
    const { token } = await node.identity.login('alice', 'correct horse');
    await node.identity.logout(token);
    expect(await node.identity.bySession(token)).toBeNull();
  });

  test('nobody opened belongs to nobody', async () => expect(await node.identity.bySession('made up')).toBeNull());
});

describe('a personal access token', () => {
  test('tells whose it is, until the next one is issued', async () => {
    const actor = { id: alice, role: 'ordinary' } as const;
    const first = await node.users.issueAccessToken(actor);
    expect(await node.identity.byAccessToken(first.token)).toMatchObject({ id: alice });
    const second = await node.users.issueAccessToken(actor);
    expect(await node.identity.byAccessToken(first.token)).toBeNull();
    expect(await node.identity.byAccessToken(second.token)).toMatchObject({ id: alice });
    expect(await node.identity.byAccessToken('made up')).toBeNull();
  });

  test('of a deleted user is worth nothing', async () => {
    const { token } = await node.users.issueAccessToken({ id: alice, role: 'ordinary' });
    await node.users.manage(root, alice, 'delete');
    await node.caughtUp();
    expect(await node.identity.byAccessToken(token)).toBeNull();
  });
});
