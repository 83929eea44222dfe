import { batched } from '../../concurrency/batched.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { Sealed, UserId } from '../../domain/kernel/ids.js';
import { type Actor, atLeast } from '../../domain/user/user.js';
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
import { seenBy } from './overseen-user.js';

/* Users as others see them, and as they see themselves. */

interface UserQueryPorts extends ReadingPorts {
  readonly vault: Vault;
  readonly personal: Pick<PersonalData, 'openAll' | 'searchToken'>;
}

/** Of one's own wallet, beside what may be spent. */
type OwnSums = Pick<UserRow, 'used_quota' | 'request_count' | 'invited_count' | 'invite_quota' | 'invite_quota_ever'>;

export function userQueries({ vault, personal, ...reading }: UserQueryPorts) {
  const current = currentOf(reading);

  /** Personal texts are opened for whoever may see the user, and nowhere before. */
  const opened = async (rows: readonly SealedUserRow[]): Promise<UserRow[]> => {
    const texts = rows.flatMap((row) =>
      personalTexts.flatMap((text) => (row[text] === null ? [] : { user: row.id, sealed: row[text] })),
    );
    const found = await personal.openAll(texts);
    const plain = new Map(texts.map(({ sealed }, place) => [sealed, found[place] ?? '']));
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
  };

  /** Whoever asks within one turn is read together: a busy minute moves the balances that a thousand consoles show. */
  const rowOf = batched(async (ids: readonly UserId[]) => {
    const rows = await usersById(await current(), ids);
    return new Map(rows.map((row) => [row.id, row]));
  });

  const openedOne = async (row: SealedUserRow): Promise<UserRow> => {
    const [user] = await opened([row]);
    if (user === undefined) throw new Failure('user-not-found');
    return user;
  };

  return {
    /** Oneself. */
    async self(viewer: Actor): Promise<UserRow> {
      const row = await userById(await current(), viewer.id);
      if (row === undefined || row.deleted_at !== null) throw new Failure('user-not-found');
      return openedOne(row);
    },

    /** What the viewer has used, and earned by inviting. */
    async ownSums(viewer: Actor): Promise<OwnSums> {
      const row = await rowOf(viewer.id);
      if (row === null || row.deleted_at !== null) throw new Failure('user-not-found');
      return row;
    },

    /** What the viewer's own webhooks are signed with; '' without one. */
    async webhookSecret(viewer: Actor): Promise<string> {
      const secret = (await userById(await current(), viewer.id))?.webhook_secret ?? null;
      return secret === null ? '' : ((await vault.get(secret)) ?? '');
    },

    /** A live user; equal and higher roles are for root only. */
    async user(viewer: Actor, id: UserId): Promise<UserRow> {
      authorise(viewer, 'admin');
      const row = await userById(await current(), id);
      if (row === undefined || row.deleted_at !== null) throw new Failure('user-not-found');
      if (viewer.role !== 'root' && atLeast(row.role, viewer.role)) throw new Failure('peer-read-forbidden');
      return seenBy(viewer, await openedOne(row));
    },

    async users(
      viewer: Actor,
      request: PageRequest & { readonly sort?: UserSort },
      filter: UserFilter = {},
    ): Promise<Page<UserRow>> {
      authorise(viewer, 'admin');
      const { items, count } = await userPage(await current(), personal, request, filter);
      return { items: (await opened(items)).map((user) => seenBy(viewer, user)), count };
    },

    /** As rows beside others and as what a change has led to; deleted users included. */
    async usersById(viewer: Actor, ids: readonly UserId[]): Promise<UserRow[]> {
      authorise(viewer, 'admin');
      const rows = ids.length === 0 ? [] : await usersById(await current(), ids);
      return (await opened(rows)).map((user) => seenBy(viewer, user));
    },
  };
}
