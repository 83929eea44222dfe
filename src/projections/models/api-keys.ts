import { type Selectable, sql } from 'kysely';
import type { ApiKeyEvent } from '../../domain/api-key/api-key.js';
import type { ApiKeyTerms } from '../../domain/api-key/api-key-terms.js';
import type { ModelAlias } from '../../domain/api-key/model-aliases.js';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { assertNever } from '../../domain/kernel/failure.js';
import { ApiKeyId, type SecretId, type UserId } from '../../domain/kernel/ids.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Budget } from '../../domain/ledger/budget.js';
import { type MoneyEvent, type Movement, movementsOf } from '../../domain/ledger/movements.js';
import type { PaymentEvent } from '../../domain/payment/payment.js';
import type { RedemptionEvent } from '../../domain/payment/redemption.js';
import type { UserEvent } from '../../domain/user/user.js';
import type { ReadModels } from '../database.js';
import { addById, putRows } from '../engine/multi-row.js';
import { containing, counted, offsetOf, type Page, type PageRequest, type SearchStyle } from '../engine/page.js';
import { projection } from '../engine/projection.js';
import { type Sum, tallyOf } from '../engine/tallies.js';

/* API keys with what they may still spend. Times are unix seconds. */

export interface ApiKeyTables {
  api_keys: {
    id: ApiKeyId;
    owner_id: UserId;
    key_hash: string;
    secret: SecretId;
    name: string;
    status: 'enabled' | 'disabled' | 'expired' | 'exhausted';
    /** null: never expires. */
    expires_at: number | null;
    unlimited: boolean;
    /**
     * Reservations of calls in flight are taken off here and added to `used_quota`; so are charges, for unlimited keys
     * too.
     */
    remain_quota: Sum<Quota>;
    used_quota: Sum<Quota>;
    model_limits_enabled: boolean;
    model_limits: readonly string[];
    allow_ips: readonly string[];
    /** '' : the owner's group. */
    group: string;
    /** null: none. */
    budget: Budget | null;
    model_aliases: readonly ModelAlias[];
    created_at: number;
    /** When the last call was settled; null: never used. */
    accessed_at: number | null;
    deleted_at: number | null;
    /** Of the last event that changed more than the balance. */
    position: Position;
  };
}

export type ApiKeyRow = Selectable<ApiKeyTables['api_keys']>;

interface Balance {
  readonly id: ApiKeyId;
  remain_quota: bigint;
  used_quota: bigint;
  accessed_at: number | null;
}

type Terms = Omit<ApiKeyRow, 'remain_quota' | 'used_quota' | 'accessed_at'>;

const tables = `
  create table api_keys (
    id bigint primary key,
    owner_id bigint not null,
    key_hash text not null,
    secret text not null,
    name text not null,
    status text not null,
    expires_at bigint,
    unlimited boolean not null,
    remain_quota numeric not null default 0,
    used_quota numeric not null default 0,
    model_limits_enabled boolean not null,
    model_limits text[] not null,
    allow_ips text[] not null,
    "group" text not null,
    budget json,
    model_aliases json not null,
    created_at bigint not null,
    accessed_at bigint,
    deleted_at bigint,
    position bigint not null
  ) with (fillfactor = 70);
  create unique index api_keys_hash on api_keys (key_hash);
  create index api_keys_owner on api_keys (owner_id, id);
`;

const termsColumns = [
  'id',
  'owner_id',
  'key_hash',
  'secret',
  'name',
  'status',
  'expires_at',
  'unlimited',
  'model_limits_enabled',
  'model_limits',
  'allow_ips',
  'group',
  'budget',
  'model_aliases',
  'created_at',
  'deleted_at',
  'position',
] as const satisfies readonly (keyof Terms)[];

const apiKeyOf = ({ stream }: Recorded): ApiKeyId => ApiKeyId(streamKey(stream));

