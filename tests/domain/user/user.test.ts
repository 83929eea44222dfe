import { describe, test } from 'vitest';
import { Sealed, SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Role } from '../../../src/domain/user/role.js';
import { type Actor, type UserCommand, type UserEvent, userDecider } from '../../../src/domain/user/user.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(userDecider);

const root: Actor = { id: UserId(1), role: 'root' };
const admin: Actor = { id: UserId(2), role: 'admin' };
const ordinary: Actor = { id: UserId(3), role: 'ordinary' };

const registered = (role: Role = 'ordinary'): UserEvent => ({
  type: 'UserRegistered',
  username: 'alice',
  displayName: Sealed('sealed Alice'),
  role,
  group: 'default',
  passwordSecret: SecretId('password-1'),
  inviter: null,
});
const disabled: UserEvent = { type: 'UserDisabled', by: root.id };
const enabled: UserEvent = { type: 'UserEnabled', by: root.id };
const deleted: UserEvent = { type: 'UserDeleted', by: root.id };

const registration = (grants: Extract<UserCommand, { type: 'RegisterUser' }>['grants'] = []): UserCommand => {
  const { type: _, ...user } = registered() as Extract<UserEvent, { type: 'UserRegistered' }>;
  return { type: 'RegisterUser', ...user, inviter: null, email: null, identity: null, grants };
};

describe('registering a user', () => {
  test('records name, role and group', () => given().when(registration()).thenRecordedOnce(registered()));

  test('records every initial grant above zero as a credit of its own', () =>
    given()
      .when(
        registration([
          { quota: Quota(500), reason: 'signup' },
          { quota: Quota(0), reason: 'invitee' },
          { quota: Quota(-3), reason: 'setup' },
        ]),
      )
      .thenRecordedOnce(
        registered(),
        { type: 'QuotaGranted', quota: Quota(500), reason: 'signup' },
        { type: 'QuotaGranted', quota: Quota(-3), reason: 'setup' },
      ));

  test('changes nothing when the user exists, or existed', () => {
    given(registered()).when(registration()).thenNothing();
    given(registered(), deleted).when(registration()).thenNothing();
  });
});

describe('changing the own profile', () => {
  const change = (patch: Partial<Extract<UserCommand, { type: 'ChangeProfile' }>>): UserCommand => ({
    type: 'ChangeProfile',
    username: null,
    displayName: null,
    passwordSecret: null,
    ...patch,
  });

  test('records the changes only', () =>
    given(registered())
      .when(change({ username: 'alicia' }))
      .thenRecordedOnce({ type: 'UserProfileChanged', username: 'alicia', displayName: null }));

  test('keeps encrypted texts unchanged', () =>
    given(registered())
      .when(change({ displayName: Sealed('sealed A.') }))
      .thenRecorded({ type: 'UserProfileChanged', username: null, displayName: Sealed('sealed A.') }));

  test('records a new password as an event of its own', () =>
    given(registered())
      .when(change({ passwordSecret: SecretId('password-2') }))
      .thenRecorded({ type: 'PasswordChanged', passwordSecret: SecretId('password-2') }));

  test('with the current name changes nothing', () =>
    given(registered())
      .when(change({ username: 'alice' }))
      .thenNothing());

  test('is possible for a disabled user, which the faces refuse', () =>
    given(registered(), disabled)
      .when(change({ username: 'al' }))
      .thenRecorded({
        type: 'UserProfileChanged',
        username: 'al',
        displayName: null,
      }));

  test('is refused for an absent or deleted user', () => {
    given()
      .when(change({ username: 'bob' }))
      .thenRefused('user-not-found');
    given(registered(), deleted)
      .when(change({ username: 'bob' }))
      .thenRefused('user-not-found');
  });
});

