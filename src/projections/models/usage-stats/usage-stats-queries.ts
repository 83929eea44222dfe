import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { ApiKeyId, ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { ReadModels } from '../../database.js';
import {
  beganIn,
  type Dimension,
  daySeconds,
  daysOf,
  distributions,
  measures,
  type Piece,
  readSum,
  rowKinds,
  tableThatKnows,
  type UsageSumTable,
  type UsageSumTables,
} from './usage-sums.js';

/* Sums of calls over a range of hours. */

export interface UsageStatsFilter {
  /** Unix seconds, inclusive; hours count by their start. */
  readonly from: number;
  readonly to: number;
  readonly userId?: UserId;
  readonly username?: string;
  readonly apiKeyId?: ApiKeyId;
  readonly model?: string;
  readonly channelId?: ChannelId;
  readonly group?: string;
}

export type UsageDimension = Exclude<Dimension, 'api_key_name'>;

export interface UsageStatsQuery {
  /** What each row is about; several may be given. */
  readonly by: readonly UsageDimension[];
  /** null: the whole range in one. */
  readonly interval: 'hour' | 'day' | null;
  /** Where days begin: minutes east of UTC. A zone off the full hour counts each hour to the day it starts in. */
  readonly offsetMinutes: number;
}

type UsageStatsRow = Selectable<UsageSumTables['usage_stats']>;

/** `start`: of the interval, unix seconds; null without interval. Dimensions not asked for are null. */
export type UsageStatsGroup = { readonly start: number | null } & {
  readonly [Dimension in UsageDimension]: UsageStatsRow[Dimension] | null;
} & Readonly<Pick<UsageStatsRow, (typeof measures)[number]>>;

const dimensions = ['user_id', 'api_key_id', 'model', 'channel_id', 'group'] as const;

/** What hours can be narrowed to, whatever their model. */
type HoursFilter = Pick<UsageStatsFilter, 'userId' | 'username' | 'apiKeyId' | 'channelId' | 'group'> & {
  readonly apiKeyName?: string;
};

/** Which table answers; null: none can. `by`: what else is distinguished or narrowed to. */
export function hoursTable(filter: HoursFilter, by: readonly Dimension[], durations = false): UsageSumTable | null {
  const { userId, username, apiKeyId, apiKeyName, channelId, group } = filter;
  const asked = new Set(by);
  if (userId !== undefined || username !== undefined) asked.add('user_id');
  if (apiKeyId !== undefined) asked.add('api_key_id');
  if (apiKeyName !== undefined) asked.add('api_key_name');
  if (channelId !== undefined) asked.add('channel_id');
  if (group !== undefined) asked.add('group');
  return tableThatKnows(asked, durations);
}

/** Rows about whom and what the filter names, of any time and model. `table`: one that knows what it names. */
export function matchingHours(db: ReadModels, table: keyof UsageSumTables, filter: HoursFilter) {
  const { userId, username, apiKeyId, apiKeyName, channelId, group } = filter;
  // To the compiler it is the one with most columns; that the one asked has those needed is what it was chosen by.
  let rows = db.selectFrom(table as 'usage_stats');
  if (userId !== undefined) rows = rows.where('user_id', '=', userId);
  if (username !== undefined)
    rows = rows.where('user_id', 'in', (where) =>
      where.selectFrom('users').select('users.id').where('users.username', '=', username),
    );
  if (apiKeyId !== undefined) rows = rows.where('api_key_id', '=', apiKeyId);
  if (apiKeyName !== undefined) rows = rows.where(sql<SqlBool>`api_key_name = ${apiKeyName}`);
  if (channelId !== undefined) rows = rows.where('channel_id', '=', channelId);
  if (group !== undefined) rows = rows.where('group', '=', group);
  return rows;
}

type CallsFilter = Omit<UsageStatsFilter, 'from' | 'to'>;

/** What is read of calls. */
export interface CallsBreakdown {
  /** What is distinguished. */
  readonly by: readonly UsageDimension[];
  /** Beside the sums, how long calls took. */
  readonly durations: boolean;
}

/** The table that answers: of hours, or of the last minutes. */
function tableOf(piece: Piece, filter: CallsFilter, { by, durations }: CallsBreakdown) {
  if (piece === 'minute') return 'usage_stats_minutes';
  const needed = filter.model === undefined ? by : [...by, 'model' as const];
  // The table with most columns knows every dimension there is to ask by.
  return hoursTable(filter, needed, durations) ?? 'usage_stats';
}

function callsIn(db: ReadModels, table: keyof UsageSumTables, filter: CallsFilter) {
  const { model } = filter;
  const rows = matchingHours(db, table, filter).where('counted', '!=', rowKinds.channelTests);
  return model === undefined ? rows : rows.where('model', '=', model);
}

/** Calls of any time that the filter lets through, in rows of hours, or of the last minutes. */
export const usageRows = (db: ReadModels, piece: Piece, filter: CallsFilter, asked: CallsBreakdown) =>
  callsIn(db, tableOf(piece, filter, asked), filter);

/** Unix seconds; `to` exclusive. */
interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The same calls of a range in rows that do not say when: its whole days count as days where a table has them, so that
 * there are few rows of a long one.
 */
export function usageRowsOver(
  db: ReadModels,
  piece: Piece,
  { filter, from, to }: TimeRange & { readonly filter: CallsFilter },
  asked: CallsBreakdown,
) {
  const columns = [...asked.by, ...measures, ...(asked.durations ? distributions : [])];
  const rowsOf = (name: keyof UsageSumTables, when: RawBuilder<SqlBool>) =>
    callsIn(db, name, filter).where(when).select(columns);
  const table = tableOf(piece, filter, asked);
  const ofSums = tableOf(piece, filter, { ...asked, durations: false });
  const days = ofSums === 'usage_stats_minutes' ? null : daysOf(ofSums);
  const [firstDay, end] = [beganIn('day', from - 1) + daySeconds, beganIn('day', to)];
  if (days === null || firstDay >= end) {
    const time = sql.ref(piece);
    return db.selectFrom(rowsOf(table, sql<SqlBool>`${time} >= ${from} and ${time} < ${to}`).as('calls'));
  }
  const around = sql<SqlBool>`(hour >= ${from} and hour < ${firstDay} or hour >= ${end} and hour < ${to})`;
  return db.selectFrom(
    rowsOf(table, around)
      .unionAll(rowsOf(days, sql<SqlBool>`day >= ${firstDay} and day < ${end}`))
      .as('calls'),
  );
}

/** Sums over a range, by the dimensions and the interval asked for; oldest interval first, then the most expensive. */
export function usageStatsBy(
  db: ReadModels,
  filter: UsageStatsFilter,
  { by, interval, offsetMinutes }: UsageStatsQuery,
): Promise<UsageStatsGroup[]> {
  const offset = Math.round(offsetMinutes) * 60;
  const start: RawBuilder<number | null> =
    interval === 'day'
      ? sql`(hour + ${sql.lit(offset)}) / 86400 * 86400 - ${sql.lit(offset)}`
      : interval === 'hour'
        ? sql`hour`
        : sql`null::bigint`;
  const grouped = [...(interval === null ? [] : [start]), ...by.map((dimension) => sql.ref(dimension))];
  const rows = usageRows(db, 'hour', filter, { by, durations: false })
    .where('hour', '>=', filter.from)
    .where('hour', '<=', filter.to);
  const query = rows
    .select(start.as('start'))
    .select(
      dimensions.map((dimension) =>
        by.includes(dimension) ? sql<unknown>`${sql.ref(dimension)}`.as(dimension) : sql<unknown>`null`.as(dimension),
      ),
    )
    .select(measures.map((measure) => readSum(measure, sql`coalesce(sum(${sql.ref(measure)}), 0)`).as(measure)));
  return (grouped.length === 0 ? query : query.groupBy(grouped))
    .orderBy(sql`1`)
    .orderBy(sql`sum(quota) desc`)
    .$castTo<UsageStatsGroup>()
    .execute();
}