/** All that moves what API keys may spend. */
type AllowanceEvent = Exclude<MoneyEvent, UserEvent | PaymentEvent | RedemptionEvent>;

export const apiKeys = projection<ApiKeyEvent | AllowanceEvent>({
  name: 'api_keys',
  version: 4,
  purpose: 'deciding',
  tables,
  interestedIn: {
    ApiKeyIssued: true,
    ApiKeyEdited: true,
    ApiKeyEnabled: true,
    ApiKeyDisabled: true,
    ApiKeyRevoked: true,
    ApiKeyDeleted: true,
    CallReserved: true,
    CallSettled: true,
    CallReleased: true,
    CallRefunded: true,
    CallCorrected: true,
  },
  async project(tx, batch) {
    const balances = new Map<ApiKeyId, Balance>();
    const changes: Recorded<ApiKeyEvent>[] = [];
    for (const recorded of batch) {
      const { event, at } = recorded;
      for (const movement of movementsOf(recorded)) book(balances, movement, unixSeconds(at));
      if (!('facts' in event)) changes.push(recorded as Recorded<ApiKeyEvent>);
    }
    if (changes.length > 0) await changeTerms(tx, changes);
    await addById(tx, 'api_keys', [...balances.values()], ['accessed_at']);
  },
});

const emptyBalance = (id: ApiKeyId): Balance => ({ id, remain_quota: 0n, used_quota: 0n, accessed_at: null });

function book(balances: Map<ApiKeyId, Balance>, { cause, call, postings }: Movement, at: number): void {
  for (const posting of postings) {
    if (posting.owner !== 'api-key') continue;
    const balance = tallyOf(balances, posting.id, emptyBalance);
    if (cause === 'settlement') balance.accessed_at = Math.max(balance.accessed_at ?? 0, at);
    if (posting.part === 'reserved') continue;
    balance.remain_quota += posting.amount;
    if (call !== null) balance.used_quota -= posting.amount;
  }
}

async function changeTerms(tx: ReadModels, changes: readonly Recorded<ApiKeyEvent>[]): Promise<void> {
  const ids = [...new Set(changes.map(apiKeyOf))];
  const stored = await tx.selectFrom('api_keys').select(termsColumns).where('id', 'in', ids).execute();
  const rows = new Map<ApiKeyId, Terms>(stored.map((row) => [row.id, row]));
  for (const recorded of changes) {
    const id = apiKeyOf(recorded);
    const row = evolve(rows.get(id), recorded);
    if (row !== undefined) rows.set(id, { ...row, position: recorded.position });
  }
  await putRows(tx, 'api_keys', ['id'], [...rows.values()]);
}

const columnsOf = (terms: ApiKeyTerms) => ({
  name: terms.name,
  expires_at: terms.expiresAt === null ? null : unixSeconds(terms.expiresAt),
  unlimited: terms.unlimited,
  model_limits_enabled: terms.modelLimitsEnabled,
  model_limits: terms.modelLimits,
  allow_ips: terms.allowIps,
  group: terms.group,
  budget: terms.budget,
  model_aliases: terms.modelAliases ?? [],
});

function evolve(row: Terms | undefined, recorded: Recorded<ApiKeyEvent>): Terms | undefined {
  const { event, at, position } = recorded;
  if (event.type === 'ApiKeyIssued')
    return {
      id: apiKeyOf(recorded),
      owner_id: event.owner,
      key_hash: event.keyHash,
      secret: event.secret,
      status: 'enabled',
      created_at: unixSeconds(at),
      deleted_at: null,
      position,
      ...columnsOf(event.terms),
    };
  if (row === undefined) return undefined;
  switch (event.type) {
    case 'ApiKeyEdited':
      return { ...row, ...columnsOf(event.terms) };
    case 'ApiKeyEnabled':
      return { ...row, status: 'enabled' };
    case 'ApiKeyDisabled':
      return { ...row, status: event.cause === 'manual' ? 'disabled' : event.cause };
    case 'ApiKeyRevoked':
      return { ...row, status: 'disabled' };
    case 'ApiKeyDeleted':
      return { ...row, deleted_at: unixSeconds(at) };
    default:
      return assertNever(event);
  }
}

