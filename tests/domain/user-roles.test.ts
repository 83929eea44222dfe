import { describe, test } from 'vitest';
import { Sealed, SecretId, UserId } from '../../src/domain/kernel/ids.js';
import type { Role } from '../../src/domain/user/role.js';
import { type Actor, type UserEvent, userDecider } from '../../src/domain/user/user.js';
import { scenariosOf } from '../support/given/given.js';

const given = scenariosOf(userDecider);

const root: Actor = { id: UserId(1), role: 'root' };
const admin: Actor = { id: UserId(2), role: 'admin' };
const registered = (role: Role = 'ordinary'): UserEvent => ({
  type: 'UserRegistered',
  username: 'alice',
  displayName: Sealed('sealed Alice'),
  role,
  group: 'default',
  passwordSecret: SecretId('password-1'),
  inviter: null,
});
const deleted: UserEvent = { type: 'UserDeleted', by: root.id };

describe('promoting a user', () => {
  test('makes an ordinary user an admin', () =>
    given(registered())
      .when({ type: 'PromoteUser', by: root })
      .thenRecorded({ type: 'UserRoleChanged', role: 'admin', by: root.id }));

  test('is for root only', () =>
    given(registered()).when({ type: 'PromoteUser', by: admin }).thenRefused('promote-forbidden'));

  test('is refused for a peer as out of reach, before the role is checked', () =>
    given(registered('admin')).when({ type: 'PromoteUser', by: admin }).thenRefused('peer-update-forbidden'));

  test('is refused for an admin', () => {
    given(registered('admin')).when({ type: 'PromoteUser', by: root }).thenRefused('already-admin');
    given(registered('root')).when({ type: 'PromoteUser', by: root }).thenRefused('already-admin');
  });

  test('is refused for an unknown user', () =>
    given().when({ type: 'PromoteUser', by: root }).thenRefused('user-not-found'));
});

describe('demoting a user', () => {
  test('makes an admin an ordinary user', () =>
    given(registered('admin'))
      .when({ type: 'DemoteUser', by: root })
      .thenRecorded({ type: 'UserRoleChanged', role: 'ordinary', by: root.id }));

  test('is refused for an ordinary user', () =>
    given(registered()).when({ type: 'DemoteUser', by: root }).thenRefused('already-ordinary'));

  test('protects root, even from root', () =>
    given(registered('root')).when({ type: 'DemoteUser', by: root }).thenRefused('root-protected-demote'));

  test('is refused to peers', () =>
    given(registered('admin')).when({ type: 'DemoteUser', by: admin }).thenRefused('peer-update-forbidden'));
});

test('the legacy command "manage" finds deleted users: promoting and demoting them is not "not found"', () => {
  given(registered(), deleted)
    .when({ type: 'PromoteUser', by: root })
    .thenRecorded({ type: 'UserRoleChanged', role: 'admin', by: root.id });
  given(registered('admin'), deleted)
    .when({ type: 'DemoteUser', by: root })
    .thenRecorded({ type: 'UserRoleChanged', role: 'ordinary', by: root.id });
});

describe('appointing an auditor', () => {
  const appoint = { type: 'AppointAuditor', by: root } as const;
  const appointed: UserEvent = { type: 'UserRoleChanged', role: 'auditor', by: root.id };

  test('is for root only, and needs nothing the second time', () => {
    given(registered()).when(appoint).thenRecorded(appointed);
    given(registered('admin')).when(appoint).thenRecorded(appointed);
    given(registered('auditor')).when(appoint).thenRecorded();
    given(registered())
      .when({ ...appoint, by: admin })
      .thenRefused('promote-forbidden');
  });

  test('puts the account beyond the reach of administrators, and gives no power over others', () => {
    const auditor: Actor = { id: UserId(3), role: 'auditor' };
    given(registered('auditor')).when({ type: 'DisableUser', by: admin }).thenRefused('peer-update-forbidden');
    given(registered()).when({ type: 'DisableUser', by: auditor }).thenRefused('peer-update-forbidden');
  });

  test('is undone by promoting or demoting', () => {
    given(registered('auditor'))
      .when({ type: 'DemoteUser', by: root })
      .thenRecorded({ type: 'UserRoleChanged', role: 'ordinary', by: root.id });
    given(registered('auditor'))
      .when({ type: 'PromoteUser', by: root })
      .thenRecorded({ type: 'UserRoleChanged', role: 'admin', by: root.id });
  });
});
