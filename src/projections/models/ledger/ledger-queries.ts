import { type RawBuilder, sql } from 'kysely';
import type { CallReserved } from '../../../domain/call/call.js';
import { beginning, type Position } from '../../../domain/events/events.js';
import type { ApiKeyId, UserId } from '../../../domain/kernel/ids.js';
import { CallId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import { nearestQuota, Quota } from '../../../domain/kernel/quota.js';
import { type Day, type Days, daysRemembered } from '../../../domain/ledger/budget.js';
import { namedPrice } from '../../../domain/pricing/built-in/earlier-prices.js';
import type { ReadModels } from '../../database.js';
import { schemaOf } from '../../engine/projection.js';
import { availableOf, ledger, reservedOf } from './ledger.js';

/** A call that was reserved and has no outcome, as far as this read model knows. */
export interface OpenCall {
  readonly callId: CallId;
  readonly reservation: CallReserved;
  readonly position: Position;
  readonly since: Instant;
}

/** Calls reserved behind `after` and up to `upTo`, in that order. */
export async function openCalls(
  db: ReadModels,
  { after, upTo, limit }: { readonly after: Position | null; readonly upTo: Position; readonly limit: number },
): Promise<OpenCall[]> {
  const rows = await db
    .selectFrom('open_call')
    .select(['call_id', 'reservation', 'position', 'since'])
    .where('position', '>', after ?? beginning)
    .where('position', '<=', upTo)
    .orderBy('position')
    .limit(limit)
    .execute();
  return rows.map(({ call_id, reservation, ...call }) => ({
    callId: call_id,
    // Kept since before quantities had names, it may be in the words of that time.
    reservation: { ...reservation, price: namedPrice(reservation.price) },
    ...call,
  }));
}

/** An account at one position of the log: its balance, reservations not deducted, and the reservations of in-flight calls. */
interface AccountSnapshot {
  readonly balance: bigint;
  /** Of an API key: its newest days with spending. */
  readonly spending: readonly (readonly [day: Day, quota: bigint])[];
  readonly reservations: readonly { readonly callId: CallId; readonly quota: Quota }[];
  readonly position: Position;
}

interface Snapshot {
  position: Position;
  balance: string;
  spending: [Day, string][];
  holds: { callId: string; quota: number }[];
  whole: boolean;
}

/*
 * Positions, balances and reservations of one statement come from one commit, except while a rebuilt ledger is swapped in: a
 * statement that was being parsed at that moment may name some tables of the old schema and some of the new. It names
 * `ledger_position` first, so if that one is in the current schema, so are the others; if not, it is asked again.
 */
export const inOneSchema = sql<boolean>`
  (select relnamespace from pg_catalog.pg_class where oid = folded.tableoid)
    = (select oid from pg_catalog.pg_namespace where nspname = ${schemaOf(ledger)})`;

async function snapshot(
  db: ReadModels,
  balance: RawBuilder<number>,
  spending: RawBuilder<unknown>,
  ofAccount: RawBuilder<boolean>,
): Promise<AccountSnapshot> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const { rows } = await sql<Snapshot>`
      select folded.position, (${balance})::text as balance, (${spending}) as spending, holds.list as holds, ${inOneSchema} as whole
      from ledger_position folded
      cross join lateral (
        select coalesce(json_agg(json_build_object('callId', call_id, 'quota', reserved)), '[]') as list
        from open_call where ${ofAccount}
      ) holds
    `.execute(db);
    const [found] = rows;
    if (found?.whole)
      return {
        balance: BigInt(found.balance),
        spending: found.spending.map(([day, quota]) => [day, BigInt(quota)]),
        reservations: found.holds.map(({ callId, quota }) => ({ callId: CallId(callId), quota: Quota(quota) })),
        position: found.position,
      };
  }
  throw new Error('The ledger is being rebuilt over and over: no snapshot in 10 attempts');
}

/** What a user owns, as of the position given; the quota gate is seeded from it. */
export const quotaSnapshot = (db: ReadModels, user: UserId): Promise<AccountSnapshot> =>
  snapshot(
    db,
    sql<number>`(
      select coalesce(sum(balance), 0) from ledger_balance
      where account in (${availableOf(user)}, ${reservedOf(user)})
    )`,
    sql`'[]'::json`,
    sql<boolean>`user_id = ${user}`,
  );

/** What an API key may spend, as of the position given; counted for unlimited keys too. */
export const apiKeySnapshot = (db: ReadModels, apiKey: ApiKeyId): Promise<AccountSnapshot> =>
  snapshot(
    db,
    sql<number>`coalesce((select balance from api_key_balance where api_key_id = ${apiKey}), 0)`,
    // Amounts come as text: a number in JSON ends at 2^53.
    sql`
      select coalesce(json_agg(json_build_array(day, spent::text)), '[]') from (
        select day, spent from api_key_spending where api_key_id = ${apiKey} order by day desc limit ${daysRemembered}
      ) newest`,
    sql<boolean>`api_key_id = ${apiKey}`,
  );

/** What API keys have spent, each within its days. Those that have spent nothing are missing. */
export async function spentWithin(
  db: ReadModels,
  wanted: readonly ({ readonly id: ApiKeyId } & Days)[],
): Promise<ReadonlyMap<ApiKeyId, Quota>> {
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<{ id: ApiKeyId; spent: string }>`
    select wanted.id, sum(spending.spent)::text as spent
    from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted (id bigint, first integer, next integer)
    join api_key_spending spending
      on spending.api_key_id = wanted.id and spending.day >= wanted.first and spending.day < wanted.next
    group by wanted.id
  `.execute(db);
  return new Map(rows.map(({ id, spent }) => [id, nearestQuota(BigInt(spent))]));
}
