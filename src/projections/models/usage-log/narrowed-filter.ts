import type { ReadModels } from '../../database.js';
import type { UsageLogRow } from './usage-log.js';
import { isModel, isPattern, type NarrowedFilter, type UsageLogFilter } from './usage-log-filter.js';

/*
 * A log of millions is asked for what none of its lines has, or few: an API key's name that was mistyped, a model that
 * the channel never served, a channel that a user was served by long ago. Which values lines have together tells that
 * without a look at the lines (`usage-log-values.ts`); and what is asked for by a name, a pattern or several values is
 * asked for by what the lines have an index of.
 */

/** So many are named in place of a name or a pattern. */
const mostNamed = 100;
/** Of so many series the newest lines are looked for in each. */
const mostSeries = 200;

/**
 * null: no line fits. `counted`: all of them are to be looked at, so that it pays that the index of a series has their
 * times; a page of one value and a time is found sooner by that value.
 */
export async function narrowed(
  db: ReadModels,
  filter: UsageLogFilter,
  { counted }: { readonly counted: boolean },
): Promise<NarrowedFilter | null> {
  // Of a request there are two lines at most.
  if (filter.requestId !== undefined) return filter;
  const models = await modelsOf(db, filter);
  if (models?.length === 0) return null;
  if (isOfSeveral(filter, counted)) {
    const series = await seriesWith(db, filter, models);
    if (series?.length === 0) return null;
    const { code, from, to } = filter;
    if (series !== null) return { series, code, from, to };
  }
  const byModels = isPattern(filter.model) && models !== null ? { ...filter, models, model: undefined } : filter;
  const { apiKeyName, apiKeyId } = filter;
  if (apiKeyName === undefined || apiKeyId !== undefined) return byModels;
  const apiKeyIds = await apiKeysOf(db, apiKeyName);
  if (apiKeyIds?.length === 0) return null;
  return apiKeyIds === null ? byModels : { ...byModels, apiKeyIds };
}

/** What has an index of lines for itself is found by that: each value, and the kinds of a user and of a channel. */
function isOfSeveral(filter: UsageLogFilter, counted: boolean): boolean {
  const { userId, userIds, apiKeyId, apiKeyName, channelId, model, group, type, from, to } = filter;
  const user = userId ?? userIds;
  const kind = (user ?? channelId) === undefined ? type : undefined;
  const given = [user, apiKeyId, apiKeyName, channelId, model, group, kind].filter((value) => value !== undefined);
  const isOfTime = (from ?? to) !== undefined;
  return given.length > (counted && isOfTime ? 0 : 1);
}

/** Those that fit; null: many. `models`: which these can be of, where that is known. */
async function seriesWith(
  db: ReadModels,
  { userId, userIds, apiKeyId, apiKeyName, channelId, model, group, type }: UsageLogFilter,
  models: readonly string[] | null,
): Promise<number[] | null> {
  let series = db.selectFrom('usage_log_series').select('id');
  if (userId !== undefined) series = series.where('user_id', '=', userId);
  if (userIds !== undefined) series = series.where('user_id', 'in', userIds);
  if (apiKeyId !== undefined) series = series.where('api_key_id', '=', apiKeyId);
  if (apiKeyName !== undefined) series = series.where('api_key_name', '=', apiKeyName);
  if (channelId !== undefined) series = series.where('channel_id', '=', channelId);
  if (models !== null) series = series.where('model', 'in', models);
  else if (model !== undefined) series = series.where(isModel('model', model));
  if (group !== undefined) series = series.where('group', '=', group);
  if (type !== undefined) series = series.where('type', '=', type);
  const found = await series.limit(mostSeries + 1).execute();
  return found.length > mostSeries ? null : found.map(({ id }) => id);
}

/** Those that have, or had, the name; null: many. */
async function apiKeysOf(db: ReadModels, name: string): Promise<UsageLogRow['api_key_id'][] | null> {
  const named = db.selectFrom('usage_log_series').select('api_key_id').distinct().where('api_key_name', '=', name);
  const found = await named.limit(mostNamed + 1).execute();
  return found.length > mostNamed ? null : found.map(({ api_key_id }) => api_key_id);
}

async function modelsOf(db: ReadModels, { model, channelId, group }: UsageLogFilter): Promise<string[] | null> {
  const isOneOfSeveral = [model, channelId, group].filter((value) => value !== undefined).length > 1;
  if (!isPattern(model) && !isOneOfSeveral) return null;
  let served = db.selectFrom('usage_log_models').select('model').distinct();
  if (model !== undefined) served = served.where(isModel('model', model));
  if (channelId !== undefined) served = served.where('channel_id', '=', channelId);
  if (group !== undefined) served = served.where('group', '=', group);
  const found = await served.limit(mostNamed + 1).execute();
  return found.length > mostNamed ? null : found.map((row) => row.model);
}
