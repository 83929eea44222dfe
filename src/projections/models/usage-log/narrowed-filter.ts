import type { ReadModels } from '../../database.js';
import type { UsageLogRow } from './usage-log.js';
import { isModel, isPattern, type NarrowedFilter, type UsageLogFilter } from './usage-log-filter.js';

/*
 * A log of millions is asked for what none of its lines has, or few: an API key's name that was mistyped, a model that
 * the channel never served. Which values lines have together tells that without a look at the lines
 * (`usage-log-values.ts`); and what is asked for by a name or a pattern is asked for by what the lines have an index of.
 */

/** So many are named in place of a name or a pattern. */
const mostNamed = 100;

/** null: no line fits. */
export async function narrowed(db: ReadModels, filter: UsageLogFilter): Promise<NarrowedFilter | null> {
  const apiKeyIds = await apiKeysOf(db, filter);
  if (apiKeyIds?.length === 0) return null;
  const models = await modelsOf(db, filter);
  if (models?.length === 0) return null;
  const isByName = filter.apiKeyName !== undefined && filter.apiKeyId === undefined;
  return {
    ...filter,
    ...(isByName && apiKeyIds !== null && { apiKeyIds }),
    ...(isPattern(filter.model) && models !== null && { models, model: undefined }),
  };
}

/** Of those who fit; null: many, or any. */
async function apiKeysOf(
  db: ReadModels,
  { apiKeyName, apiKeyId, group, userId, userIds }: UsageLogFilter,
): Promise<UsageLogRow['api_key_id'][] | null> {
  const isSomebodysGroup = group !== undefined && (apiKeyId ?? userId ?? userIds) !== undefined;
  if (apiKeyName === undefined && !isSomebodysGroup) return null;
  let callers = db.selectFrom('usage_log_callers').select('api_key_id');
  if (apiKeyName !== undefined) callers = callers.where('api_key_name', '=', apiKeyName);
  if (apiKeyId !== undefined) callers = callers.where('api_key_id', '=', apiKeyId);
  if (group !== undefined) callers = callers.where('group', '=', group);
  if (userId !== undefined) callers = callers.where('user_id', '=', userId);
  if (userIds !== undefined) callers = callers.where('user_id', 'in', userIds);
  const found = await callers.limit(mostNamed + 1).execute();
  return found.length > mostNamed ? null : [...new Set(found.map(({ api_key_id }) => api_key_id))];
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
