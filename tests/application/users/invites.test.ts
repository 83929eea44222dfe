import { beforeEach, describe, expect, test } from 'vitest';
import { claims } from '../../../src/application/users/claims.js';
import { invites } from '../../../src/application/users/invites.js';
import { streams } from '../../../src/domain/events/events.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;
const alice: Actor = { id: UserId(1), role: 'ordinary' };
const bob: Actor = { id: UserId(2), role: 'ordinary' };

const drawing = (...codes: readonly string[]) => {
  const left = [...codes];
  return invites({
    handle: node.handle,
    claims: claims(node),
    draw: () => left.shift() ?? 'none',
  });
};

beforeEach(async () => {
  node = await openMemoryNode();
  for (const { id } of [alice, bob])
    await node.users.register(
      { id, username: `user${id}`, displayName: 'x', passwordSecret: null, role: 'ordinary' },
      [],
    );
});

describe('an invite code', () => {
  test('is four letters or digits, permanent for its user, and can be found', async () => {
    const { code } = await node.users.invites.ownCode(alice);
    expect(code).toMatch(/^[0-9a-zA-Z]{4}$/);
    expect(await node.users.invites.ownCode(alice)).toEqual({ code, position: null });
    expect(await node.users.invites.inviterBy(code)).toBe(alice.id);
    expect(await node.eventsOf(streams.user(alice.id))).toContainEqual({ type: 'InviteCodeIssued', code });
  });

  test('that is taken is drawn again, and the failure is reported where none is free', async () => {
    await drawing('aaaa').ownCode(alice);
    expect(await drawing('aaaa', 'aaaa', 'bbbb').ownCode(bob)).toMatchObject({ code: 'bbbb' });
    await node.users.register(
      { id: UserId(3), username: 'carol', displayName: 'x', passwordSecret: null, role: 'ordinary' },
      [],
    );
    await expect(drawing('aaaa', 'bbbb', 'aaaa', 'bbbb').ownCode({ id: UserId(3), role: 'ordinary' })).rejects.toThrow(
      refusal('invite-code-taken'),
    );
  });

  test('is another one in another letter case', async () => {
    await drawing('aaaa').ownCode(alice);
    expect(await drawing('AAAA').ownCode(bob)).toMatchObject({ code: 'AAAA' });
  });

  test('requested twice at once is one, and the other code is free', async () => {
    const both = await Promise.all([drawing('aaaa').ownCode(alice), drawing('bbbb').ownCode(alice)]);
    const [{ code: first }, { code: second }] = both;
    expect(first).toBe(second);
    const other = first === 'aaaa' ? 'bbbb' : 'aaaa';
    expect(await drawing(other).ownCode(bob)).toMatchObject({ code: other });
  });

  test('drawn by two users at once belongs to one', async () => {
    const codes = await Promise.all([drawing('aaaa', 'bbbb').ownCode(alice), drawing('aaaa', 'cccc').ownCode(bob)]);
    expect(new Set(codes.map(({ code }) => code)).size).toBe(2);
  });

  test('of no user, or of a deleted user, is refused', async () => {
    const { code } = await node.users.invites.ownCode(alice);
    for (const none of ['', 'zzz', '....', 'none of them', '__proto__'])
      expect(await node.users.invites.inviterBy(none), none).toBeNull();
    await node.users.manage(root, alice.id, 'delete');
    expect(await node.users.invites.inviterBy(code)).toBeNull();
  });
});
