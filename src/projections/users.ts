import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { CallEvent, CallSettled } from '../domain/call.js';
import { type Position, type Recorded, streamKey } from '../domain/events.js';
import { assertNever } from '../domain/failure.js';
import { type Sealed, type SecretId, UserId } from '../domain/ids.js';
import { unixSeconds } from '../domain/instant.js';
import { minus, plus, type Quota, zero } from '../domain/quota.js';
import type { Role, UserEvent } from '../domain/user.js';
import type { ReadModels } from './database.js';
import { addById, putRows } from './multi-row.js';
import { asId, containing, offsetOf, type Page, type PageRequest } from './page.js';
import { type ProjectionContext, projection } from './projection.js';
import { tallyOf } from './tallies.js';

/* Users with their wallets. Times are unix seconds. */

export interface UserTables {
  users: {
    id: UserId;
    username: string;
    /** '' once the user is deleted; so is `email`. */
    display_name: string;
    email: string;
    role: Role;
    status: 'enabled' | 'disabled';
    group: string;
    /** What the user may spend now: everything received, minus charges, minus holds of calls under way. */
    quota: Quota;
    used_quota: Quota;
    /** Settled calls that used tokens. */
    request_count: number;
    password_secret: SecretId | null;
    access_token_hash: string | null;
    /** JSON text as the legacy contract stores it, without the webhook secret; '' until set. */
    settings: string;
    webhook_secret: SecretId | null;
    accept_unpriced_models: boolean;
    quota_warning_threshold: number | null;
    inviter_id: UserId | null;
    created_at: number;
    deleted_at: number | null;
    /** Of the last event that changed more than the wallet. */
    position: Position;
  };
}

export type UserRow = Selectable<UserTables['users']>;

type Wallet = Pick<UserRow, 'id' | 'quota' | 'used_quota' | 'request_count'>;
type Profile = Omit<UserRow, 'quota' | 'used_quota' | 'request_count'>;

/** Sealed texts of a batch: only the last of each user is worth opening. null: emptied. */
type SealedTexts = Partial<Record<'display_name' | 'email' | 'settings', Sealed | null>>;

// The fill factor leaves room on the page for the new version of a row whose wallet changes with every call. An index
// on a wallet column would undo that, so the lists sorted by quota sort.
const tables = `
  create table users (
    id bigint primary key,
    username text not null,
    display_name text not null,
    email text not null,
    role text not null,
    status text not null,
    "group" text not null,
    quota bigint not null default 0,
    used_quota bigint not null default 0,
    request_count bigint not null default 0,
    password_secret text,
    access_token_hash text,
    settings text not null,
    webhook_secret text,
    accept_unpriced_models boolean not null,
    quota_warning_threshold double precision,
    inviter_id bigint,
    created_at bigint not null,
    deleted_at bigint,
    position bigint not null
  ) with (fillfactor = 70);
  create index users_username on users (username);
  create index users_email on users (email) where email <> '';
  create index users_access_token on users (access_token_hash) where access_token_hash is not null;
`;

const profileColumns = [
  'id',
  'username',
  'display_name',
  'email',
  'role',
  'status',
  'group',
  'password_secret',
  'access_token_hash',
  'settings',
  'webhook_secret',
  'accept_unpriced_models',
  'quota_warning_threshold',
  'inviter_id',
  'created_at',
  'deleted_at',
  'position',
] as const satisfies readonly (keyof Profile)[];

type WalletEvent = Extract<UserEvent, { type: 'QuotaGranted' | 'QuotaAdjusted' }> | CallEvent;
type ProfileEvent = Exclude<UserEvent, WalletEvent>;

const isWalletEvent = (recorded: Recorded<UserEvent | CallEvent>): recorded is Recorded<WalletEvent> => {
  switch (recorded.event.type) {
    case 'QuotaGranted':
    case 'QuotaAdjusted':
    case 'CallReserved':
    case 'CallSettled':
    case 'CallReleased':
    case 'CallRefunded':
      return true;
    default:
      return false;
  }
};

const userOf = ({ stream }: Recorded): UserId => UserId(streamKey(stream));

