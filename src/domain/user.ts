import { checkText } from './bounds.js';
import type { Decider } from './decider.js';
import { assertNever, Failure, type FailureCode } from './failure.js';
import type { Sealed, SecretId, UserId } from './ids.js';
import { groupText } from './names.js';
import type { Quota } from './quota.js';

/* A person with a wallet. Stream `user-{id}`; the name is claimed in `username-{lower}` first. */

export type Role = 'ordinary' | 'admin' | 'root';

const rank: Record<Role, number> = { ordinary: 1, admin: 10, root: 100 };
export const atLeast = (role: Role, needed: Role): boolean => rank[role] >= rank[needed];
const outranks = (role: Role, other: Role): boolean => role === 'root' || rank[role] > rank[other];

/** Why quota was given without being paid for. */
export type GrantReason = 'setup' | 'signup' | 'invitee' | 'inviter';

export type UserEvent =
  | {
      type: 'UserRegistered';
      username: string;
      displayName: Sealed;
      email: Sealed | null;
      role: Role;
      group: string;
      passwordSecret: SecretId | null;
      inviter: UserId | null;
    }
  | { type: 'UserProfileChanged'; username: string | null; displayName: Sealed | null; email: Sealed | null }
  | { type: 'UserGroupChanged'; group: string; by: UserId }
  | { type: 'UserRoleChanged'; role: Role; by: UserId }
  | { type: 'UserDisabled'; by: UserId }
  | { type: 'UserEnabled'; by: UserId }
  | { type: 'UserDeleted'; by: UserId }
  | { type: 'PasswordChanged'; passwordSecret: SecretId }
  | { type: 'AccessTokenIssued'; tokenHash: string }
  | {
      type: 'UserSettingsChanged';
      /** The settings as the legacy contract stores them (JSON text), without the webhook secret. */
      settings: Sealed;
      webhookSecret: SecretId | null;
      acceptUnpricedModels: boolean;
      quotaWarningThreshold: number | null;
    }
  | { type: 'QuotaGranted'; quota: Quota; reason: GrantReason }
  | {
      type: 'QuotaAdjusted';
      delta: Quota;
      /** The part of `delta` given as a gift on top of the amount entered. */
      gift: Quota;
      by: UserId;
      /** The balance the admin saw; the log shows "from … to …" with it. */
      observed: Quota;
    };

/** Whether the event ends everything the user had signed in with: each session, and the access token. */
const endsSignIns: Record<UserEvent['type'], boolean> = {
  UserRegistered: false,
  UserProfileChanged: false,
  UserGroupChanged: false,
  UserRoleChanged: false,
  UserDisabled: true,
  // What disabling ended stays ended.
  UserEnabled: false,
  UserDeleted: true,
  PasswordChanged: true,
  AccessTokenIssued: false,
  UserSettingsChanged: false,
  QuotaGranted: false,
  QuotaAdjusted: false,
};

export const isEndOfSignIns = ({ type }: UserEvent): boolean => endsSignIns[type];

/** Who gives an order. */
export interface Actor {
  readonly id: UserId;
  readonly role: Role;
}

export type UserCommand =
  | {
      type: 'RegisterUser';
      username: string;
      displayName: Sealed;
      email: Sealed | null;
      role: Role;
      group: string;
      passwordSecret: SecretId | null;
      inviter: UserId | null;
      grants: readonly { quota: Quota; reason: GrantReason }[];
    }
  | {
      type: 'ChangeProfile';
      username: string | null;
      displayName: Sealed | null;
      email: Sealed | null;
      passwordSecret: SecretId | null;
    }
  | {
      type: 'EditUser';
      by: Actor;
      /** The role the body carries; it is never written, but raising above oneself is refused. */
      claimedRole: Role | null;
      username: string | null;
      displayName: Sealed | null;
      group: string | null;
      passwordSecret: SecretId | null;
    }
  | { type: 'DisableUser'; by: Actor }
  | { type: 'EnableUser'; by: Actor }
  | { type: 'DeleteUser'; by: Actor }
  | { type: 'PromoteUser'; by: Actor }
  | { type: 'DemoteUser'; by: Actor }
  | { type: 'AdjustQuota'; by: Actor; delta: Quota; gift: Quota; observed: Quota }
  | { type: 'IssueAccessToken'; tokenHash: string }
  | {
      type: 'ChangeSettings';
      settings: Sealed;
      webhookSecret: SecretId | null;
      acceptUnpricedModels: boolean;
      quotaWarningThreshold: number | null;
    };

