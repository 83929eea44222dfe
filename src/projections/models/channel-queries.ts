import { type SelectQueryBuilder, sql } from 'kysely';
import type { ChannelSecrets } from '../../domain/channel/channel.js';
import type { ChannelSettings } from '../../domain/channel/channel-settings.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Database, ReadModels } from '../database.js';
import { asId, containing, counted, offsetOf, type Page, type PageRequest, type SearchStyle } from '../engine/page.js';
import type { ChannelRow } from './channels.js';

/** The settings a row shows, e.g. to change some of them. */
export const channelSettings = (row: ChannelRow): ChannelSettings => ({
  name: row.name,
  type: row.type,
  baseUrl: row.base_url,
  models: row.models,
  groups: row.groups,
  priority: row.priority,
  weight: row.weight,
  tag: row.tag,
  modelMapping: row.model_mapping,
  statusCodeMapping: row.status_code_mapping,
  paramOverride: row.param_override,
  setting: row.setting,
  other: row.other,
  organization: row.organization,
  testModel: row.test_model,
  autoBan: row.auto_ban,
  maxInputTokens: row.max_input_tokens,
});

export const channelSecrets = (row: ChannelRow): ChannelSecrets => ({
  key: row.key_secret,
  keyHash: row.key_hash,
  proxy: row.proxy_secret,
});

export type ChannelSort = 'priority' | 'id';

type Channels = SelectQueryBuilder<Database, 'channels', ChannelRow>;

/** Newest first, or the highest priority first and of equals the newest. */
const sorted = (channels: Channels, sort: ChannelSort): Channels =>
  (sort === 'priority' ? channels.orderBy('priority', 'desc') : channels).orderBy('id', 'desc');

const all = (db: ReadModels): Channels => db.selectFrom('channels').selectAll();

export const channelById = (db: ReadModels, id: ChannelId): Promise<ChannelRow | undefined> =>
  all(db).where('id', '=', id).executeTakeFirst();

export const channelsById = (db: ReadModels, ids: readonly ChannelId[]): Promise<ChannelRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : all(db).where('id', 'in', ids).execute();

export const allChannels = (db: ReadModels, sort: ChannelSort = 'id'): Promise<ChannelRow[]> =>
  sorted(all(db), sort).execute();

export interface ChannelFilter extends SearchStyle {
  /** An id, part of the name, or (as `keyHash`) the whole upstream key. */
  readonly keyword?: string;
  readonly keyHash?: string;
  /** Part of the comma list of models. */
  readonly model?: string;
  /** One of the groups, whole. */
  readonly group?: string;
  readonly status?: ChannelRow['status'];
  readonly type?: number;
  readonly tag?: string;
  /** Whether its last test failed. */
  readonly testFailed?: boolean;
}

function filtered(db: ReadModels, filter: ChannelFilter) {
  const { keyword = '', keyHash, model = '', group = '', status, type, tag, testFailed } = filter;
  let matching = db.selectFrom('channels');
  if (keyword !== '' || keyHash !== undefined) {
    const id = asId(keyword);
    matching = matching.where((where) =>
      where.or([
        ...(keyword === '' ? [] : [where('name', 'like', containing('keyword', keyword, filter))]),
        ...(id === null ? [] : [where('id', '=', id as ChannelId)]),
        ...(keyHash === undefined ? [] : [where('key_hash', '=', keyHash)]),
      ]),
    );
  }
  if (model !== '')
    matching = matching.where(sql`array_to_string(models, ',')`, 'like', containing('model', model, filter));
  if (group !== '') matching = matching.where(sql<boolean>`${group} = any(groups)`);
  if (status !== undefined) matching = matching.where('status', '=', status);
  if (type !== undefined) matching = matching.where('type', '=', type);
  if (tag !== undefined) matching = matching.where('tag', '=', tag);
  if (testFailed !== undefined)
    matching = matching.where('id', testFailed ? 'in' : 'not in', (where) =>
      where.selectFrom('channel_as_it_was').select('channel_id').where('test_error', 'is not', null),
    );
  return matching;
}

export const searchChannels = (
  db: ReadModels,
  filter: ChannelFilter,
  sort: ChannelSort = 'priority',
): Promise<ChannelRow[]> => sorted(filtered(db, filter).selectAll(), sort).execute();

export async function channelPage(
  db: ReadModels,
  request: PageRequest & { readonly sort?: ChannelSort },
  filter: ChannelFilter = {},
): Promise<Page<ChannelRow>> {
  const matching = filtered(db, filter);
  const items = await sorted(matching.selectAll(), request.sort ?? 'priority')
    .limit(request.size)
    .offset(offsetOf(request))
    .execute();
  return { items, count: () => counted(matching.select(sql<number>`count(*)`.as('total'))) };
}

/** Pages of tags: all channels of the page's tags, tag by tag; what is counted is tags. Untagged channels do not appear. */
export async function channelPageByTag(
  db: ReadModels,
  request: PageRequest & { readonly sort?: ChannelSort },
  filter: ChannelFilter = {},
): Promise<Page<ChannelRow>> {
  const tagged = filtered(db, filter).where('tag', 'is not', null).where('tag', '<>', '');
  const page = tagged.select('tag').distinct().orderBy('tag').limit(request.size).offset(offsetOf(request));
  const items = await sorted(all(db).where('tag', 'in', page).orderBy('tag'), request.sort ?? 'priority').execute();
  return { items, count: () => counted(tagged.select(sql<number>`count(distinct tag)`.as('total'))) };
}
