import type { Selectable } from 'kysely';
import type { ApiKeyEvent } from '../../domain/api-key/api-key.js';
import { usedAnything } from '../../domain/call/usage.js';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { identityProviders } from '../../domain/kernel/claim.js';
import { assertNever } from '../../domain/kernel/failure.js';
import { type IdentityClaim, type Sealed, type SecretId, UserId } from '../../domain/kernel/ids.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import { type MoneyEvent, type Movement, movementsOf } from '../../domain/ledger/movements.js';
import type { Role } from '../../domain/user/role.js';
import type { UserEvent } from '../../domain/user/user.js';
import type { ReadModels } from '../database.js';
import { addById, putRows } from '../engine/multi-row.js';
import { type ProjectionContext, projection } from '../engine/projection.js';
import { type Sum, tallyOf } from '../engine/tallies.js';
import { bookInvitations, countInvited, type Invitations } from './user-invitations.js';
import { changePersonal, type PersonalChange, personalIn } from './user-personal.js';

/*
 * Users with their wallets. Times are unix seconds. What is personal stands sealed in a table of its own, found by keyed
 * hashes of what people search for, and goes with the user.
 */

export interface UserTables {
  users: {
    id: UserId;
    /** A name everybody may know: it stands in the usage log, and stays when the user is deleted. Gone once erased. */
    username: string;
    role: Role;
    status: 'enabled' | 'disabled';
    group: string;
    /** What the user may spend now: everything received, minus charges, minus reservations of calls in flight. */
    quota: Sum<Quota>;
    used_quota: Sum<Quota>;
    /** Settled calls that used tokens. */
    request_count: number;
    password_secret: SecretId | null;
    access_token_hash: string | null;
    webhook_secret: SecretId | null;
    accept_unpriced_models: boolean;
    quota_warning_threshold: number | null;
    inviter_id: UserId | null;
    /** null: not asked for yet. */
    invite_code: string | null;
    /** Users who came by the code. */
    invited_count: number;
    /** Those of them who were rewarded. */
    rewarded_count: number;
    /** Earned by inviting, and not transferred into the balance. */
    invite_quota: Sum<Quota>;
    /** Earned by inviting, transferred or not. */
    invite_quota_ever: Sum<Quota>;
    created_at: number;
    deleted_at: number | null;
    /** Deleted, and shown nowhere any more: the row stays for the wallet's sums, under a name made of the id. */
    erased: boolean;
    /** Of the last event that changed more than the wallet. */
    position: Position;
  };
  user_personal: {
    user_id: UserId;
    display_name: Sealed | null;
    email: Sealed | null;
    /** JSON text as the legacy contract stores it, without the webhook secret; null until set. */
    settings: Sealed | null;
    /** null: none bound. */
    github: Sealed | null;
    oidc: Sealed | null;
    linuxdo: Sealed | null;
    wechat: Sealed | null;
    telegram: Sealed | null;
    /** Keyed hash of the address; null: none. */
    email_claim: IdentityClaim | null;
    /** Keyed hashes of what display name and address are found by. */
    search_tokens: readonly string[];
  };
}

export type StoredUser = Selectable<UserTables['users']>;
export type Personal = Selectable<UserTables['user_personal']>;

/** The columns of what is sealed. */
export const personalTexts = ['display_name', 'email', 'settings', ...identityProviders] as const;
export type PersonalTexts = Pick<Personal, (typeof personalTexts)[number]>;

/** A user whose personal texts have not been opened; null: none, or deleted. */
export type SealedUserRow = StoredUser & PersonalTexts;

/** A user as it is shown; '' where there is no text, or no longer. */
export type UserRow = StoredUser & { readonly [Text in keyof PersonalTexts]: string };

interface Wallet {
  readonly id: UserId;
  quota: bigint;
  used_quota: bigint;
  request_count: number;
}

type Profile = Omit<StoredUser, keyof Omit<Wallet & Invitations, 'id'>>;

