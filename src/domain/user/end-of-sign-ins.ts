import type { UserEvent } from './user.js';

/** Whether the event ends everything the user had signed in with: each session, and the access token. */
const endsSignIns: Record<UserEvent['type'], boolean> = {
  UserRegistered: false,
  UserProfileChanged: false,
  EmailChanged: false,
  IdentityLinked: false,
  IdentityUnlinked: false,
  PasskeyGivenUp: false,
  UserGroupChanged: false,
  UserRoleChanged: false,
  UserDisabled: true,
  // What disabling ended stays ended.
  UserEnabled: false,
  UserDeleted: true,
  UserErased: true,
  SignInsEnded: true,
  InviteCodeIssued: false,
  InviteRewardPromised: false,
  InviteRewardEarned: false,
  InviteRewardTransferred: false,
  PasswordChanged: true,
  AccessTokenIssued: false,
  UserSettingsChanged: false,
  QuotaGranted: false,
  QuotaAdjusted: false,
};

export const isEndOfSignIns = ({ type }: UserEvent): boolean => endsSignIns[type];
