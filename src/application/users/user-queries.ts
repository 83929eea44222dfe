import { batched } from '../../concurrency/batched.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { Sealed, UserId } from '../../domain/kernel/ids.js';
import { mayRead } from '../../domain/user/role.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import type { Page, PageRequest } from '../../projections/engine/page.js';
import {
  type UserFilter,
  type UserSort,
  userById,
  userPage,
  usersById,
} from '../../projections/models/user-queries.js';
import { personalTexts, type SealedUserRow, type UserRow } from '../../projections/models/users.js';
import { authorise } from '../authorise.js';
import type { PersonalData, Vault } from '../ports/storage-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';
import { disclosedTo } from './overseen-user.js';

/* Users as others see them, and as they see themselves. */

interface UserQueryPorts extends ReadingPorts {
  readonly vault: Vault;
  readonly personal: Pick<PersonalData, 'openAll' | 'searchToken'>;
}

interface UserReading extends Pick<UserQueryPorts, 'vault' | 'personal'> {
  readonly current: () => Promise<ReadModels>;
  /** Asked for within one turn, many are read by one statement: a busy minute moves the balances of many consoles. */
  readonly rowOf: (id: UserId) => Promise<SealedUserRow | null>;
}

/** Of one's own wallet, beside what may be spent. */
type OwnSums = Pick<UserRow, 'used_quota' | 'request_count' | 'invited_count' | 'invite_quota' | 'invite_quota_ever'>;

/** Personal texts are opened for whoever may see the user, and nowhere before. */
async function openPersonalTexts(
  { personal }: Pick<UserReading, 'personal'>,
  rows: readonly SealedUserRow[],
): Promise<UserRow[]> {
  const texts = rows.flatMap((row) =>
    personalTexts.flatMap((text) => (row[text] === null ? [] : { user: row.id, sealed: row[text] })),
  );
  const found = await personal.openAll(texts);
  const plain = new Map(texts.map(({ sealed }, index) => [sealed, found[index] ?? '']));
  const textOf = (sealed: Sealed | null): string => (sealed === null ? '' : (plain.get(sealed) ?? ''));
  return rows.map((row) => ({
    ...row,
    display_name: textOf(row.display_name),
    email: textOf(row.email),
    settings: textOf(row.settings),
    github: textOf(row.github),
    oidc: textOf(row.oidc),
    linuxdo: textOf(row.linuxdo),
    wechat: textOf(row.wechat),
    telegram: textOf(row.telegram),
  }));
}

/** Throws `user-not-found` for whoever is deleted too. */
function liveRow(row: SealedUserRow | null | undefined): SealedUserRow {
  if (row === null || row === undefined || row.deleted_at !== null) throw new Failure('user-not-found');
  return row;
}

async function readUser(ports: UserReading, id: UserId): Promise<SealedUserRow> {
  return liveRow(await userById(await ports.current(), id));
}

async function openUser(ports: UserReading, row: SealedUserRow): Promise<UserRow> {
  const [user] = await openPersonalTexts(ports, [row]);
  if (user === undefined) throw new Failure('user-not-found');
  return user;
}

/** A live user; equal and higher roles are for root only. */
async function userFor(ports: UserReading, viewer: Actor, id: UserId): Promise<UserRow> {
  authorise(viewer, 'admin-reading');
  const row = await readUser(ports, id);
  if (!mayRead(viewer, row.role)) throw new Failure('peer-read-forbidden');
  return disclosedTo(viewer, await openUser(ports, row));
}

async function usersFor(
  ports: UserReading,
  viewer: Actor,
  request: PageRequest & { readonly sort?: UserSort },
  filter: UserFilter,
): Promise<Page<UserRow>> {
  authorise(viewer, 'admin-reading');
  const { items, count } = await userPage(await ports.current(), ports.personal, request, filter);
  return { items: (await openPersonalTexts(ports, items)).map((user) => disclosedTo(viewer, user)), count };
}

async function usersByIdFor(ports: UserReading, viewer: Actor, ids: readonly UserId[]): Promise<UserRow[]> {
  authorise(viewer, 'admin-reading');
  const rows = ids.length === 0 ? [] : await usersById(await ports.current(), ids);
  return (await openPersonalTexts(ports, rows)).map((user) => disclosedTo(viewer, user));
}

async function webhookSecretOf({ current, vault }: UserReading, viewer: Actor): Promise<string> {
  const secret = (await userById(await current(), viewer.id))?.webhook_secret ?? null;
  return secret === null ? '' : ((await vault.get(secret)) ?? '');
}

export function userQueries({ vault, personal, ...reading }: UserQueryPorts) {
  const current = currentOf(reading);
  const rowOf = batched(async (ids: readonly UserId[]) => {
    const rows = await usersById(await current(), ids);
    return new Map(rows.map((row) => [row.id, row]));
  });
  const ports: UserReading = { vault, personal, current, rowOf };

  return {
    /** Oneself. */
    self: async (viewer: Actor): Promise<UserRow> => openUser(ports, await readUser(ports, viewer.id)),
    /** What the viewer has used, and earned by inviting. */
    ownSums: async (viewer: Actor): Promise<OwnSums> => liveRow(await ports.rowOf(viewer.id)),
    /** What the viewer's own webhooks are signed with; '' without one. */
    webhookSecret: (viewer: Actor): Promise<string> => webhookSecretOf(ports, viewer),
    user: (viewer: Actor, id: UserId): Promise<UserRow> => userFor(ports, viewer, id),
    users: (
      viewer: Actor,
      request: PageRequest & { readonly sort?: UserSort },
      filter: UserFilter = {},
    ): Promise<Page<UserRow>> => usersFor(ports, viewer, request, filter),
    /** As rows beside others and as what a change has led to; deleted users included. */
    usersById: (viewer: Actor, ids: readonly UserId[]): Promise<UserRow[]> => usersByIdFor(ports, viewer, ids),
  };
}