// The fill factor leaves room on the page for the new version of a row whose wallet changes with every call. An index
// on a wallet column would undo that, so the lists sorted by quota sort.
const tables = `
  create table users (
    id bigint primary key,
    username text not null,
    role text not null,
    status text not null,
    "group" text not null,
    quota numeric not null default 0,
    used_quota numeric not null default 0,
    request_count bigint not null default 0,
    password_secret text,
    access_token_hash text,
    webhook_secret text,
    accept_unpriced_models boolean not null,
    quota_warning_threshold double precision,
    inviter_id bigint,
    invite_code text,
    invited_count bigint not null default 0,
    rewarded_count bigint not null default 0,
    invite_quota numeric not null default 0,
    invite_quota_ever numeric not null default 0,
    created_at bigint not null,
    deleted_at bigint,
    erased boolean not null,
    position bigint not null
  ) with (fillfactor = 70);
  create index users_username on users (username);
  create index users_access_token on users (access_token_hash) where access_token_hash is not null;
  create table user_personal (
    user_id bigint primary key,
    display_name text,
    email text,
    settings text,
    github text,
    oidc text,
    linuxdo text,
    wechat text,
    telegram text,
    email_claim text,
    search_tokens text[] not null
  );
  create index user_personal_email on user_personal (email_claim) where email_claim is not null;
  create index user_personal_search on user_personal using gin (search_tokens);
`;

const profileColumns = [
  'id',
  'username',
  'role',
  'status',
  'group',
  'password_secret',
  'access_token_hash',
  'webhook_secret',
  'accept_unpriced_models',
  'quota_warning_threshold',
  'inviter_id',
  'invite_code',
  'created_at',
  'deleted_at',
  'erased',
  'position',
] as const satisfies readonly (keyof Profile)[];

/** All that moves users' quota. */
type WalletEvent = Exclude<MoneyEvent, ApiKeyEvent>;
type ProfileEvent = Exclude<UserEvent, WalletEvent>;

/** What rows beside an erased user show. */
const nameOfErased = (id: UserId): string => `#${id}`;

const userOf = ({ stream }: Recorded): UserId => UserId(streamKey(stream));

export const users = projection<UserEvent | WalletEvent>({
  name: 'users',
  version: 7,
  purpose: 'deciding',
  tables,
  interestedIn: {
    UserRegistered: true,
    UserProfileChanged: true,
    EmailChanged: true,
    IdentityLinked: true,
    IdentityUnlinked: true,
    PasskeyGivenUp: true,
    UserGroupChanged: true,
    UserRoleChanged: true,
    UserDisabled: true,
    UserEnabled: true,
    UserDeleted: true,
    UserErased: true,
    SignInsEnded: true,
    InviteCodeIssued: true,
    InviteRewardPromised: true,
    InviteRewardEarned: true,
    InviteRewardTransferred: true,
    PasswordChanged: true,
    AccessTokenIssued: true,
    UserSettingsChanged: true,
    QuotaGranted: true,
    QuotaAdjusted: true,
    RedemptionCodeRedeemed: true,
    CallReserved: true,
    CallSettled: true,
    CallReleased: true,
    CallRefunded: true,
    CallCorrected: true,
    TopUpCompleted: true,
    TopUpRefunded: true,
    TopUpDisputed: true,
    TopUpDisputeWon: true,
  },
  async project(tx, batch, context) {
    const wallets = new Map<UserId, Wallet>();
    const invitations = new Map<UserId, Invitations>();
    const changes: Recorded<ProfileEvent>[] = [];
    for (const recorded of batch) {
      const movements = movementsOf(recorded);
      if (movements.length === 0) changes.push(recorded as Recorded<ProfileEvent>);
      for (const movement of movements) {
        book(wallets, movement);
        bookInvitations(invitations, movement);
      }
      count(wallets, recorded);
      countInvited(invitations, recorded);
    }
    if (changes.length > 0) await changeProfiles(tx, changes, context);
    await addById(tx, 'users', [...wallets.values()]);
    await addById(tx, 'users', [...invitations.values()]);
  },
});

const emptyWallet = (id: UserId): Wallet => ({ id, quota: 0n, used_quota: 0n, request_count: 0 });

