import { describe, test } from 'vitest';
import type { LinkedIdentity } from '../../src/domain/kernel/claim.js';
import { IdentityClaim, Sealed, SecretId, UserId } from '../../src/domain/kernel/ids.js';
import type { Role } from '../../src/domain/user/role.js';
import { type Actor, type UserEvent, userDecider } from '../../src/domain/user/user.js';
import { scenariosOf } from '../support/given/given.js';

const given = scenariosOf(userDecider);

const root: Actor = { id: UserId(1), role: 'root' };
const admin: Actor = { id: UserId(2), role: 'admin' };

const registered = (passwordSecret: SecretId | null = SecretId('password'), role: Role = 'ordinary'): UserEvent => ({
  type: 'UserRegistered',
  username: 'alice',
  displayName: Sealed('sealed Alice'),
  role,
  group: 'default',
  passwordSecret,
  inviter: null,
});
const address = { claim: IdentityClaim('claim of a@b'), shown: Sealed('sealed a@b') };
const emailed: UserEvent = { type: 'EmailChanged', email: address };
const github: LinkedIdentity = {
  provider: 'github',
  claim: IdentityClaim('claim of 17'),
  shown: Sealed('sealed alice'),
};
const oidc: LinkedIdentity = { provider: 'oidc', claim: IdentityClaim('claim of sub'), shown: Sealed('sealed sub') };
const linked = (identity: LinkedIdentity): UserEvent => ({ type: 'IdentityLinked', ...identity });
const deleted: UserEvent = { type: 'UserDeleted', by: root.id };
const erased: UserEvent = { type: 'UserErased', by: root.id };

describe('registering a user with an identity', () => {
  test('records address and identity with the user, once', () =>
    given()
      .when({
        type: 'RegisterUser',
        username: 'alice',
        displayName: Sealed('sealed Alice'),
        role: 'ordinary',
        group: 'default',
        passwordSecret: null,
        inviter: null,
        email: address,
        identity: github,
        grants: [],
      })
      .thenRecordedOnce(registered(null), emailed, linked(github)));
});

describe('the e-mail address of a user', () => {
  test('is recorded once, changed, and removed', () => {
    given(registered()).when({ type: 'ChangeEmail', email: address }).thenRecordedOnce(emailed);
    given(registered(), emailed)
      .when({ type: 'ChangeEmail', email: null })
      .thenRecordedOnce({ type: 'EmailChanged', email: null });
    given(registered()).when({ type: 'ChangeEmail', email: null }).thenNothing();
  });

  test('is refused to an absent or deleted user', () => {
    given().when({ type: 'ChangeEmail', email: address }).thenRefused('user-not-found');
    given(registered(), deleted).when({ type: 'ChangeEmail', email: address }).thenRefused('user-not-found');
  });
});

describe('an identity at an identity provider', () => {
  test('is linked once', () =>
    given(registered())
      .when({ type: 'LinkIdentity', ...github })
      .thenRecordedOnce(linked(github)));

  test('is not replaced by another one of the same provider', () =>
    given(registered(), linked(github))
      .when({ type: 'LinkIdentity', ...github, claim: IdentityClaim('claim of 18') })
      .thenRefused('other-identity-bound', { provider: 'github' }));

  test('is unlinked once', () =>
    given(registered(), linked(github))
      .when({ type: 'UnlinkIdentity', provider: 'github', passkeys: [] })
      .thenRecordedOnce({ type: 'IdentityUnlinked', provider: 'github' }));

  test('is kept where it is the only sign-in method', () =>
    given(registered(null), emailed, linked(github))
      .when({ type: 'UnlinkIdentity', provider: 'github', passkeys: [] })
      .thenRefused('last-door', { provider: 'github' }));

  test('is removed where a password, another identity or another sign-in method remains', () => {
    const unlinked: UserEvent = { type: 'IdentityUnlinked', provider: 'github' };
    const without = { type: 'UnlinkIdentity', provider: 'github', passkeys: [] } as const;
    given(registered(null), linked(github), linked(oidc)).when(without).thenRecordedOnce(unlinked);
    given(registered(null), linked(github), { type: 'PasswordChanged', passwordSecret: SecretId('p') })
      .when(without)
      .thenRecordedOnce(unlinked);
    given(registered(null), linked(github))
      .when({ ...without, passkeys: ['p1'] })
      .thenRecordedOnce(unlinked);
  });
});

