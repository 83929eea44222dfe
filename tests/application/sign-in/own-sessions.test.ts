import { describe, expect, test } from 'vitest';
import { signIn, someClient } from '../../support/gateway/sign-in.js';
import { refusal } from '../../support/refusal.js';
import { alice, asUser, bob, node, usersBeforeEachTest } from './second-factor-setting.js';

usersBeforeEachTest();

describe('a user’s own sessions', () => {
  test('are listed with the current one, and ended by their owner only', async () => {
    const here = await signIn(node.identity, 'alice', 'correct horse', someClient);
    const there = await signIn(node.identity, 'alice', 'correct horse', { ...someClient, userAgent: 'Phone/2.0' });
    const current = node.identity.sessionOf(here.token);
    const list = await node.ownSessions.list(asUser(alice), current);
    expect(list.map(({ current, client }) => [current, client.userAgent])).toEqual([
      [false, 'Phone/2.0'],
      [true, 'Test/1.0'],
    ]);
    const ended: string[] = [];
    node.identity.onEnd((id) => ended.push(id));
    const other = node.identity.sessionOf(there.token);
    await expect(node.ownSessions.end(asUser(bob), other)).rejects.toThrow(refusal('session-not-found'));
    await node.ownSessions.end(asUser(alice), other);
    expect(ended).toEqual([other]);
    expect(await node.identity.bySession(there.token)).toBeNull();
    expect(await node.identity.bySession(here.token)).not.toBeNull();
  });

  test('can all be ended except the current one', async () => {
    const tokens = await Promise.all(
      [1, 2, 3].map(async () => (await signIn(node.identity, 'alice', 'correct horse')).token),
    );
    const [here = '', ...others] = tokens;
    expect(await node.ownSessions.endOthers(asUser(alice), node.identity.sessionOf(here))).toBe(2);
    for (const token of others) expect(await node.identity.bySession(token)).toBeNull();
    expect(await node.identity.bySession(here)).not.toBeNull();
  });
});
