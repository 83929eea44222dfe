import { beforeEach, expect, test } from 'vitest';
import { freeErasedClaims } from '../../../src/application/reactions/free-erased-claims.js';
import { bindings } from '../../../src/application/sign-in/bindings.js';
import { passkeysOf } from '../../../src/application/sign-in/passkeys-of.js';
import { accountDeletion } from '../../../src/application/users/account-deletion.js';
import { claims } from '../../../src/application/users/claims.js';
import { usernames } from '../../../src/application/users/usernames.js';
import { streams } from '../../../src/domain/events/events.js';
import { Sealed, UserId } from '../../../src/domain/kernel/ids.js';
import { type Actor, userDecider } from '../../../src/domain/user/user.js';
import { MemoryPersonalData, MemorySessions } from '../../support/memory/fake-ports.js';
import { type MemoryNode, openMemoryNode } from '../../support/memory/memory-node.js';

const root: Actor = { id: UserId(1), role: 'root' };
const alice = UserId(7);
const bob = UserId(8);

let node: MemoryNode;
let personal: MemoryPersonalData;
let claimed: ReturnType<typeof claims>;
let bound: ReturnType<typeof bindings>;
let names: ReturnType<typeof usernames>;

beforeEach(async () => {
  node = await openMemoryNode();
  personal = new MemoryPersonalData();
  claimed = claims(node);
  names = usernames(claimed);
  bound = bindings({ handle: node.handle, personal, claims: claimed, passkeysOf: passkeysOf(node.store) });
});

const leavingOf = (sessions = new MemorySessions()) =>
  accountDeletion({ handle: node.handle, personal, sessions, claims: claimed, names, stepUps: node.stepUps });

async function settled(id: UserId, username: string): Promise<void> {
  await names.claim(username, id);
  await node.handle(userDecider, streams.user(id), {
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
}

test('the claims of an erased user are released after a crash, by the next start', async () => {
  await settled(alice, 'alice');
  await bound.changeEmail(alice, 'alice@example.org');
  await bound.link(alice, { provider: 'wechat', subject: 'wx', shown: 'wx' });
  await node.handle(userDecider, streams.user(alice), { type: 'EraseUser', by: root });

  const reaction = freeErasedClaims(leavingOf().freeClaims);
  const [requested] = (await node.store.readStream(streams.user(alice))).filter(
    (recorded) => reaction.asks(recorded) !== null,
  );
  expect(requested?.event.type).toBe('UserErased');
  await reaction.react(streams.user(alice));
  await reaction.react(streams.user(alice));

  await settled(bob, 'alice');
  await bound.changeEmail(bob, 'alice@example.org');
  await bound.link(bob, { provider: 'wechat', subject: 'wx', shown: 'wx' });
  expect(await bound.emailHolder('alice@example.org')).toBe(bob);
  // Late, and for somebody else's claims by now.
  await reaction.react(streams.user(alice));
  expect(await bound.identityHolder('wechat', 'wx')).toBe(bob);
  await expect(names.claim('alice', alice)).rejects.toMatchObject({ code: 'username-taken' });
});

test('the claims of a user that is only deleted are kept', async () => {
  await settled(alice, 'alice');
  await bound.changeEmail(alice, 'alice@example.org');
  await leavingOf().deleteOwnAccount({ id: alice, role: 'ordinary' });
  await leavingOf().freeClaims(alice);
  expect(await bound.emailHolder('alice@example.org')).toBe(alice);
  await expect(names.claim('alice', bob)).rejects.toMatchObject({ code: 'username-taken' });
});

test('a claim whose user crashed before bearing it can be taken by another after a minute', async () => {
  const claim = claimed.identity('github', personal.identityClaim('github', '17'));
  await settled(bob, 'bob');
  await claim.claim(alice);
  await expect(bound.link(bob, { provider: 'github', subject: '17', shown: 'hub' })).rejects.toMatchObject({
    code: 'identity-taken',
  });
  node.clock.advance(60_000);
  await bound.link(bob, { provider: 'github', subject: '17', shown: 'hub' });
  expect(await claim.holder()).toBe(bob);
});
