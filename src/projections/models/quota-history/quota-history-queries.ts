import { sql } from 'kysely';
import { beginning, type Position } from '../../../domain/events/events.js';
import type { Moment } from '../../../domain/events/moment.js';
import type { ApiKeyId, ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import type { HouseAccount, MovementCause } from '../../../domain/ledger/movements.js';
import type { ReadModels } from '../../database.js';
import { causeNumbers, firstRareCause, type HistoryOwner, minuteMs, type PlainMovement } from './quota-history.js';

/* The history of one account, and what it held at any time. */

export interface HistoryAccount {
  readonly owner: HistoryOwner;
  readonly id: number;
}

/** What lies on the other side: an account of the house, or another part of the user's own. */
export interface CounterEntry {
  readonly account: HouseAccount | 'reserved' | 'invites';
  readonly amount: bigint;
}

/** What an account holds. Of API keys and channels all is `available`. */
export interface Holding {
  readonly available: bigint;
  readonly reserved: bigint;
  readonly invites: bigint;
}

export interface QuotaMovement {
  readonly position: Position;
  /** Of the movements of one event: 0, 1, … */
  readonly part: number;
  readonly at: Instant;
  readonly cause: MovementCause;
  /** What the account gets; negative: what is taken from it. */
  readonly change: Holding;
  /** What it holds then. */
  readonly balance: Holding;
  readonly counters: readonly CounterEntry[];
  readonly userId: UserId | null;
  readonly apiKeyId: ApiKeyId | null;
  readonly channelId: ChannelId | null;
  /** The administrator who ordered it. */
  readonly by: UserId | null;
  /** Call, payment, code or invited user, by the cause. */
  readonly subject: string | null;
}

export interface HistoryCursor {
  readonly position: Position;
  readonly part: number;
}

export interface HistoryFilter {
  /** null: of all. */
  readonly causes: readonly MovementCause[] | null;
  /** From this instant on; null: from the first. */
  readonly from: Instant | null;
  /** Before this instant; null: up to the last. */
  readonly to: Instant | null;
}

interface HistoryRange {
  readonly order: 'oldest' | 'newest';
  /** Only what comes behind it in this order; null: from the beginning. */
  readonly after: HistoryCursor | null;
  /** What came later is left out; null: nothing is. */
  readonly upTo: Position | null;
  readonly limit: number;
}

const causeOf = new Map<number, MovementCause>(
  Object.entries(causeNumbers).map(([cause, number]) => [number, cause as MovementCause]),
);

export function causeNamed(number: number): MovementCause {
  const cause = causeOf.get(number);
  if (cause === undefined) throw new Error(`The history of quota holds a cause ${number}`);
  return cause;
}

const ownerColumns = { user: 'user_id', 'api-key': 'api_key_id', channel: 'channel_id' } as const;
const nothing: Holding = { available: 0n, reserved: 0n, invites: 0n };
const only = (available: bigint): Holding => ({ ...nothing, available });

/** All entries of a movement, the user's and these, sum to zero; beside it stand those of API keys and channels. */
export function countersOf(
  cause: MovementCause,
  { available, reserved, invites }: Pick<PlainMovement, 'available' | 'reserved' | 'invites'>,
  beside: bigint,
): readonly CounterEntry[] {
  const total = BigInt(available) + BigInt(reserved) + BigInt(invites);
  const one = (account: CounterEntry['account'], amount: bigint): CounterEntry => ({ account, amount });
  switch (cause) {
    case 'reservation':
    case 'release':
      return [one('reserved', BigInt(reserved))];
    case 'settlement':
      return [one('revenue', -total)];
    case 'grant':
    case 'invite-reward':
      return [one('grants', -total)];
    case 'adjustment':
      return [one('adjustments', beside - total), one('grants', -beside)].filter(({ amount }) => amount !== 0n);
    case 'top-up':
    case 'top-up-return':
      return [one('payments', -total)];
    case 'redemption':
      return [one('codes', -total)];
    case 'invite-transfer':
      return [one('invites', BigInt(invites))];
    case 'allowance':
      return [];
    case 'suspense':
      return [one('suspense', beside), one('revenue', -beside)];
    case 'refund':
    case 'correction':
      return [one('revenue', -total - beside), one('suspense', beside)].filter(({ amount }) => amount !== 0n);
  }
}

/** From where to where movements of these times may lie in the log; null: there are none. */
async function positionsBetween(
  db: ReadModels,
  { from, to }: HistoryFilter,
): Promise<{ readonly first: Position; readonly until: Position } | null> {
  let minutes = db
    .selectFrom('quota_minute')
    .select(({ fn }) => [fn.min('first').as('first'), fn.max('until').as('until')]);
  if (from !== null) minutes = minutes.where('minute', '>=', Math.floor(from / minuteMs));
  if (to !== null) minutes = minutes.where('minute', '<=', Math.floor(to / minuteMs));
  const found = await minutes.executeTakeFirst();
  const { first, until } = found ?? { first: null, until: null };
  return first === null || until === null ? null : { first, until };
}

/** The latest movement that is not later; `beginning`: there was none. */
async function positionAt(db: ReadModels, at: Instant): Promise<Position> {
  const minute = Math.floor(at / minuteMs);
  const before = await db
    .selectFrom('quota_minute')
    .selectAll()
    .where('minute', '<=', minute)
    .orderBy('minute', 'desc')
    .limit(2)
    .execute();
  for (const { minute: of, first, until, last, last_at } of before) {
    if (last_at <= at) return last;
    const within = await db
      .selectFrom('quota_movement')
      .select('position')
      .where('position', '>=', first)
      .where('position', '<=', until)
      .where('at', '>=', (of * minuteMs) as Instant)
      .where('at', '<=', at)
      .orderBy('at', 'desc')
      .orderBy('position', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (within !== undefined) return within.position;
  }
  return beginning;
}

/** When the last movement up to this position was made; null: there was none. */
export async function lastMovedAt(db: ReadModels, position: Position): Promise<Instant | null> {
  const row = await db
    .selectFrom('quota_movement')
    .select('at')
    .where('position', '<=', position)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** What an account held; nothing, where it did not exist. */
export async function holdingAt(db: ReadModels, account: HistoryAccount, moment: Moment): Promise<Holding> {
  const upTo = 'at' in moment ? await positionAt(db, moment.at) : moment.position;
  const row = await movementsOfAccount(db, account)
    .where('position', '<=', upTo)
    .orderBy('position', 'desc')
    .orderBy('part', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? nothing : balanceIn(account, row);
}

const movementsOfAccount = (db: ReadModels, { owner, id }: HistoryAccount) =>
  db
    .selectFrom('quota_movement')
    .select(['position', 'part', 'at', 'cause', 'user_id', 'api_key_id', 'channel_id', 'by_user', 'subject'])
    .select(['available', 'reserved', 'invites', 'key_amount'])
    .select([
      // Sums have no end: they are read as text.
      sql<string>`channel_amount::text`.as('channel_amount'),
      sql<string>`beside::text`.as('beside'),
      sql<string>`available_after::text`.as('available_after'),
      sql<string>`reserved_after::text`.as('reserved_after'),
      sql<string>`invites_after::text`.as('invites_after'),
      sql<string>`key_after::text`.as('key_after'),
      sql<string>`channel_after::text`.as('channel_after'),
    ])
    .where(ownerColumns[owner], '=', id as never);

type Row = NonNullable<Awaited<ReturnType<ReturnType<typeof movementsOfAccount>['executeTakeFirst']>>>;

const changeIn = ({ owner }: HistoryAccount, row: Row): Holding => {
  if (owner === 'api-key') return only(BigInt(row.key_amount ?? 0));
  if (owner === 'channel') return only(BigInt(row.channel_amount));
  return { available: BigInt(row.available), reserved: BigInt(row.reserved), invites: BigInt(row.invites) };
};

const balanceIn = ({ owner }: HistoryAccount, row: Row): Holding => {
  if (owner === 'api-key') return only(BigInt(row.key_after));
  if (owner === 'channel') return only(BigInt(row.channel_after));
  const { available_after, reserved_after, invites_after } = row;
  return { available: BigInt(available_after), reserved: BigInt(reserved_after), invites: BigInt(invites_after) };
};

/** In order; no list of causes is empty. */
export async function quotaMovements(
  db: ReadModels,
  account: HistoryAccount,
  filter: HistoryFilter,
  { order, after, upTo, limit }: HistoryRange,
): Promise<QuotaMovement[]> {
  const { causes, from, to } = filter;
  let rows = movementsOfAccount(db, account);
  if (from !== null || to !== null) {
    const bounds = await positionsBetween(db, filter);
    if (bounds === null) return [];
    rows = rows.where('position', '>=', bounds.first).where('position', '<=', bounds.until);
    if (from !== null) rows = rows.where('at', '>=', from);
    if (to !== null) rows = rows.where('at', '<', to);
  }
  if (upTo !== null) rows = rows.where('position', '<=', upTo);
  if (causes !== null) {
    const numbers = causes.map((cause) => causeNumbers[cause]);
    rows = rows.where('cause', 'in', numbers);
    // By this Postgres sees that the smaller index has them.
    if (numbers.every((number) => number >= firstRareCause))
      rows = rows.where(sql<boolean>`cause >= ${sql.lit(firstRareCause)}`);
  }
  const direction = order === 'oldest' ? 'asc' : 'desc';
  if (after !== null) {
    const place = sql`(position, part)`;
    const cursor = sql`(${after.position}, ${after.part})`;
    rows = rows
      .where('position', order === 'oldest' ? '>=' : '<=', after.position)
      .where(order === 'oldest' ? sql<boolean>`${place} > ${cursor}` : sql<boolean>`${place} < ${cursor}`);
  }
  const found = await rows.orderBy('position', direction).orderBy('part', direction).limit(limit).execute();
  return found.map((row) => ({
    position: row.position,
    part: row.part,
    at: row.at,
    cause: causeNamed(row.cause),
    change: changeIn(account, row),
    balance: balanceIn(account, row),
    counters: countersOf(causeNamed(row.cause), row, BigInt(row.beside)),
    userId: row.user_id,
    apiKeyId: row.api_key_id,
    channelId: row.channel_id,
    by: row.by_user,
    subject: row.subject,
  }));
}