describe('editing a user', () => {
  const edit = (patch: Partial<Extract<UserCommand, { type: 'EditUser' }>>): UserCommand => ({
    type: 'EditUser',
    by: admin,
    claimedRole: null,
    username: null,
    displayName: null,
    group: null,
    passwordSecret: null,
    ...patch,
  });

  test('records profile, group and password each as an event of its own', () =>
    given(registered())
      .when(
        edit({
          username: 'alicia',
          displayName: Sealed('sealed A.'),
          group: 'vip',
          passwordSecret: SecretId('password-2'),
        }),
      )
      .thenRecorded(
        { type: 'UserProfileChanged', username: 'alicia', displayName: Sealed('sealed A.') },
        { type: 'UserGroupChanged', group: 'vip', by: admin.id },
        { type: 'PasswordChanged', passwordSecret: SecretId('password-2') },
      ));

  test('without a difference changes nothing', () =>
    given(registered())
      .when(edit({ username: 'alice', group: 'default' }))
      .thenNothing());

  test('never records the role in the body', () =>
    given(registered())
      .when(edit({ claimedRole: 'ordinary' }))
      .thenNothing());

  test('is refused to peers and lower roles', () => {
    given(registered('admin'))
      .when(edit({ group: 'vip' }))
      .thenRefused('peer-update-forbidden');
    given(registered('root'))
      .when(edit({ group: 'vip' }))
      .thenRefused('peer-update-forbidden');
    given(registered())
      .when(edit({ by: ordinary, group: 'vip' }))
      .thenRefused('peer-update-forbidden');
  });

  test('is refused when the body raises the user to the role of the editor or above', () => {
    given(registered())
      .when(edit({ claimedRole: 'admin' }))
      .thenRefused('role-raise-forbidden');
    given(registered())
      .when(edit({ claimedRole: 'root' }))
      .thenRefused('role-raise-forbidden');
  });

  test('is possible for root over every user, itself included', () => {
    const regrouped: UserEvent = { type: 'UserGroupChanged', group: 'vip', by: root.id };
    given(registered('admin'))
      .when(edit({ by: root, group: 'vip' }))
      .thenRecordedOnce(regrouped);
    given(registered('root'))
      .when(edit({ by: root, claimedRole: 'root', group: 'vip' }))
      .thenRecordedOnce(regrouped);
  });

  test('is refused for an absent or deleted user', () => {
    given()
      .when(edit({ group: 'vip' }))
      .thenRefused('user-not-found');
    given(registered(), deleted)
      .when(edit({ group: 'vip' }))
      .thenRefused('user-not-found');
  });
});

describe('disabling and enabling a user', () => {
  test('records the switch once', () => {
    given(registered()).when({ type: 'DisableUser', by: root }).thenRecordedOnce(disabled);
    given(registered(), disabled).when({ type: 'EnableUser', by: root }).thenRecordedOnce(enabled);
  });

  test('changes nothing when the state is the same', () => {
    given(registered(), disabled).when({ type: 'DisableUser', by: root }).thenNothing();
    given(registered()).when({ type: 'EnableUser', by: root }).thenNothing();
  });

  test('does not restore a deleted user', () => {
    given(registered(), deleted).when({ type: 'EnableUser', by: root }).thenNothing();
    given(registered(), deleted).when({ type: 'DisableUser', by: root }).thenNothing();
  });

  test('protects root, even from root', () =>
    given(registered('root')).when({ type: 'DisableUser', by: root }).thenRefused('root-protected-disable'));

  test('is refused to peers', () => {
    given(registered('admin')).when({ type: 'DisableUser', by: admin }).thenRefused('peer-update-forbidden');
    given(registered('admin'), disabled).when({ type: 'EnableUser', by: admin }).thenRefused('peer-update-forbidden');
    given(registered('root')).when({ type: 'DisableUser', by: admin }).thenRefused('peer-update-forbidden');
  });

  test('is refused for an unknown user', () => {
    given().when({ type: 'DisableUser', by: root }).thenRefused('user-not-found');
    given().when({ type: 'EnableUser', by: root }).thenRefused('user-not-found');
  });
});

describe('deleting a user', () => {
  test('is recorded once', () => {
    given(registered()).when({ type: 'DeleteUser', by: root }).thenRecordedOnce(deleted);
    given(registered('admin')).when({ type: 'DeleteUser', by: root }).thenRecordedOnce(deleted);
  });

  test('protects root, even from root', () =>
    given(registered('root')).when({ type: 'DeleteUser', by: root }).thenRefused('root-protected-delete'));

  test('is refused to peers', () =>
    given(registered('admin')).when({ type: 'DeleteUser', by: admin }).thenRefused('peer-update-forbidden'));

  test('is refused for an unknown user', () =>
    given().when({ type: 'DeleteUser', by: root }).thenRefused('user-not-found'));
});

