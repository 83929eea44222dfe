import { describe, test } from 'vitest';
import { Sealed, UserId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import type { Inviter } from '../../src/domain/user/invite-reward.js';
import { type UserCommand, type UserEvent, userDecider } from '../../src/domain/user/user.js';
import { scenariosOf } from '../support/given/given.js';

const given = scenariosOf(userDecider);

const alice = UserId(7);
const bob = UserId(8);
const root = UserId(1);

const person = {
  username: 'bob',
  displayName: Sealed('sealed Bob'),
  role: 'ordinary',
  group: 'default',
  passwordSecret: null,
} as const;
const registration = (inviter: Inviter | null): UserCommand => ({
  type: 'RegisterUser',
  ...person,
  email: null,
  identity: null,
  inviter,
  grants: [],
});
const registered = (inviter: UserId | null = null): UserEvent => ({ type: 'UserRegistered', ...person, inviter });
const disabled: UserEvent = { type: 'UserDisabled', by: root };
const deleted: UserEvent = { type: 'UserDeleted', by: root };
const erased: UserEvent = { type: 'UserErased', by: root };

const earn = (quota: number): UserCommand => ({ type: 'EarnInviteReward', quota: Quota(quota), invitee: bob });
const earned = (quota: number): UserEvent => ({ type: 'InviteRewardEarned', quota: Quota(quota), invitee: bob });
const transfer = (quota: number): UserCommand => ({ type: 'TransferInviteReward', quota: Quota(quota) });
const transferred = (quota: number): UserEvent => ({ type: 'InviteRewardTransferred', quota: Quota(quota) });

describe('registration by an invitation', () => {
  test('fixes the inviter’s reward', () =>
    given()
      .when(registration({ id: alice, reward: Quota(50) }))
      .thenRecordedOnce(registered(alice), { type: 'InviteRewardPromised', inviter: alice, quota: Quota(50) }));

  test('has no reward where the option is zero, or no user has invited', () => {
    given()
      .when(registration({ id: alice, reward: Quota(0) }))
      .thenRecordedOnce(registered(alice));
    given().when(registration(null)).thenRecordedOnce(registered());
  });
});

describe('the reward of an inviter', () => {
  test('is earned', () => given(registered()).when(earn(50)).thenRecorded(earned(50)));
  test('is earned by a disabled user', () => given(registered(), disabled).when(earn(50)).thenRecorded(earned(50)));
  test('lapses once the inviter is deleted', () => {
    given(registered(), deleted).when(earn(50)).thenNothing();
    given(registered(), deleted, erased).when(earn(50)).thenNothing();
    given().when(earn(50)).thenNothing();
  });
});

describe('transferring a reward', () => {
  test('transfers all of it, or a part', () => {
    given(registered(), earned(50)).when(transfer(50)).thenRecorded(transferred(50));
    given(registered(), earned(50), earned(20), transferred(60)).when(transfer(10)).thenRecorded(transferred(10));
  });

  test('never transfers more than exists', () => {
    given(registered(), earned(50)).when(transfer(51)).thenRefused('invite-quota-short', { available: 50 });
    given(registered(), earned(50), transferred(50)).when(transfer(1)).thenRefused('invite-quota-short');
    given(registered()).when(transfer(1)).thenRefused('invite-quota-short', { available: 0 });
  });

  test('transfers nothing for amounts that are not positive', () => {
    for (const none of [0, -1]) given(registered(), earned(50)).when(transfer(none)).thenRefused('invalid-field');
  });

  test('is for existing users', () => {
    given(registered(), earned(50), deleted).when(transfer(50)).thenRefused('user-not-found');
    given().when(transfer(50)).thenRefused('user-not-found');
  });

  test('works for sums beyond the integer range', () =>
    given(registered(), earned(Number.MAX_SAFE_INTEGER), earned(Number.MAX_SAFE_INTEGER), transferred(1))
      .when(transfer(Number.MAX_SAFE_INTEGER))
      .thenRecorded(transferred(Number.MAX_SAFE_INTEGER)));
});
