import { type Selectable, sql } from 'kysely';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { assertNever } from '../../domain/kernel/failure.js';
import { RedemptionId, type SecretId, type UserId } from '../../domain/kernel/ids.js';
import { unixSeconds } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { RedemptionEvent, RedemptionStatus } from '../../domain/payment/redemption.js';
import type { ReadModels } from '../database.js';
import { putRows } from '../engine/multi-row.js';
import {
  asId,
  beginningWith,
  counted,
  offsetOf,
  type Page,
  type PageRequest,
  type SearchStyle,
} from '../engine/page.js';
import { projection } from '../engine/projection.js';

/* Redemption codes: what they are worth, and who has redeemed them. Times are unix seconds. */

export interface RedemptionTables {
  redemptions: {
    id: RedemptionId;
    created_by: UserId;
    /** By which whoever shows a code is led to it. */
    code_hash: string;
    /** Names its text in the vault. */
    secret: SecretId;
    name: string;
    status: RedemptionStatus;
    quota: Quota;
    created_at: number;
    redeemed_at: number | null;
    redeemed_by: UserId | null;
    deleted_at: number | null;
    /** Of the last event. */
    position: Position;
  };
}

export type RedemptionRow = Selectable<RedemptionTables['redemptions']>;

const tables = `
  create table redemptions (
    id bigint primary key,
    created_by bigint not null,
    code_hash text not null,
    secret text not null,
    name text not null,
    status text not null,
    quota bigint not null,
    created_at bigint not null,
    redeemed_at bigint,
    redeemed_by bigint,
    deleted_at bigint,
    position bigint not null
  );
  create unique index redemptions_code on redemptions (code_hash);
`;

const redemptionOf = ({ stream }: Recorded): RedemptionId => RedemptionId(streamKey(stream));

export const redemptions = projection<RedemptionEvent>({
  name: 'redemptions',
  version: 1,
  // Codes are found here too. While it is being built, who brings one is asked to come again: no call waits for that.
  purpose: 'showing',
  tables,
  interestedIn: {
    RedemptionCodeIssued: true,
    RedemptionCodeEdited: true,
    RedemptionCodeEnabled: true,
    RedemptionCodeDisabled: true,
    RedemptionCodeDeleted: true,
    RedemptionCodeRedeemed: true,
  },
  async project(tx, batch) {
    const ids = [...new Set(batch.map(redemptionOf))];
    const stored = await tx.selectFrom('redemptions').selectAll().where('id', 'in', ids).execute();
    const rows = new Map<RedemptionId, RedemptionRow>(stored.map((row) => [row.id, row]));
    for (const recorded of batch) {
      const id = redemptionOf(recorded);
      const row = evolve(rows.get(id), recorded);
      if (row !== undefined) rows.set(id, { ...row, position: recorded.position });
    }
    await putRows(tx, 'redemptions', ['id'], [...rows.values()]);
  },
});

function evolve(row: RedemptionRow | undefined, recorded: Recorded<RedemptionEvent>): RedemptionRow | undefined {
  const { event, at, position } = recorded;
  if (event.type === 'RedemptionCodeIssued')
    return {
      id: redemptionOf(recorded),
      created_by: event.by,
      code_hash: event.codeHash,
      secret: event.secret,
      name: event.name,
      status: 'unused',
      quota: event.quota,
      created_at: unixSeconds(at),
      redeemed_at: null,
      redeemed_by: null,
      deleted_at: null,
      position,
    };
  if (row === undefined) return undefined;
  switch (event.type) {
    case 'RedemptionCodeEdited':
      return { ...row, name: event.name, quota: event.quota };
    case 'RedemptionCodeEnabled':
      return { ...row, status: 'unused' };
    case 'RedemptionCodeDisabled':
      return { ...row, status: 'disabled' };
    case 'RedemptionCodeRedeemed':
      return { ...row, status: 'used', redeemed_at: unixSeconds(at), redeemed_by: event.user };
    case 'RedemptionCodeDeleted':
      return { ...row, deleted_at: unixSeconds(at) };
    default:
      return assertNever(event);
  }
}

/* ---- queries ---- */

const live = (db: ReadModels) => db.selectFrom('redemptions').where('deleted_at', 'is', null);

/** Never a deleted code. */
export const redemptionById = (db: ReadModels, id: RedemptionId): Promise<RedemptionRow | undefined> =>
  live(db).selectAll().where('id', '=', id).executeTakeFirst();

/** Deleted ones included: its stream says what the code is worth. null: no such code. */
export async function redemptionIdByHash(db: ReadModels, codeHash: string): Promise<RedemptionId | null> {
  const found = await db.selectFrom('redemptions').select('id').where('code_hash', '=', codeHash).executeTakeFirst();
  return found?.id ?? null;
}

export interface RedemptionFilter extends SearchStyle {
  /** The beginning of the name; or the id. */
  readonly keyword?: string;
  readonly status?: RedemptionStatus;
}

/** Newest first. */
export async function redemptionPage(
  db: ReadModels,
  request: PageRequest,
  { keyword = '', status, wildcards }: RedemptionFilter = {},
): Promise<Page<RedemptionRow>> {
  let matching = live(db);
  if (keyword !== '') {
    const pattern = beginningWith('keyword', keyword, { wildcards });
    const id = asId(keyword);
    matching = matching.where((where) =>
      where.or([where('name', 'like', pattern), ...(id === null ? [] : [where('id', '=', id as RedemptionId)])]),
    );
  }
  if (status !== undefined) matching = matching.where('status', '=', status);
  const items = await matching
    .selectAll()
    .orderBy('id', 'desc')
    .limit(request.size)
    .offset(offsetOf(request))
    .execute();
  return { items, count: () => counted(matching.select(sql<number>`count(*)`.as('total'))) };
}
