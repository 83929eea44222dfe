import { beforeEach, describe, expect, test } from 'vitest';
import { claims } from '../../../src/application/users/claims.js';
import { usernames } from '../../../src/application/users/usernames.js';
import { streams } from '../../../src/domain/events/events.js';
import { Sealed, UserId } from '../../../src/domain/kernel/ids.js';
import { userDecider } from '../../../src/domain/user/user.js';
import { type MemoryNode, openMemoryNode } from '../../support/memory/memory-node.js';

const alice = UserId(7);
const bob = UserId(8);
const abandonedAfterMs = 60_000;

let node: MemoryNode;
let names: ReturnType<typeof usernames>;

beforeEach(async () => {
  node = await openMemoryNode();
  names = usernames(claims(node));
});

const register = (id: UserId, username: string) =>
  node.handle(userDecider, streams.user(id), {
    type: 'RegisterUser',
    username,
    displayName: Sealed('sealed'),
    email: null,
    identity: null,
    role: 'ordinary',
    group: 'default',
    passwordSecret: null,
    inviter: null,
    grants: [],
  });

const rename = (id: UserId, username: string) =>
  node.handle(userDecider, streams.user(id), {
    type: 'ChangeProfile',
    username,
    displayName: null,
    passwordSecret: null,
  });

const holderOf = async (name: string): Promise<UserId | null> => {
  const last = (await node.eventsOf(streams.username(name))).at(-1);
  return last?.type === 'UsernameClaimed' ? last.userId : null;
};

const taken = expect.objectContaining({ code: 'username-taken' });

