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

describe('a name', () => {
  test('belongs to who claims it first, in any spelling', async () => {
    await names.claim('Alice', alice);
    await expect(names.claim('aLICE', bob)).rejects.toThrow(taken);
    expect(await holderOf('alice')).toBe(alice);
  });

  test('can be claimed again by its holder: a registration may be repeated', async () => {
    await names.claim('alice', alice);
    await names.claim('alice', alice);
    expect(await node.eventsOf(streams.username('alice'))).toHaveLength(2);
  });

  test('that two claim at once goes to one of them', async () => {
    const outcomes = await Promise.allSettled([names.claim('alice', alice), names.claim('alice', bob)]);
    expect(outcomes.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected']);
    expect(await node.eventsOf(streams.username('alice'))).toHaveLength(1);
  });

  test('given back is free', async () => {
    await names.claim('alice', alice);
    await names.release('alice', alice);
    await names.claim('alice', bob);
    expect(await holderOf('alice')).toBe(bob);
  });

  test('is not given back by who does not hold it', async () => {
    await names.claim('alice', alice);
    await names.release('alice', bob);
    expect(await holderOf('alice')).toBe(alice);
  });

  test('is not given back while its user bears it, whoever asks for it', async () => {
    await names.claim('alice', alice);
    await register(alice, 'Alice');
    await names.release('alice', alice);
    expect(await holderOf('alice')).toBe(alice);
  });

  test('given back between refusal and second look is free', async () => {
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

  test('of a user is read from the log', async () => {
    expect(await names.nameOf(alice)).toBeNull();
    await register(alice, 'alice');
    await rename(alice, 'alicia');
    expect(await names.nameOf(alice)).toBe('alicia');
  });
});

describe('a claim that is not used', () => {
  test('stands for a minute: its registration may be under way', async () => {
    await names.claim('alice', alice);
    node.clock.advance(abandonedAfterMs - 1);
    await expect(names.claim('alice', bob)).rejects.toThrow(taken);
  });

  test('is taken over after that: its registration died half-way', async () => {
    await names.claim('alice', alice);
    node.clock.advance(abandonedAfterMs);
    await names.claim('alice', bob);
    expect(await holderOf('alice')).toBe(bob);
  });

  test('is taken over by one of many who want it', async () => {
    await names.claim('alice', alice);
    node.clock.advance(abandonedAfterMs);
    const wanting = Array.from({ length: 5 }, (_, n) => names.claim('alice', UserId(20 + n)));
    const outcomes = await Promise.allSettled(wanting);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('stands for another minute once its user claims it again', async () => {
    await register(alice, 'alice');
    await names.claim('alicia', alice);
    node.clock.advance(abandonedAfterMs);
    await names.claim('alicia', alice);
    await expect(names.claim('alicia', bob)).rejects.toThrow(taken);
    node.clock.advance(abandonedAfterMs);
    await names.claim('alicia', bob);
    expect(await holderOf('alicia')).toBe(bob);
  });

  test('stays with its user who claims it again while another finds it abandoned', async () => {
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

  test('is taken over when its user goes by another name: a renaming died half-way', async () => {
    await register(alice, 'alice');
    await names.claim('alicia', alice);
    node.clock.advance(abandonedAfterMs);
    await names.claim('alicia', bob);
    expect(await holderOf('alicia')).toBe(bob);
  });

  test('is taken over when its user was renamed and did not give it back', async () => {
    await names.claim('alice', alice);
    await register(alice, 'alice');
    node.clock.advance(abandonedAfterMs);
    await expect(names.claim('alice', bob)).rejects.toThrow(taken);
    await rename(alice, 'alicia');
    await names.claim('alice', bob);
    expect(await holderOf('alice')).toBe(bob);
  });
});

test('the name of a user stays taken for ever, deleted or not', async () => {
  await names.claim('alice', alice);
  await register(alice, 'alice');
  await node.handle(userDecider, streams.user(alice), { type: 'DeleteUser', by: { id: UserId(1), role: 'root' } });
  node.clock.advance(10 * abandonedAfterMs);
  await expect(names.claim('alice', bob)).rejects.toThrow(taken);
});

describe('a name that looks like another', () => {
  const cyrillicPaypal = 'раураӏ';

  test('is taken with it, whoever comes first', async () => {
    await names.claim('paypal', alice);
    await expect(names.claim(cyrillicPaypal, bob)).rejects.toThrow(taken);
    await expect(names.claim('ｐａｙｐａｌ', bob)).rejects.toThrow(taken);
    await names.claim('асе', bob);
    await expect(names.claim('ACE', alice)).rejects.toThrow(taken);
  });

  test('leaves no claim behind when it is refused', async () => {
    await names.claim('paypal', alice);
    await expect(names.claim(cyrillicPaypal, bob)).rejects.toThrow(taken);
    expect(await holderOf(cyrillicPaypal)).toBeNull();
  });

  test('is free again once its holder is called otherwise, and stays with who goes from one to the other', async () => {
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

  test('of ASCII letters costs nothing more than it did', async () => {
    await names.claim('Alice', alice);
    expect(await node.store.everything()).toHaveLength(1);
  });
});
