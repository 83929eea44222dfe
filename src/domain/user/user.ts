import type { AskedFrom } from '../events/order-origin.js';
import { checkText } from '../kernel/bounds.js';
import type { Binding, IdentityProvider, LinkedIdentity } from '../kernel/claim.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure, type FailureCode } from '../kernel/failure.js';
import type { IdentityClaim, Sealed, SecretId, UserId } from '../kernel/ids.js';
import { groupText } from '../kernel/names.js';
import type { Quota } from '../kernel/quota.js';
import { earned, type Inviter, promised, transferred } from './invite-reward.js';
import { givenUp, unlinked } from './last-sign-in-method.js';
import { atLeast, outranks, type Role } from './role.js';

/*
 * A person with a wallet. Stream `user-{id}`. Name, e-mail address and identities elsewhere are claimed in streams of
 * their own first: see claim.ts.
 */

/** Why quota was given without being paid for. */
export type GrantReason = 'setup' | 'signup' | 'invitee';

export type UserEvent =
  | {
      type: 'UserRegistered';
      username: string;
      displayName: Sealed;
      role: Role;
      group: string;
      passwordSecret: SecretId | null;
      inviter: UserId | null;
    }
  | { type: 'UserProfileChanged'; username: string | null; displayName: Sealed | null }
  /** null: the user has no address any more. */
  | { type: 'EmailChanged'; email: Binding | null }
  | ({ type: 'IdentityLinked' } & LinkedIdentity)
  | { type: 'IdentityUnlinked'; provider: IdentityProvider }
  /** The last one, about to be removed: from here on it is no way in that another may be given up for. */
  | { type: 'PasskeyGivenUp'; passkey: string }
  | { type: 'UserGroupChanged'; group: string; by: UserId }
  | { type: 'UserRoleChanged'; role: Role; by: UserId }
  | { type: 'UserDisabled'; by: UserId }
  | { type: 'UserEnabled'; by: UserId }
  /** Name, address and identities stay reserved. */
  | { type: 'UserDeleted'; by: UserId }
  /** After UserDeleted: nothing of the user is shown any more, and what was reserved is free. */
  | { type: 'UserErased'; by: UserId }
  | { type: 'SignInsEnded'; by: UserId }
  /** By which the user invites others, for ever. */
  | { type: 'InviteCodeIssued'; code: string }
  /** What who invited the user is owed for it, as it was when the user registered. */
  | { type: 'InviteRewardPromised'; inviter: UserId; quota: Quota }
  /** For having invited somebody. It is not to be spent before it is transferred. */
  | { type: 'InviteRewardEarned'; quota: Quota; invitee: UserId }
  /** Into the balance. */
  | { type: 'InviteRewardTransferred'; quota: Quota }
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

/** Who gives an order. */
export interface Actor {
  readonly id: UserId;
  readonly role: Role;
  readonly askedFrom?: AskedFrom;
}

export type UserCommand =
  | {
      type: 'RegisterUser';
      username: string;
      displayName: Sealed;
      email: Binding | null;
      /** By which the user came. */
      identity: LinkedIdentity | null;
      role: Role;
      group: string;
      passwordSecret: SecretId | null;
      inviter: Inviter | null;
      grants: readonly { quota: Quota; reason: GrantReason }[];
    }
  | {
      type: 'ChangeProfile';
      username: string | null;
      displayName: Sealed | null;
      passwordSecret: SecretId | null;
    }
  | { type: 'ChangeEmail'; email: Binding | null }
  | ({ type: 'LinkIdentity' } & LinkedIdentity)
  /** `passkeys`: those the user has, by stream `factors-{id}`, read after this stream. */
  | { type: 'UnlinkIdentity'; provider: IdentityProvider; passkeys: readonly string[] }
  | { type: 'GiveUpPasskey'; passkey: string }
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
  | { type: 'DeleteOwnAccount'; by: UserId }
  | { type: 'EraseUser'; by: Actor }
  | { type: 'EndSignIns'; by: Actor }
  | { type: 'IssueInviteCode'; code: string }
  | { type: 'EarnInviteReward'; quota: Quota; invitee: UserId }
  | { type: 'TransferInviteReward'; quota: Quota }
  | { type: 'PromoteUser'; by: Actor }
  | { type: 'DemoteUser'; by: Actor }
  | { type: 'AppointAuditor'; by: Actor }
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
  | {
      status: 'enabled' | 'disabled' | 'deleted';
      /** Deleted, and nothing is left to be found. */
      erased: boolean;
      username: string;
      role: Role;
      group: string;
      hasPassword: boolean;
      email: IdentityClaim | null;
      identities: Identities;
      passkeysGivenUp: readonly string[];
      inviteCode: string | null;
      /** Earned by inviting and not transferred. A sum has no end. */
      inviteQuota: bigint;
    };