/** The row of one key as its own stream has it: all but what calls have spent of `given`. undefined: no such key. */
export function apiKeyInStream(stream: readonly Recorded[]): { row: Terms; given: bigint } | undefined {
  let row: Terms | undefined;
  let given = 0n;
  for (const recorded of stream as readonly Recorded<ApiKeyEvent>[]) {
    const evolved = evolve(row, recorded);
    row = evolved && { ...evolved, position: recorded.position };
    for (const { postings } of movementsOf(recorded)) for (const { amount } of postings) given += amount;
  }
  return row === undefined || row.deleted_at !== null ? undefined : { row, given };
}

/* ---- queries ---- */

const live = (db: ReadModels) => db.selectFrom('api_keys').selectAll().where('deleted_at', 'is', null);

/** Never a deleted key. */
export const apiKeyById = (db: ReadModels, id: ApiKeyId): Promise<ApiKeyRow | undefined> =>
  live(db).where('id', '=', id).executeTakeFirst();

/** Deleted keys included: their hash stays taken, and their log can still be read. */
export const apiKeyByHash = (db: ReadModels, keyHash: string): Promise<ApiKeyRow | undefined> =>
  db.selectFrom('api_keys').selectAll().where('key_hash', '=', keyHash).executeTakeFirst();

/** How many live keys a user has, and which of `ids` are here at all, live or not: one statement, one moment. */
export async function countApiKeys(
  db: ReadModels,
  owner: UserId,
  ids: readonly ApiKeyId[],
): Promise<{ live: number; known: readonly ApiKeyId[] }> {
  const { rows } = await sql<{ live: number; known: ApiKeyId[] }>`
    select count(*) filter (where deleted_at is null) as live,
      coalesce(json_agg(id) filter (where id = any(${ids}::bigint[])), '[]') as known
    from api_keys where owner_id = ${owner}`.execute(db);
  return rows[0] ?? { live: 0, known: [] };
}

/** A user's own live keys, newest first. */
export const allApiKeysOf = (db: ReadModels, owner: UserId): Promise<ApiKeyRow[]> =>
  live(db).where('owner_id', '=', owner).orderBy('id', 'desc').execute();

export const apiKeyPageOf = (db: ReadModels, owner: UserId, request: PageRequest): Promise<Page<ApiKeyRow>> =>
  apiKeyPage(db, request, { ownerId: owner });

export interface ApiKeyFilter extends SearchStyle {
  readonly ownerId?: UserId;
  readonly status?: ApiKeyRow['status'];
  /** Part of the name. */
  readonly name?: string;
  readonly keyHash?: string;
  readonly group?: string;
}

/** Live keys of all users, newest first. */
export async function apiKeyPage(
  db: ReadModels,
  request: PageRequest,
  { ownerId, status, name = '', keyHash, group, wildcards }: ApiKeyFilter = {},
): Promise<Page<ApiKeyRow>> {
  let matching = db.selectFrom('api_keys').where('deleted_at', 'is', null);
  if (ownerId !== undefined) matching = matching.where('owner_id', '=', ownerId);
  if (status !== undefined) matching = matching.where('status', '=', status);
  if (name !== '') matching = matching.where('name', 'like', containing('name', name, { wildcards }));
  if (keyHash !== undefined) matching = matching.where('key_hash', '=', keyHash);
  if (group !== undefined) matching = matching.where('group', '=', group);
  const items = await matching
    .selectAll()
    .orderBy('id', 'desc')
    .limit(request.size)
    .offset(offsetOf(request))
    .execute();
  return { items, count: () => counted(matching.select(sql<number>`count(*)`.as('total'))) };
}