function book(wallets: Map<UserId, Wallet>, { call, postings }: Movement): void {
  for (const posting of postings) {
    if (posting.owner !== 'user') continue;
    const wallet = tallyOf(wallets, posting.id, emptyWallet);
    if (posting.part === 'available') wallet.quota += posting.amount;
    if (call !== null) wallet.used_quota -= posting.amount;
  }
}

/** Calls that used anything. */
function count(wallets: Map<UserId, Wallet>, { event }: Recorded<UserEvent | WalletEvent>): void {
  if (event.type === 'CallSettled' && usedAnything(event.usage))
    tallyOf(wallets, event.facts.userId, emptyWallet).request_count += 1;
  if (event.type === 'CallRefunded' && usedAnything(event.settlement.usage))
    tallyOf(wallets, event.facts.userId, emptyWallet).request_count -= 1;
}

async function changeProfiles(
  tx: ReadModels,
  changes: readonly Recorded<ProfileEvent>[],
  { personalData }: ProjectionContext,
): Promise<void> {
  const ids = [...new Set(changes.map(userOf))];
  const stored = await tx.selectFrom('users').select(profileColumns).where('id', 'in', ids).execute();
  const profiles = new Map<UserId, Profile>(stored.map((profile) => [profile.id, profile]));
  const personal = new Map<UserId, PersonalChange | null>();
  for (const recorded of changes) {
    const id = userOf(recorded);
    const profile = evolve(profiles.get(id), recorded);
    if (profile === undefined) continue;
    profiles.set(id, { ...profile, position: recorded.position });
    const texts = personalIn(recorded.event);
    if (texts !== undefined) personal.set(id, texts === null ? null : { ...personal.get(id), ...texts });
  }
  await putRows(tx, 'users', ['id'], [...profiles.values()]);
  if (personal.size > 0) await changePersonal(tx, personal, personalData);
}

function evolve(profile: Profile | undefined, recorded: Recorded<ProfileEvent>): Profile | undefined {
  const { event, at, position } = recorded;
  if (event.type === 'UserRegistered')
    return {
      id: userOf(recorded),
      username: event.username,
      role: event.role,
      status: 'enabled',
      group: event.group,
      password_secret: event.passwordSecret,
      access_token_hash: null,
      webhook_secret: null,
      accept_unpriced_models: false,
      quota_warning_threshold: null,
      inviter_id: event.inviter,
      invite_code: null,
      created_at: unixSeconds(at),
      deleted_at: null,
      erased: false,
      position,
    };
  if (profile === undefined) return undefined;
  switch (event.type) {
    case 'UserProfileChanged':
      return event.username === null ? profile : { ...profile, username: event.username };
    case 'UserGroupChanged':
      return { ...profile, group: event.group };
    case 'InviteCodeIssued':
      return { ...profile, invite_code: event.code };
    case 'UserRoleChanged':
      return { ...profile, role: event.role };
    case 'UserDisabled':
      return { ...profile, status: 'disabled' };
    case 'UserEnabled':
      return { ...profile, status: 'enabled' };
    case 'UserDeleted':
      return {
        ...profile,
        password_secret: null,
        access_token_hash: null,
        webhook_secret: null,
        deleted_at: unixSeconds(at),
      };
    case 'UserErased':
      return { ...profile, erased: true, username: nameOfErased(profile.id) };
    // Personal, or nothing that a row contains.
    case 'EmailChanged':
    case 'IdentityLinked':
    case 'IdentityUnlinked':
    case 'PasskeyGivenUp':
    case 'SignInsEnded':
    case 'InviteRewardPromised':
      return profile;
    case 'PasswordChanged':
      return { ...profile, password_secret: event.passwordSecret };
    case 'AccessTokenIssued':
      return { ...profile, access_token_hash: event.tokenHash };
    case 'UserSettingsChanged':
      return {
        ...profile,
        webhook_secret: event.webhookSecret,
        accept_unpriced_models: event.acceptUnpricedModels,
        quota_warning_threshold: event.quotaWarningThreshold,
      };
    default:
      return assertNever(event);
  }
}