export type Identities = Readonly<Partial<Record<IdentityProvider, IdentityClaim>>>;

type Existing = Exclude<User, { status: 'absent' }>;

const existing = (user: User): Existing => {
  if (user.status === 'absent' || user.erased) throw new Failure('user-not-found');
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
      const { username, displayName, email, identity, role, group, passwordSecret, inviter } = command;
      const registered: UserEvent = {
        type: 'UserRegistered',
        username,
        displayName,
        role,
        group,
        passwordSecret,
        inviter: inviter?.id ?? null,
      };
      const grants = command.grants
        .filter(({ quota }) => quota !== 0)
        .map(({ quota, reason }): UserEvent => ({ type: 'QuotaGranted', quota, reason }));
      return [
        registered,
        ...(email === null ? [] : [emailChange(email)]),
        ...(identity === null ? [] : [link(identity)]),
        ...grants,
        ...promised(inviter),
      ];
    }
    case 'ChangeProfile': {
      const target = live(user);
      return [...profileChange(command, target), ...passwordChange(command.passwordSecret)];
    }
    case 'ChangeEmail': {
      const target = live(user);
      return target.email === (command.email?.claim ?? null) ? [] : [emailChange(command.email)];
    }
    case 'LinkIdentity': {
      const bound = live(user).identities[command.provider];
      if (bound !== undefined && bound !== command.claim)
        throw new Failure('other-identity-bound', { provider: command.provider });
      return bound === command.claim ? [] : [link(command)];
    }
    case 'UnlinkIdentity':
      return unlinked(command, live(user));
    case 'GiveUpPasskey':
      return givenUp(command.passkey, live(user));
    case 'EditUser': {
      const target = live(user);
      const { by, claimedRole, group } = command;
      if (!outranks(by.role, target.role)) throw new Failure('peer-update-forbidden');
      if (claimedRole !== null && !outranks(by.role, claimedRole)) throw new Failure('role-raise-forbidden');
      const regrouped: UserEvent[] =
        group === null || group === target.group
          ? []
          : [{ type: 'UserGroupChanged', group: checkedGroup(group), by: by.id }];
      return [...profileChange(command, target), ...regrouped, ...passwordChange(command.passwordSecret)];
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
    case 'DeleteOwnAccount': {
      const target = existing(user);
      if (target.role === 'root') throw new Failure('root-protected-leave');
      return target.status === 'deleted' ? [] : [{ type: 'UserDeleted', by: command.by }];
    }
    case 'EraseUser': {
      const target = existing(user);
      // Unlike elsewhere, root may not act on another root, nor on itself.
      if (target.role === 'root' || !outranks(command.by.role, target.role)) throw new Failure('peer-delete-forbidden');
      const by = command.by.id;
      const erased: UserEvent = { type: 'UserErased', by };
      return target.status === 'deleted' ? [erased] : [{ type: 'UserDeleted', by }, erased];
    }
    case 'EndSignIns':
      managed(user, command.by, null);
      return [{ type: 'SignInsEnded', by: command.by.id }];
    case 'PromoteUser': {
      const target = managed(user, command.by, null);
      if (command.by.role !== 'root') throw new Failure('promote-forbidden');
      if (atLeast(target.role, 'admin')) throw new Failure('already-admin');
      return [{ type: 'UserRoleChanged', role: 'admin', by: command.by.id }];
    }
    case 'DemoteUser': {
      const target = managed(user, command.by, 'root-protected-demote');
      if (target.role === 'ordinary') throw new Failure('already-ordinary');
      return [{ type: 'UserRoleChanged', role: 'ordinary', by: command.by.id }];
    }
    case 'AppointAuditor': {
      const target = managed(user, command.by, 'root-protected-demote');
      if (command.by.role !== 'root') throw new Failure('promote-forbidden');
      return target.role === 'auditor' ? [] : [{ type: 'UserRoleChanged', role: 'auditor', by: command.by.id }];
    }
    case 'AdjustQuota': {
      const target = live(user);
      const { by, delta, gift, observed } = command;
      if (!outranks(by.role, target.role)) throw new Failure('peer-update-forbidden');
      return delta === 0 ? [] : [{ type: 'QuotaAdjusted', delta, gift, by: by.id, observed }];
    }
    case 'IssueInviteCode':
      return live(user).inviteCode === null ? [{ type: 'InviteCodeIssued', code: command.code }] : [];
    case 'EarnInviteReward':
      return earned(command, user.status === 'enabled' || user.status === 'disabled');
    case 'TransferInviteReward':
      return transferred(command.quota, live(user).inviteQuota);
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
  wanted: { username: string | null; displayName: Sealed | null },
  target: Existing,
): UserEvent[] => {
  const username = wanted.username === target.username ? null : wanted.username;
  const { displayName } = wanted;
  return username === null && displayName === null ? [] : [{ type: 'UserProfileChanged', username, displayName }];
};

