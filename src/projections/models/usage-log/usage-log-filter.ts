import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ApiKeyId, ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { ReadModels } from '../../database.js';
import { checkedPattern } from '../../engine/page.js';
import { type LogType, logTypes, type UsageLogRow } from './usage-log.js';
import { clearedBefore } from './usage-log-clearing.js';

/* What the usage log can be asked for. */

/** What is not given does not filter. */
export interface UsageLogFilter {
  readonly type?: LogType;
  readonly userId?: UserId;
  /** Any of them. */
  readonly userIds?: readonly UserId[];
  /** As the user is called now. */
  readonly username?: string;
  readonly apiKeyId?: ApiKeyId;
  readonly apiKeyName?: string;
  /** A LIKE pattern: `%` stands for anything. */
  readonly model?: string;
  readonly channelId?: ChannelId;
  readonly group?: string;
  readonly requestId?: string;
  /** Of calls that were refused or failed: the code their callers were given. */
  readonly code?: string;
  /** Unix seconds, both inclusive. */
  readonly from?: number;
  readonly to?: number;
}

/** What lines are asked for by what they hold; see `narrowed-filter.ts`. */
export interface LineFilter extends Omit<UsageLogFilter, 'model' | 'group'> {
  /** Any of them: those that have, or had, the name. */
  readonly apiKeyIds?: readonly UsageLogRow['api_key_id'][];
  /** Any of them. */
  readonly modelIds?: readonly number[];
  /** In place of them, where many fit: any that fits the pattern. */
  readonly modelPattern?: string;
  readonly groupId?: number;
  /** Any of them: those that have all values asked for but the code and the time, which are not named any more then. */
  readonly series?: readonly number[];
}

/** The same, without what has been cleared. */
export async function shown<Filter extends Pick<UsageLogFilter, 'from'>>(
  db: ReadModels,
  filter: Filter,
): Promise<Filter> {
  const since = await clearedBefore(db);
  return since <= (filter.from ?? 0) ? filter : { ...filter, from: since };
}

export const isPattern = (model: string | undefined): boolean => model !== undefined && /[%_]/.test(model);

/** Whether the column holds the model, or one that fits the pattern. */
export const isModel = (column: string, model: string): RawBuilder<SqlBool> =>
  isPattern(model)
    ? sql<SqlBool>`${sql.ref(column)} like ${checkedPattern('model', model)}`
    : sql<SqlBool>`${sql.ref(column)} = ${model}`;

/** The numbers of names that fit. */
export const namesLike = (pattern: string) =>
  sql`select named.id from usage_log_names as named where ${isModel('named.name', pattern)}`;

/** Lines of the log; those who add conditions call them `line`. */
export function matching(db: ReadModels, { from, to, ...timeless }: LineFilter) {
  let lines = whenever(db, timeless);
  if (from !== undefined) lines = lines.where('line.created_at', '>=', from);
  if (to !== undefined) lines = lines.where('line.created_at', '<=', to);
  return lines;
}

/** The same, of whatever time. */
export function whenever(db: ReadModels, filter: Omit<LineFilter, 'from' | 'to'>) {
  let lines = db.selectFrom('usage_log as line');
  if (filter.type !== undefined) lines = lines.where('line.type', '=', filter.type);
  if (filter.userId !== undefined) lines = lines.where('line.user_id', '=', filter.userId);
  const { userIds, username } = filter;
  if (userIds !== undefined) lines = lines.where('line.user_id', 'in', userIds);
  if (username !== undefined)
    lines = lines.where('line.user_id', 'in', (where) =>
      where.selectFrom('users').select('users.id').where('users.username', '=', username),
    );
  if (filter.apiKeyId !== undefined) lines = lines.where('line.api_key_id', '=', filter.apiKeyId);
  const { apiKeyIds, apiKeyName } = filter;
  if (apiKeyIds !== undefined) lines = lines.where('line.api_key_id', 'in', apiKeyIds);
  if (apiKeyName !== undefined) {
    const isNamed = sql<SqlBool>`line.series_id in (
      select named.id from usage_log_series as named where named.api_key_name = ${apiKeyName}
    )`;
    // The planner must not take the name for a second condition: it says next to nothing that the ids do not.
    lines = lines.where(
      apiKeyIds === undefined ? isNamed : sql<SqlBool>`case when ${isNamed} then true else false end`,
    );
  }
  const { modelIds, modelPattern } = filter;
  if (modelIds !== undefined) lines = lines.where('line.model_id', 'in', modelIds);
  if (modelPattern !== undefined) lines = lines.where(sql<SqlBool>`line.model_id in (${namesLike(modelPattern)})`);
  if (filter.channelId !== undefined) lines = lines.where('line.channel_id', '=', filter.channelId);
  if (filter.groupId !== undefined) lines = lines.where('line.group_id', '=', filter.groupId);
  if (filter.series !== undefined) lines = lines.where('line.series_id', 'in', filter.series);
  if (filter.requestId !== undefined) lines = lines.where('line.request_id', '=', filter.requestId);
  if (filter.code !== undefined)
    lines = lines.where(sql<SqlBool>`line.type = ${sql.lit(logTypes.error)} and line.detail->>'code' = ${filter.code}`);
  return lines;
}

export type Lines = ReturnType<typeof matching>;