export type User =
  | { status: 'absent' }
  | { status: 'enabled' | 'disabled' | 'deleted'; username: string; role: Role; group: string };

type Existing = Exclude<User, { status: 'absent' }>;

const existing = (user: User): Existing => {
  if (user.status === 'absent') throw new Failure('user-not-found');
  return user;
};

/** Deleted users can still be found by `manage`, as the legacy contract has it; everything else needs a live one. */
const live = (user: User): Existing => {
  const found = existing(user);
  if (found.status === 'deleted') throw new Failure('user-not-found');
  return found;
};

const managed = (user: User, by: Actor, rootRefusal: FailureCode | null): Existing => {
  const target = existing(user);
  if (!outranks(by.role, target.role)) throw new Failure('peer-update-forbidden');
  if (rootRefusal !== null && target.role === 'root') throw new Failure(rootRefusal);
  return target;
};

function decide(command: UserCommand, user: User): UserEvent[] {
  switch (command.type) {
    case 'RegisterUser': {
      if (user.status !== 'absent') return [];
      const { username, displayName, email, role, group, passwordSecret, inviter } = command;
      const registered: UserEvent = {
        type: 'UserRegistered',
        username,
        displayName,
        email,
        role,
        group,
        passwordSecret,
        inviter,
      };
      const grants = command.grants
        .filter(({ quota }) => quota !== 0)
        .map(({ quota, reason }): UserEvent => ({ type: 'QuotaGranted', quota, reason }));
      return [registered, ...grants];
    }
    case 'ChangeProfile': {
      const target = live(user);
      return [...profileChange(command, target), ...passwordChange(command.passwordSecret)];
    }
    case 'EditUser': {
      const target = live(user);
      const { by, claimedRole, group } = command;
      if (!outranks(by.role, target.role)) throw new Failure('peer-update-forbidden');
      if (claimedRole !== null && !outranks(by.role, claimedRole)) throw new Failure('role-raise-forbidden');
      const regrouped: UserEvent[] =
        group === null || group === target.group
          ? []
          : [{ type: 'UserGroupChanged', group: checkedGroup(group), by: by.id }];
      return [
        ...profileChange({ ...command, email: null }, target),
        ...regrouped,
        ...passwordChange(command.passwordSecret),
      ];
    }
    case 'DisableUser': {
      const target = managed(user, command.by, 'root-protected-disable');
      return target.status === 'enabled' ? [{ type: 'UserDisabled', by: command.by.id }] : [];
    }
    case 'EnableUser': {
      const target = managed(user, command.by, null);
      return target.status === 'disabled' ? [{ type: 'UserEnabled', by: command.by.id }] : [];
    }
    case 'DeleteUser': {
      const target = managed(user, command.by, 'root-protected-delete');
      return target.status === 'deleted' ? [] : [{ type: 'UserDeleted', by: command.by.id }];
    }
    case 'PromoteUser': {
      const target = managed(user, command.by, null);
      if (command.by.role !== 'root') throw new Failure('promote-forbidden');
      if (target.role !== 'ordinary') throw new Failure('already-admin');
      return [{ type: 'UserRoleChanged', role: 'admin', by: command.by.id }];
    }
    case 'DemoteUser': {
      const target = managed(user, command.by, 'root-protected-demote');
      if (target.role === 'ordinary') throw new Failure('already-ordinary');
      return [{ type: 'UserRoleChanged', role: 'ordinary', by: command.by.id }];
    }
    case 'AdjustQuota': {
      const target = live(user);
      const { by, delta, gift, observed } = command;
      if (!outranks(by.role, target.role)) throw new Failure('peer-update-forbidden');
      return delta === 0 ? [] : [{ type: 'QuotaAdjusted', delta, gift, by: by.id, observed }];
    }
    case 'IssueAccessToken':
      live(user);
      return [{ type: 'AccessTokenIssued', tokenHash: command.tokenHash }];
    case 'ChangeSettings': {
      live(user);
      const { settings, webhookSecret, acceptUnpricedModels, quotaWarningThreshold } = command;
      return [{ type: 'UserSettingsChanged', settings, webhookSecret, acceptUnpricedModels, quotaWarningThreshold }];
    }
    default:
      return assertNever(command);
  }
}