export const users = projection<UserEvent | CallEvent>({
  name: 'users',
  version: 1,
  tables,
  interestedIn: {
    UserRegistered: true,
    UserProfileChanged: true,
    UserGroupChanged: true,
    UserRoleChanged: true,
    UserDisabled: true,
    UserEnabled: true,
    UserDeleted: true,
    PasswordChanged: true,
    AccessTokenIssued: true,
    UserSettingsChanged: true,
    QuotaGranted: true,
    QuotaAdjusted: true,
    CallReserved: true,
    CallSettled: true,
    CallReleased: true,
    CallRefunded: true,
  },
  async project(tx, batch, context) {
    const wallets = new Map<UserId, Wallet>();
    const changes: Recorded<ProfileEvent>[] = [];
    for (const recorded of batch) {
      if (isWalletEvent(recorded)) move(wallets, recorded);
      else changes.push(recorded as Recorded<ProfileEvent>);
    }
    if (changes.length > 0) await changeProfiles(tx, changes, context);
    await addById(tx, 'users', [...wallets.values()]);
  },
});

const emptyWallet = (id: UserId): Wallet => ({ id, quota: zero, used_quota: zero, request_count: 0 });

function move(wallets: Map<UserId, Wallet>, recorded: Recorded<WalletEvent>): void {
  const { event } = recorded;
  const wallet = tallyOf(wallets, 'facts' in event ? event.facts.userId : userOf(recorded), emptyWallet);
  switch (event.type) {
    case 'QuotaGranted':
      wallet.quota = plus(wallet.quota, event.quota);
      return;
    case 'QuotaAdjusted':
      wallet.quota = plus(wallet.quota, event.delta);
      return;
    case 'CallReserved':
      wallet.quota = minus(wallet.quota, event.reserved);
      return;
    case 'CallSettled':
      wallet.quota = plus(wallet.quota, minus(event.reserved, event.charged));
      wallet.used_quota = plus(wallet.used_quota, event.charged);
      if (usedTokens(event)) wallet.request_count += 1;
      return;
    case 'CallReleased':
      wallet.quota = plus(wallet.quota, event.reserved);
      return;
    case 'CallRefunded':
      wallet.quota = plus(wallet.quota, event.settlement.charged);
      wallet.used_quota = minus(wallet.used_quota, event.settlement.charged);
      if (usedTokens(event.settlement)) wallet.request_count -= 1;
      return;
    default:
      assertNever(event);
  }
}

const usedTokens = ({ usage }: Pick<CallSettled, 'usage'>): boolean => usage.prompt + usage.completion > 0;

async function changeProfiles(
  tx: ReadModels,
  changes: readonly Recorded<ProfileEvent>[],
  { personalData }: ProjectionContext,
): Promise<void> {
  const ids = [...new Set(changes.map(userOf))];
  const stored = await tx.selectFrom('users').select(profileColumns).where('id', 'in', ids).execute();
  const profiles = new Map<UserId, Profile>(stored.map((profile) => [profile.id, profile]));
  const sealed = new Map<UserId, SealedTexts>();
  for (const recorded of changes) {
    const id = userOf(recorded);
    const profile = evolve(profiles.get(id), recorded);
    if (profile === undefined) continue;
    profiles.set(id, { ...profile, position: recorded.position });
    sealed.set(id, { ...sealed.get(id), ...sealedIn(recorded.event) });
  }
  await Promise.all(
    [...sealed].flatMap(([id, texts]) => {
      const profile = profiles.get(id);
      if (profile === undefined) return [];
      return (Object.entries(texts) as [keyof SealedTexts, Sealed | null][]).map(async ([column, text]) => {
        profile[column] = text === null ? '' : ((await personalData.open(id, text)) ?? '');
      });
    }),
  );
  await putRows(tx, 'users', ['id'], [...profiles.values()]);
}

/** What an event says about the sealed columns. A deletion empties them, with or without the user's key. */
function sealedIn(event: ProfileEvent): SealedTexts {
  switch (event.type) {
    case 'UserRegistered':
      return { display_name: event.displayName, email: event.email };
    case 'UserProfileChanged':
      return {
        ...(event.displayName === null ? {} : { display_name: event.displayName }),
        ...(event.email === null ? {} : { email: event.email }),
      };
    case 'UserSettingsChanged':
      return { settings: event.settings };
    case 'UserDeleted':
      return { display_name: null, email: null, settings: null };
    default:
      return {};
  }
}

