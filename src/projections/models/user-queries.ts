import { sql } from 'kysely';
import type { IdentityClaim, UserId } from '../../domain/kernel/ids.js';
import { searchTermFor } from '../../domain/kernel/search-terms.js';
import type { ReadModels } from '../database.js';
import { asId, containing, counted, offsetOf, type Page, type PageRequest, type SearchStyle } from '../engine/page.js';
import type { PersonalDataReader } from '../engine/projection.js';
import { personalTexts, type SealedUserRow, type StoredUser } from './users.js';

/* What is asked of the users; deleted ones included unless said otherwise. */

const everybody = (db: ReadModels) =>
  db
    .selectFrom('users')
    .leftJoin('user_personal', 'user_personal.user_id', 'users.id')
    .selectAll('users')
    .select(personalTexts.map((text) => `user_personal.${text}` as const));

/** Erased users are nobody. */
const find = (db: ReadModels) => everybody(db).where('users.erased', '=', false);

export const userById = (db: ReadModels, id: UserId): Promise<SealedUserRow | undefined> =>
  find(db).where('users.id', '=', id).executeTakeFirst();

/** Erased ones included: rows beside others are called by their names. */
export const usersById = (db: ReadModels, ids: readonly UserId[]): Promise<SealedUserRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : everybody(db).where('users.id', 'in', ids).execute();

/** The name as written; a live user before a deleted one. */
export const userByUsername = (db: ReadModels, username: string): Promise<SealedUserRow | undefined> =>
  find(db)
    .where('users.username', '=', username)
    .orderBy('users.deleted_at', (order) => order.asc().nullsFirst())
    .orderBy('users.id')
    .executeTakeFirst();

/** Live users only: a deleted one has no address. */
export const userByEmail = (db: ReadModels, claim: IdentityClaim): Promise<SealedUserRow | undefined> =>
  find(db).where('user_personal.email_claim', '=', claim).executeTakeFirst();

/** Live users only. */
export const userByAccessTokenHash = (db: ReadModels, tokenHash: string): Promise<SealedUserRow | undefined> =>
  find(db).where('users.access_token_hash', '=', tokenHash).executeTakeFirst();

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
} as const satisfies Record<string, readonly [keyof StoredUser, 'asc' | 'desc']>;

export type UserSort = keyof typeof orders;

export interface UserFilter extends SearchStyle {
  /** Part of the user name; the beginning of a word of e-mail address or display name; or an id. */
  readonly keyword?: string;
  readonly group?: string;
}

export async function userPage(
  db: ReadModels,
  search: Pick<PersonalDataReader, 'searchToken'>,
  request: PageRequest & { readonly sort?: UserSort },
  { keyword = '', group = '', wildcards }: UserFilter = {},
): Promise<Page<SealedUserRow>> {
  let matching = find(db);
  if (keyword !== '') {
    const pattern = containing('keyword', keyword, { wildcards });
    const id = asId(keyword);
    const term = searchTermFor(keyword);
    matching = matching.where((where) =>
      where.or([
        where('users.username', 'like', pattern),
        ...(term === null
          ? []
          : [
              where(
                'users.id',
                'in',
                where
                  .selectFrom('user_personal as found')
                  .select('found.user_id')
                  .where('found.search_tokens', '@>', sql<string[]>`array[${search.searchToken(term)}]`),
              ),
            ]),
        ...(id === null ? [] : [where('users.id', '=', id as UserId)]),
      ]),
    );
  }
  if (group !== '') matching = matching.where('users.group', '=', group);
  const [column, direction] = orders[request.sort ?? 'id_desc'];
  const items = await matching
    .orderBy(`users.${column}`, direction)
    .orderBy('users.id', 'desc')
    .limit(request.size)
    .offset(offsetOf(request))
    .execute();
  return { items, count: () => counted(matching.clearSelect().select(sql<number>`count(*)`.as('total'))) };
}