describe('adjusting a balance', () => {
  const adjust = (by: Actor, delta: number, gift = 0): UserCommand => ({
    type: 'AdjustQuota',
    by,
    delta: Quota(delta),
    gift: Quota(gift),
    observed: Quota(100),
  });

  test('records the difference, the gift in it, the editor and the previous balance', () =>
    given(registered())
      .when(adjust(admin, 550, 50))
      .thenRecorded({
        type: 'QuotaAdjusted',
        delta: Quota(550),
        gift: Quota(50),
        by: admin.id,
        observed: Quota(100),
      }));

  test('may subtract more than the balance', () =>
    given(registered())
      .when(adjust(admin, -1_000))
      .thenRecorded({
        type: 'QuotaAdjusted',
        delta: Quota(-1_000),
        gift: Quota(0),
        by: admin.id,
        observed: Quota(100),
      }));

  test('by zero changes nothing', () => given(registered()).when(adjust(admin, 0)).thenNothing());

  test('is refused to peers; root may adjust its own', () => {
    given(registered('admin')).when(adjust(admin, 5)).thenRefused('peer-update-forbidden');
    given(registered()).when(adjust(ordinary, 5)).thenRefused('peer-update-forbidden');
    given(registered('root'))
      .when(adjust(root, 5))
      .thenRecorded({ type: 'QuotaAdjusted', delta: Quota(5), gift: Quota(0), by: root.id, observed: Quota(100) });
  });

  test('is refused for an absent or deleted user', () => {
    given().when(adjust(root, 5)).thenRefused('user-not-found');
    given(registered(), deleted).when(adjust(root, 5)).thenRefused('user-not-found');
  });
});

describe('an access token', () => {
  const issue: UserCommand = { type: 'IssueAccessToken', tokenHash: 'hash-1' };

  test('is recorded by its hash', () =>
    given(registered()).when(issue).thenRecorded({ type: 'AccessTokenIssued', tokenHash: 'hash-1' }));

  test('is refused for an absent or deleted user', () => {
    given().when(issue).thenRefused('user-not-found');
    given(registered(), deleted).when(issue).thenRefused('user-not-found');
  });
});

describe('the own settings of a user', () => {
  const settings = {
    settings: Sealed('sealed settings'),
    webhookSecret: SecretId('webhook-1'),
    acceptUnpricedModels: true,
    quotaWarningThreshold: 500_000,
  };

  test('are recorded whole', () =>
    given(registered())
      .when({ type: 'ChangeSettings', ...settings })
      .thenRecorded({ type: 'UserSettingsChanged', ...settings }));

  test('are refused for an absent or deleted user', () => {
    given()
      .when({ type: 'ChangeSettings', ...settings })
      .thenRefused('user-not-found');
    given(registered(), deleted)
      .when({ type: 'ChangeSettings', ...settings })
      .thenRefused('user-not-found');
  });
});

describe('the state of a user is', () => {
  const alice = {
    status: 'enabled',
    erased: false,
    username: 'alice',
    role: 'ordinary',
    group: 'default',
    hasPassword: true,
    email: null,
    identities: {},
    passkeysGivenUp: [],
    inviteCode: null,
    inviteQuota: 0n,
  } as const;

  test('absent before registration, and nothing else can make it exist', () => {
    given().thenState({ status: 'absent' });
    given(disabled, enabled, deleted).thenState({ status: 'absent' });
  });
  test('enabled, with name, role and group, after registration', () => given(registered()).thenState(alice));
  test('renamed', () =>
    given(registered(), {
      type: 'UserProfileChanged',
      username: 'alicia',
      displayName: null,
    }).thenState({ ...alice, username: 'alicia' }));
  test('the same after a change of display name alone', () =>
    given(registered(), {
      type: 'UserProfileChanged',
      username: null,
      displayName: Sealed('sealed A.'),
    }).thenState(alice));
  test('in another group', () =>
    given(registered(), { type: 'UserGroupChanged', group: 'vip', by: root.id }).thenState({ ...alice, group: 'vip' }));
  test('in another role', () =>
    given(registered(), { type: 'UserRoleChanged', role: 'admin', by: root.id }).thenState({
      ...alice,
      role: 'admin',
    }));
  test('disabled, enabled again, deleted', () => {
    given(registered(), disabled).thenState({ ...alice, status: 'disabled' });
    given(registered(), disabled, enabled).thenState(alice);
    given(registered(), deleted).thenState({ ...alice, status: 'deleted' });
  });
  test('unchanged by passwords, tokens, settings and quota, which are stored elsewhere', () =>
    given(
      registered(),
      { type: 'PasswordChanged', passwordSecret: SecretId('password-2') },
      { type: 'AccessTokenIssued', tokenHash: 'hash-1' },
      {
        type: 'UserSettingsChanged',
        settings: Sealed('sealed settings'),
        webhookSecret: null,
        acceptUnpricedModels: true,
        quotaWarningThreshold: null,
      },
      { type: 'QuotaGranted', quota: Quota(5), reason: 'signup' },
      { type: 'QuotaAdjusted', delta: Quota(5), gift: Quota(0), by: root.id, observed: Quota(0) },
    ).thenState(alice));
});