function evolve(profile: Profile | undefined, recorded: Recorded<ProfileEvent>): Profile | undefined {
  const { event, at, position } = recorded;
  if (event.type === 'UserRegistered')
    return {
      id: userOf(recorded),
      username: event.username,
      display_name: '',
      email: '',
      role: event.role,
      status: 'enabled',
      group: event.group,
      password_secret: event.passwordSecret,
      access_token_hash: null,
      settings: '',
      webhook_secret: null,
      accept_unpriced_models: false,
      quota_warning_threshold: null,
      inviter_id: event.inviter,
      created_at: unixSeconds(at),
      deleted_at: null,
      position,
    };
  if (profile === undefined) return undefined;
  switch (event.type) {
    case 'UserProfileChanged':
      return event.username === null ? profile : { ...profile, username: event.username };
    case 'UserGroupChanged':
      return { ...profile, group: event.group };
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

/* ---- queries; deleted users included unless said otherwise ---- */

const find = (db: ReadModels) => db.selectFrom('users').selectAll();

export const userById = (db: ReadModels, id: UserId): Promise<UserRow | undefined> =>
  find(db).where('id', '=', id).executeTakeFirst();

export const usersById = (db: ReadModels, ids: readonly UserId[]): Promise<UserRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : find(db).where('id', 'in', ids).execute();

/** The name as written; a live user before a deleted one. */
export const userByUsername = (db: ReadModels, username: string): Promise<UserRow | undefined> =>
  find(db)
    .where('username', '=', username)
    .orderBy('deleted_at', (order) => order.asc().nullsFirst())
    .orderBy('id')
    .executeTakeFirst();

/** Live users only: a deleted one has no address. */
export const userByEmail = (db: ReadModels, email: string): Promise<UserRow | undefined> =>
  email === ''
    ? Promise.resolve(undefined)
    : find(db).where('email', '=', email).where('email', '<>', '').orderBy('id').executeTakeFirst();

/** Live users only. */
export const userByAccessTokenHash = (db: ReadModels, tokenHash: string): Promise<UserRow | undefined> =>
  find(db).where('access_token_hash', '=', tokenHash).executeTakeFirst();

export const rootUserId = async (db: ReadModels): Promise<UserId | null> => {
  const root = await db.selectFrom('users').select('id').where('role', '=', 'root').orderBy('id').executeTakeFirst();
  return root?.id ?? null;
};

const orders = {
  id_desc: ['id', 'desc'],
  quota_desc: ['quota', 'desc'],
  quota_asc: ['quota', 'asc'],
  used_quota_desc: ['used_quota', 'desc'],
  used_quota_asc: ['used_quota', 'asc'],
  request_count_desc: ['request_count', 'desc'],
  request_count_asc: ['request_count', 'asc'],
} as const satisfies Record<string, readonly [keyof UserRow, 'asc' | 'desc']>;

export type UserSort = keyof typeof orders;
export const userSorts = Object.keys(orders) as readonly UserSort[];

export interface UserFilter {
  /** Part of user name, e-mail address or display name, taken literally; or an id. */
  readonly keyword?: string;
  readonly group?: string;
}

export async function userPage(
  db: ReadModels,
  request: PageRequest & { readonly sort?: UserSort },
  { keyword = '', group = '' }: UserFilter = {},
): Promise<Page<UserRow>> {
  let matching = db.selectFrom('users');
  if (keyword !== '') {
    const pattern = containing(keyword);
    const id = asId(keyword);
    matching = matching.where((where) =>
      where.or([
        where('username', 'like', pattern),
        where('email', 'like', pattern),
        where('display_name', 'like', pattern),
        ...(id === null ? [] : [where('id', '=', id as UserId)]),
      ]),
    );
  }
  if (group !== '') matching = matching.where('group', '=', group);
  const [column, direction] = orders[request.sort ?? 'id_desc'];
  const items = await matching
    .selectAll()
    .orderBy(column, direction)
    .orderBy('id', 'desc')
    .limit(request.size)
    .offset(offsetOf(request))
    .execute();
  const { total } = await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  return { items, total };
}