describe('the claim of a user name', () => {
  test('belongs to its first claimant, in any spelling', async () => {
    await names.claim('Alice', alice);
    await expect(names.claim('aLICE', bob)).rejects.toThrow(taken);
    expect(await holderOf('alice')).toBe(alice);
  });

  test('can be repeated by its holder: a registration may be repeated', async () => {
    await names.claim('alice', alice);
    await names.claim('alice', alice);
    expect(await node.eventsOf(streams.username('alice'))).toHaveLength(2);
  });

  test('by two at once goes to one of them', async () => {
    const outcomes = await Promise.allSettled([names.claim('alice', alice), names.claim('alice', bob)]);
    expect(outcomes.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected']);
    expect(await node.eventsOf(streams.username('alice'))).toHaveLength(1);
  });

  test('is free once it is released', async () => {
    await names.claim('alice', alice);
    await names.release('alice', alice);
    await names.claim('alice', bob);
    expect(await holderOf('alice')).toBe(bob);
  });

  test('is not released by a user that does not hold it', async () => {
    await names.claim('alice', alice);
    await names.release('alice', bob);
    expect(await holderOf('alice')).toBe(alice);
  });

  test('is not released while its user has the name, for any requester', async () => {
    await names.claim('alice', alice);
    await register(alice, 'Alice');
    await names.release('alice', alice);
    expect(await holderOf('alice')).toBe(alice);
  });

  test('is free if released between the refusal and the second check', async () => {
    await names.claim('alice', alice);
    const late = usernames(
      claims({
        ...node,
        store: {
          async readStream(stream) {
            if (stream === streams.username('alice')) await names.release('alice', alice);
            return node.store.readStream(stream);
          },
        },
      }),
    );
    await late.claim('alice', bob);
    expect(await holderOf('alice')).toBe(bob);
  });

  test('is checked against the name of the user in the log', async () => {
    expect(await names.nameOf(alice)).toBeNull();
    await register(alice, 'alice');
    await rename(alice, 'alicia');
    expect(await names.nameOf(alice)).toBe('alicia');
  });
});

describe('an unused claim of a name', () => {
  test('is kept for a minute: its registration may be in progress', async () => {
    await names.claim('alice', alice);
    node.clock.advance(abandonedAfterMs - 1);
    await expect(names.claim('alice', bob)).rejects.toThrow(taken);
  });

  test('is taken over after that: its registration was interrupted', async () => {
    await names.claim('alice', alice);
    node.clock.advance(abandonedAfterMs);
    await names.claim('alice', bob);
    expect(await holderOf('alice')).toBe(bob);
  });

  test('is taken over by one of many concurrent claimants', async () => {
    await names.claim('alice', alice);
    node.clock.advance(abandonedAfterMs);
    const wanting = Array.from({ length: 5 }, (_, n) => names.claim('alice', UserId(20 + n)));
    const outcomes = await Promise.allSettled(wanting);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('is kept for another minute once its user claims it again', async () => {
    await register(alice, 'alice');
    await names.claim('alicia', alice);
    node.clock.advance(abandonedAfterMs);
    await names.claim('alicia', alice);
    await expect(names.claim('alicia', bob)).rejects.toThrow(taken);
    node.clock.advance(abandonedAfterMs);
    await names.claim('alicia', bob);
    expect(await holderOf('alicia')).toBe(bob);
  });

  test('is kept by its user that claims it again while another finds it abandoned', async () => {
    await register(alice, 'alice');
    await names.claim('alicia', alice);
    node.clock.advance(abandonedAfterMs);
    let claimedAgain = false;
    const late = usernames(
      claims({
        ...node,
        store: {
          readStream: async (stream) => {
            const recorded = await node.store.readStream(stream);
            // Whether alice bears it is what is asked last before it is taken from her.
            if (stream === streams.user(alice) && !claimedAgain) {
              claimedAgain = true;
              await names.claim('alicia', alice);
            }
            return recorded;
          },
        },
      }),
    );
    await expect(late.claim('alicia', bob)).rejects.toThrow(taken);
    expect(claimedAgain).toBe(true);
    expect(await holderOf('alicia')).toBe(alice);
  });

  test('is taken over when its user has another name: a renaming was interrupted', async () => {
    await register(alice, 'alice');
    await names.claim('alicia', alice);
    node.clock.advance(abandonedAfterMs);
    await names.claim('alicia', bob);
    expect(await holderOf('alicia')).toBe(bob);
  });

  test('is taken over when its user was renamed and did not release it', async () => {
    await names.claim('alice', alice);
    await register(alice, 'alice');
    node.clock.advance(abandonedAfterMs);
    await expect(names.claim('alice', bob)).rejects.toThrow(taken);
    await rename(alice, 'alicia');
    await names.claim('alice', bob);
    expect(await holderOf('alice')).toBe(bob);
  });
});

test('the name of a user stays claimed permanently, deleted or not', async () => {
  await names.claim('alice', alice);
  await register(alice, 'alice');
  await node.handle(userDecider, streams.user(alice), { type: 'DeleteUser', by: { id: UserId(1), role: 'root' } });
  node.clock.advance(10 * abandonedAfterMs);
  await expect(names.claim('alice', bob)).rejects.toThrow(taken);
});

describe('a name that looks like another', () => {
  const cyrillicPaypal = 'раураӏ';

  test('is claimed together with it, in either order', async () => {
    await names.claim('paypal', alice);
    await expect(names.claim(cyrillicPaypal, bob)).rejects.toThrow(taken);
    await expect(names.claim('ｐａｙｐａｌ', bob)).rejects.toThrow(taken);
    await names.claim('асе', bob);
    await expect(names.claim('ACE', alice)).rejects.toThrow(taken);
  });

  test('leaves no claim when it is refused', async () => {
    await names.claim('paypal', alice);
    await expect(names.claim(cyrillicPaypal, bob)).rejects.toThrow(taken);
    expect(await holderOf(cyrillicPaypal)).toBeNull();
  });

  test('is free again once its holder is renamed, and is kept by a holder that moves from one to the other', async () => {
    await names.claim('асе', alice);
    await register(alice, 'асе');
    await names.claim('ace', alice);
    await rename(alice, 'ace');
    await names.release('асе', alice);
    expect([await holderOf('асе'), await holderOf('ace')]).toEqual([null, alice]);
    await names.claim('king', alice);
    await rename(alice, 'king');
    await names.release('ace', alice);
    await names.claim('асе', bob);
  });

  test('with ASCII letters only requires no further claim', async () => {
    await names.claim('Alice', alice);
    expect(await node.store.everything()).toHaveLength(1);
  });
});
