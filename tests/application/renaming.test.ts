import { beforeEach, describe, expect, test } from 'vitest';
import type { NewUser } from '../../src/application/users/user-registration.js';
import { type DomainEvent, streams } from '../../src/domain/events/events.js';
import { Failure, type FailureCode } from '../../src/domain/kernel/failure.js';
import { UserId } from '../../src/domain/kernel/ids.js';
import type { Actor } from '../../src/domain/user/user.js';
import { newUser, ownProfile, userPatch } from '../support/given/user-inputs.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../support/memory/memory-node.js';
import { refusal } from '../support/refusal.js';

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

function held() {
  let letGo = (): void => {};
  const until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  return { until, letGo };
}

describe('renaming a user', () => {
  test('claims the new name, then releases the old one', async () => {
    const alice = await registered();
    await node.users.changeOwnProfile(alice, ownProfile({ username: 'alicia' }));
    expect(await holderOf('alicia')).toBe(alice.id);
    expect(await holderOf('alice')).toBeNull();
    expect((await eventsOf(alice)).at(-1)).toMatchObject({ type: 'UserProfileChanged', username: 'alicia' });
  });

  test('to a taken name is refused and leaves both names unchanged', async () => {
    const [alice, bob] = [await registered(), await registered({ username: 'bob' })];
    const before = (await eventsOf(alice)).length;
    await expect(node.users.changeOwnProfile(alice, ownProfile({ username: 'Bob' }))).rejects.toThrow(
      refusal('username-taken'),
    );
    expect(await holderOf('alice')).toBe(alice.id);
    expect(await holderOf('bob')).toBe(bob.id);
    expect(await eventsOf(alice)).toHaveLength(before);
  });

  test('that is refused releases the new name', async () => {
    const alice = await registered({ role: 'admin' });
    await expect(node.users.edit(admin, alice.id, userPatch({ username: 'alicia' }))).rejects.toThrow(
      refusal('peer-update-forbidden'),
    );
    expect(await holderOf('alicia')).toBeNull();
    expect(await holderOf('alice')).toBe(alice.id);
  });

  test('to another spelling of one’s own name keeps it, whatever a concurrent change of the same user releases', async () => {
    const alice = await registered();
    const { store } = node;
    store.beforeAppend = async (stream) => {
      if (stream !== streams.user(alice.id)) return;
      store.beforeAppend = async () => {};
      await node.users.changeOwnProfile(alice, ownProfile({ username: 'alicia' }));
    };
    await node.users.changeOwnProfile(alice, ownProfile({ username: 'Alice' }));
    expect((await eventsOf(alice)).at(-1)).toMatchObject({ username: 'Alice' });
    await expect(node.users.create(root, newUser({ username: 'alice' }))).rejects.toThrow(refusal('username-taken'));
    expect(await holderOf('alicia')).toBeNull();
  });

  test('that fails takes nothing from a concurrent change of the same user to that name', async () => {
    const alice = await registered();
    const { store } = node;
    const [failed, arrived] = [held(), held()];
    let second: Promise<unknown> = Promise.resolve();
    let changes = 0;
    store.beforeAppend = async (stream) => {
      if (stream !== streams.user(alice.id)) return;
      changes += 1;
      if (changes === 1) {
        second = node.users.changeOwnProfile(alice, ownProfile({ username: 'alicia' }));
        await arrived.until;
        throw new Failure('store-busy');
      }
      arrived.letGo();
      await failed.until;
    };
    const first = node.users.changeOwnProfile(alice, ownProfile({ username: 'alicia' }));
    await expect(first).rejects.toThrow(refusal('store-busy'));
    failed.letGo();
    await second;
    expect((await eventsOf(alice)).at(-1)).toMatchObject({ username: 'alicia' });
    await expect(node.users.create(root, newUser({ username: 'alicia' }))).rejects.toThrow(refusal('username-taken'));
  });

  test('without an answer is found in the stream, and keeps the new name', async () => {
    const alice = await registered();
    const { store } = node;
    store.beforeAppend = async (stream, events) => {
      if (stream !== streams.user(alice.id)) return;
      store.beforeAppend = async () => {};
      await store.append(stream, events, 'any');
      throw new Failure('store-unavailable');
    };
    await node.users.changeOwnProfile(alice, ownProfile({ username: 'alicia' }));
    expect(await holderOf('alicia')).toBe(alice.id);
    await expect(node.users.create(root, newUser({ username: 'alicia' }))).rejects.toThrow(refusal('username-taken'));
  });

  test('that can neither be completed nor rolled back reports the first reason', async () => {
    const alice = await registered();
    node.store.beforeAppend = async (stream) => {
      if (stream === streams.user(alice.id)) throw new Failure('store-unavailable', { reason: 'first' });
      if (stream === streams.username('alicia') && (await holderOf('alicia')) !== null) throw new Error('second');
    };
    await expect(node.users.changeOwnProfile(alice, ownProfile({ username: 'alicia' }))).rejects.toMatchObject({
      code: 'store-unavailable',
      details: { reason: 'first' },
    });
  });

  test('in another letter case needs no claim', async () => {
    const alice = await registered();
    await node.users.changeOwnProfile(alice, ownProfile({ username: 'Alice' }));
    expect(await node.eventsOf(streams.username('alice'))).toHaveLength(1);
    expect((await eventsOf(alice)).at(-1)).toMatchObject({ username: 'Alice' });
  });

  test('to the current name changes nothing, however long it is', async () => {
    const alice = await registered();
    const { position } = await node.users.create(root, newUser({ username: 'bob' }));
    await node.users.changeOwnProfile(alice, ownProfile({ username: 'alice' }));
    expect(await node.store.head()).toBe(position);
  });

  test('and back at once ends with the name claimed, even if the memory of the node lags behind', async () => {
    const alice = await registered();
    node.store.hold();
    await node.users.changeOwnProfile(alice, ownProfile({ username: 'alicia' }));
    await node.users.changeOwnProfile(alice, ownProfile({ username: 'alice' }));
    expect(await holderOf('alice')).toBe(alice.id);
    expect(await holderOf('alicia')).toBeNull();
    node.store.letGo();
  });

  test.each<[string, string, FailureCode]>([
    ['a blank name', '  ', 'username-blank'],
    ['a name that is too long', 'a'.repeat(13), 'username-too-long'],
  ])('to %s is refused', async (_, username, code) => {
    const alice = await registered();
    await expect(node.users.changeOwnProfile(alice, ownProfile({ username }))).rejects.toThrow(refusal(code));
    await expect(node.users.edit(root, alice.id, userPatch({ username }))).rejects.toThrow(refusal(code));
  });

  test('that does not exist claims nothing', async () => {
    await expect(node.users.edit(root, UserId(99), userPatch({ username: 'nobody' }))).rejects.toThrow(
      refusal('user-not-found'),
    );
    expect(await node.store.everything()).toStrictEqual([]);
  });
});