describe('the last passkey', () => {
  const givenUp: UserEvent = { type: 'PasskeyGivenUp', passkey: 'p1' };
  const order = { type: 'GiveUpPasskey', passkey: 'p1' } as const;

  test('is removed for a linked identity, and a repeated command records it again', () => {
    given(registered(null), linked(github)).when(order).thenRecorded(givenUp);
    given(registered(null), linked(github), givenUp).when(order).thenRecorded(givenUp);
  });

  test('is kept where there is no other sign-in method', () => {
    given(registered(null), emailed).when(order).thenRefused('last-door');
    given(registered(null), linked(github), { type: 'IdentityUnlinked', provider: 'github' })
      .when(order)
      .thenRefused('last-door');
  });

  test('requires no other sign-in method beside a password, which is kept', () =>
    given(registered()).when(order).thenNothing());

  test('once removed does not permit unlinking an identity, unless there is another one', () => {
    const unlink = { type: 'UnlinkIdentity', provider: 'github' } as const;
    given(registered(null), linked(github), givenUp)
      .when({ ...unlink, passkeys: ['p1'] })
      .thenRefused('last-door', { provider: 'github' });
    given(registered(null), linked(github), givenUp)
      .when({ ...unlink, passkeys: ['p1', 'p2'] })
      .thenRecordedOnce({ type: 'IdentityUnlinked', provider: 'github' });
  });
});

describe('closing the own account', () => {
  test('is possible for all but root, once', () => {
    given(registered())
      .when({ type: 'DeleteOwnAccount', by: UserId(3) })
      .thenRecordedOnce({ ...deleted, by: UserId(3) });
    given(registered(SecretId('password'), 'root'))
      .when({ type: 'DeleteOwnAccount', by: root.id })
      .thenRefused('root-protected-leave');
  });
});

describe('erasing a user', () => {
  test('first deletes a user that is not deleted, once', () => {
    given(registered()).when({ type: 'EraseUser', by: root }).thenRecorded(deleted, erased);
    given(registered(), deleted).when({ type: 'EraseUser', by: root }).thenRecorded(erased);
  });

  test('is refused among equals, against root by root itself, and where no user exists', () => {
    given(registered(SecretId('p'), 'admin'))
      .when({ type: 'EraseUser', by: admin })
      .thenRefused('peer-delete-forbidden');
    given(registered(SecretId('p'), 'root'))
      .when({ type: 'EraseUser', by: root })
      .thenRefused('peer-delete-forbidden');
    given(registered(), deleted, erased).when({ type: 'EraseUser', by: root }).thenRefused('user-not-found');
    given(registered(), deleted, erased).when({ type: 'DisableUser', by: root }).thenRefused('user-not-found');
  });
});

describe('ending sign-ins', () => {
  test('is for higher roles, and each time recorded as an event of its own', () => {
    given(registered()).when({ type: 'EndSignIns', by: admin }).thenRecorded({ type: 'SignInsEnded', by: admin.id });
    given(registered(SecretId('p'), 'admin'))
      .when({ type: 'EndSignIns', by: admin })
      .thenRefused('peer-update-forbidden');
  });
});

describe('the state of a user', () => {
  test('includes the claims of its address and identities', () =>
    given(registered(null), emailed, linked(github), linked(oidc), {
      type: 'IdentityUnlinked',
      provider: 'github',
    }).thenState({
      status: 'enabled',
      erased: false,
      username: 'alice',
      role: 'ordinary',
      group: 'default',
      hasPassword: false,
      email: address.claim,
      identities: { oidc: oidc.claim },
      passkeysGivenUp: [],
      inviteCode: null,
      inviteQuota: 0n,
    }));

  test('keeps the claims when it is deleted and erased, for their release', () =>
    given(registered(), emailed, deleted, erased).thenState({
      status: 'deleted',
      erased: true,
      username: 'alice',
      role: 'ordinary',
      group: 'default',
      hasPassword: true,
      email: address.claim,
      identities: {},
      passkeysGivenUp: [],
      inviteCode: null,
      inviteQuota: 0n,
    }));
});
