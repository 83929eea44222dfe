import { sql } from 'kysely';
import type { ReadModels } from '../../database.js';
import { logTypes, type UsageLogRow } from './usage-log.js';
import { isModel, isPattern, type LineFilter, namesLike, type UsageLogFilter } from './usage-log-filter.js';

/*
 * Values that no lines, or few, have together (a mistyped name, a channel of long ago) are found in `usage-log-values.ts`
 * without a look at millions of lines. What is asked for by a name, a pattern or several values becomes what the lines
 * have an index of.
 */

/** So many are named in place of a name or a pattern. */
const maxNamed = 100;
/** Of so many series the newest lines are looked for in each. */
const maxSeries = 200;

/** With numbers for names; null: no line has had such a name. */
export async function numbered(
  db: ReadModels,
  { model, group, ...others }: UsageLogFilter,
): Promise<LineFilter | null> {
  const modelPattern = isPattern(model) ? model : undefined;
  const modelName = modelPattern === undefined ? model : undefined;
  const names = [modelName, group].filter((name) => name !== undefined);
  if (names.length === 0) return { ...others, modelPattern };
  const known = await db.selectFrom('usage_log_names').selectAll().where('name', 'in', names).execute();
  const modelId = known.find(({ name }) => name === modelName)?.id;
  const groupId = known.find(({ name }) => name === group)?.id;
  if ((modelName !== undefined && modelId === undefined) || (group !== undefined && groupId === undefined)) return null;
  return { ...others, modelPattern, modelIds: modelId === undefined ? undefined : [modelId], groupId };
}

/**
 * null: no line fits. `counted`: all of them are to be looked at, so that it pays that the index of a series has their
 * times; a page of one value and a time is found sooner by that value.
 */
export async function narrowed(
  db: ReadModels,
  filter: UsageLogFilter,
  { counted }: { readonly counted: boolean },
): Promise<LineFilter | null> {
  const asked = await numbered(db, filter);
  // Of a request there are two lines at most.
  if (asked === null || asked.requestId !== undefined) return asked;
  const modelIds = await modelsOf(db, asked);
  if (modelIds?.length === 0) return null;
  const byModels = modelIds === null ? asked : { ...asked, modelIds, modelPattern: undefined };
  if (isOfSeveral(asked, counted)) {
    const series = await seriesWith(db, byModels);
    if (series?.length === 0) return null;
    const { code, from, to } = asked;
    if (series !== null) return { series, code, from, to };
  }
  const withoutPattern = asked.modelPattern === undefined ? asked : byModels;
  const { apiKeyName, apiKeyId } = asked;
  if (apiKeyName === undefined || apiKeyId !== undefined) return withoutPattern;
  const apiKeyIds = await apiKeysOf(db, apiKeyName);
  if (apiKeyIds?.length === 0) return null;
  return apiKeyIds === null ? withoutPattern : { ...withoutPattern, apiKeyIds };
}

/** What has an index of lines for itself is found by that: each value, and what nearly all lines of a user are. */
function isOfSeveral(filter: LineFilter, counted: boolean): boolean {
  const { userId, userIds, apiKeyId, apiKeyName, channelId, modelIds, modelPattern, groupId, type, from, to } = filter;
  const user = userId ?? userIds;
  const isUsual = type === logTypes.consume && (user ?? channelId) !== undefined;
  const kind = isUsual ? undefined : type;
  const given = [user, apiKeyId, apiKeyName, channelId, modelIds ?? modelPattern, groupId, kind];
  const isOfTime = (from ?? to) !== undefined;
  return given.filter((value) => value !== undefined).length > (counted && isOfTime ? 0 : 1);
}

/** Those that fit; null: many. */
async function seriesWith(db: ReadModels, filter: LineFilter): Promise<number[] | null> {
  const { userId, userIds, apiKeyId, apiKeyName, channelId, modelIds, modelPattern, groupId, type } = filter;
  let series = db.selectFrom('usage_log_series').select('id');
  if (userId !== undefined) series = series.where('user_id', '=', userId);
  if (userIds !== undefined) series = series.where('user_id', 'in', userIds);
  if (apiKeyId !== undefined) series = series.where('api_key_id', '=', apiKeyId);
  if (apiKeyName !== undefined) series = series.where('api_key_name', '=', apiKeyName);
  if (channelId !== undefined) series = series.where('channel_id', '=', channelId);
  if (modelIds !== undefined) series = series.where('model_id', 'in', modelIds);
  if (modelPattern !== undefined) series = series.where(isModel('model', modelPattern));
  if (groupId !== undefined) series = series.where('group_id', '=', groupId);
  if (type !== undefined) series = series.where('type', '=', type);
  const found = await series.limit(maxSeries + 1).execute();
  return found.length > maxSeries ? null : found.map(({ id }) => id);
}

/** Those that have, or had, the name; null: many. */
async function apiKeysOf(db: ReadModels, name: string): Promise<UsageLogRow['api_key_id'][] | null> {
  const named = db.selectFrom('usage_log_series').select('api_key_id').distinct().where('api_key_name', '=', name);
  const found = await named.limit(maxNamed + 1).execute();
  return found.length > maxNamed ? null : found.map(({ api_key_id }) => api_key_id);
}

/** Those that fit what is asked of models; null: many, or nothing is that lines have no index of. */
async function modelsOf(
  db: ReadModels,
  { modelIds, modelPattern, channelId, groupId }: LineFilter,
): Promise<number[] | null> {
  const given = [modelIds ?? modelPattern, channelId, groupId].filter((value) => value !== undefined);
  if (modelPattern === undefined && given.length < 2) return null;
  let served = db.selectFrom('usage_log_models').select('model_id').distinct();
  if (modelIds !== undefined) served = served.where('model_id', 'in', modelIds);
  if (modelPattern !== undefined) served = served.where(sql<boolean>`model_id in (${namesLike(modelPattern)})`);
  if (channelId !== undefined) served = served.where('channel_id', '=', channelId);
  if (groupId !== undefined) served = served.where('group_id', '=', groupId);
  const found = await served.limit(maxNamed + 1).execute();
  return found.length > maxNamed ? null : found.map((row) => row.model_id);
}