const emailChange = (email: Binding | null): UserEvent => ({ type: 'EmailChanged', email });

const link = ({ provider, claim, shown }: LinkedIdentity): UserEvent => ({
  type: 'IdentityLinked',
  provider,
  claim,
  shown,
});

const checkedGroup = (group: string): string => {
  checkText('group', group, groupText);
  return group;
};

const passwordChange = (passwordSecret: SecretId | null): UserEvent[] =>
  passwordSecret === null ? [] : [{ type: 'PasswordChanged', passwordSecret }];

function evolve(user: User, event: UserEvent): User {
  switch (event.type) {
    case 'UserRegistered':
      return {
        status: 'enabled',
        erased: false,
        username: event.username,
        role: event.role,
        group: event.group,
        hasPassword: event.passwordSecret !== null,
        email: null,
        identities: {},
        passkeysGivenUp: [],
        inviteCode: null,
        inviteQuota: 0n,
      };
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
    case 'UserErased':
      return changed(user, { erased: true });
    case 'EmailChanged':
      return changed(user, { email: event.email?.claim ?? null });
    case 'IdentityLinked':
      return rebound(user, (identities) => ({ ...identities, [event.provider]: event.claim }));
    case 'IdentityUnlinked':
      return rebound(user, ({ [event.provider]: _, ...others }) => others);
    case 'PasskeyGivenUp':
      return user.status === 'absent'
        ? user
        : changed(user, { passkeysGivenUp: [...new Set([...user.passkeysGivenUp, event.passkey])] });
    case 'PasswordChanged':
      return changed(user, { hasPassword: true });
    case 'InviteCodeIssued':
      return changed(user, { inviteCode: event.code });
    case 'InviteRewardEarned':
      return invitesChanged(user, BigInt(event.quota));
    case 'InviteRewardTransferred':
      return invitesChanged(user, -BigInt(event.quota));
    case 'InviteRewardPromised':
    case 'SignInsEnded':
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

const invitesChanged = (user: User, more: bigint): User =>
  user.status === 'absent' ? user : { ...user, inviteQuota: user.inviteQuota + more };

const rebound = (user: User, change: (identities: Identities) => Identities): User =>
  user.status === 'absent' ? user : { ...user, identities: change(user.identities) };

export const userDecider: Decider<User, UserCommand, UserEvent> = { initial: { status: 'absent' }, decide, evolve };