const profileChange = (
  wanted: { username: string | null; displayName: Sealed | null; email: Sealed | null },
  target: Existing,
): UserEvent[] => {
  const username = wanted.username === target.username ? null : wanted.username;
  const { displayName, email } = wanted;
  return username === null && displayName === null && email === null
    ? []
    : [{ type: 'UserProfileChanged', username, displayName, email }];
};

const checkedGroup = (group: string): string => {
  checkText('group', group, groupText);
  return group;
};

const passwordChange = (passwordSecret: SecretId | null): UserEvent[] =>
  passwordSecret === null ? [] : [{ type: 'PasswordChanged', passwordSecret }];

function evolve(user: User, event: UserEvent): User {
  switch (event.type) {
    case 'UserRegistered':
      return { status: 'enabled', username: event.username, role: event.role, group: event.group };
    case 'UserProfileChanged':
      return event.username === null ? user : changed(user, { username: event.username });
    case 'UserGroupChanged':
      return changed(user, { group: event.group });
    case 'UserRoleChanged':
      return changed(user, { role: event.role });
    case 'UserDisabled':
      return changed(user, { status: 'disabled' });
    case 'UserEnabled':
      return changed(user, { status: 'enabled' });
    case 'UserDeleted':
      return changed(user, { status: 'deleted' });
    case 'PasswordChanged':
    case 'AccessTokenIssued':
    case 'UserSettingsChanged':
    case 'QuotaGranted':
    case 'QuotaAdjusted':
      return user;
    default:
      return assertNever(event);
  }
}

const changed = (user: User, patch: Partial<Existing>): User =>
  user.status === 'absent' ? user : { ...user, ...patch };

export const userDecider: Decider<User, UserCommand, UserEvent> = { initial: { status: 'absent' }, decide, evolve };

/* The claim on a name: one stream per lower-cased username, so two users can never share it. */

export type UsernameEvent = { type: 'UsernameClaimed'; userId: UserId } | { type: 'UsernameReleased' };
export type UsernameCommand = { type: 'ClaimUsername'; userId: UserId } | { type: 'ReleaseUsername'; userId: UserId };
export type Username = { holder: UserId | null };

export const usernameDecider: Decider<Username, UsernameCommand, UsernameEvent> = {
  initial: { holder: null },
  decide(command, { holder }) {
    switch (command.type) {
      case 'ClaimUsername':
        if (holder === command.userId) return [];
        if (holder !== null) throw new Failure('username-taken');
        return [{ type: 'UsernameClaimed', userId: command.userId }];
      case 'ReleaseUsername':
        return holder === command.userId ? [{ type: 'UsernameReleased' }] : [];
      default:
        return assertNever(command);
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case 'UsernameClaimed':
        return { holder: event.userId };
      case 'UsernameReleased':
        return { holder: null };
      default:
        return assertNever(event);
    }
  },
};
