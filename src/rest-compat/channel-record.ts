import type { ChannelPatch } from '../application/channels/edit-channels.js';
import { blankChannel, type ChannelSettings } from '../domain/channel/channel-settings.js';
import { invalidField } from '../domain/kernel/failure.js';
import type { ChannelRow } from '../projections/models/channels.js';
import { type Body, present } from './wire/body.js';
import { channelStatusNumbers, legacyNamesIn } from './wire/legacy-numbers.js';

/* A channel as the contract writes it, and back. */

/** What the contract calls the members of a channel that have other names here. */
export const channelFields = {
  baseUrl: 'base_url',
  groups: 'group',
  modelMapping: 'model_mapping',
  statusCodeMapping: 'status_code_mapping',
  paramOverride: 'param_override',
  organization: 'openai_organization',
  testModel: 'test_model',
  autoBan: 'auto_ban',
  maxInputTokens: 'max_input_tokens',
  proxy: 'setting.proxy',
} as const satisfies Partial<Record<keyof ChannelSettings | 'proxy', string>>;

/** Why and when the channel was last switched automatically, as JSON text; '' when it never was. */
const otherInfo = ({ status_reason, status_time }: ChannelRow): string =>
  status_time === null ? '' : JSON.stringify({ status_reason, status_time });

/** The contract keeps the proxy among the settings; here it lies apart, in the vault. */
function settingWithProxy(setting: string | null, proxy: string): string | null {
  if (proxy === '') return setting;
  return JSON.stringify({ ...(JSON.parse(setting || '{}') as object), proxy });
}

/** Text that is no JSON object stays as it is, to be refused by whoever checks settings. */
function settingWithoutProxy(text: string): { setting: string; proxy: string } {
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch {
    return { setting: text, proxy: '' };
  }
  if (typeof members !== 'object' || members === null || !('proxy' in members)) return { setting: text, proxy: '' };
  const { proxy, ...rest } = members;
  if (proxy !== null && typeof proxy !== 'string') throw invalidField('setting.proxy', 'text: the address of a proxy');
  return { setting: Object.keys(rest).length === 0 ? '' : JSON.stringify(rest), proxy: proxy ?? '' };
}

/** The upstream key is never shown; its member stays because clients expect it. */
export const legacyChannel = (row: ChannelRow, proxy: string) => ({
  id: row.id,
  type: row.type,
  key: '',
  openai_organization: row.organization,
  test_model: row.test_model,
  status: channelStatusNumbers[row.status],
  name: row.name,
  weight: row.weight,
  created_time: row.created_at,
  test_time: row.tested_at ?? 0,
  response_time: row.response_time_ms,
  base_url: row.base_url,
  other: row.other,
  balance: Number(row.balance ?? 0),
  balance_updated_time: row.balance_updated_at ?? 0,
  models: row.models.join(','),
  group: row.groups.join(','),
  used_quota: row.used_quota,
  model_mapping: row.model_mapping,
  status_code_mapping: row.status_code_mapping,
  priority: row.priority,
  auto_ban: row.auto_ban ? 1 : 0,
  other_info: otherInfo(row),
  tag: row.tag,
  setting: settingWithProxy(row.setting, proxy),
  param_override: row.param_override,
  max_input_tokens: row.max_input_tokens,
});

/** Members that an empty text or 0 leaves alone. */
const solid = (body: Body) => ({
  name: body.text('name') || undefined,
  type: body.integer('type') || undefined,
  other: body.text('other') || undefined,
  models: listIn(body, 'models'),
  groups: listIn(body, 'group'),
});

/** Members that an empty text or 0 clears. */
const clearable = (body: Body) => ({
  baseUrl: body.text('base_url')?.trim(),
  priority: body.integer('priority'),
  weight: body.integer('weight'),
  tag: emptied(body.text('tag')),
  modelMapping: body.text('model_mapping'),
  statusCodeMapping: body.text('status_code_mapping'),
  paramOverride: body.text('param_override'),
  organization: body.text('openai_organization'),
  testModel: body.text('test_model'),
  autoBan: autoBanIn(body),
  maxInputTokens: body.integer('max_input_tokens'),
});

function listIn(body: Body, name: string): string[] | undefined {
  const names = legacyNamesIn(body.text(name) ?? '');
  return names.length === 0 ? undefined : names;
}

/** An empty tag is no tag. */
const emptied = (text: string | undefined): string | null | undefined => (text === '' ? null : text);

function autoBanIn(body: Body): boolean | undefined {
  const value = body.integer('auto_ban');
  return value === undefined ? undefined : value === 1;
}

const settingIn = (body: Body): { setting?: string; proxy?: string } => {
  const text = body.text('setting');
  return text === undefined ? {} : settingWithoutProxy(text);
};

/** A new channel: what is not given takes its default. */
export function newChannelIn(body: Body): { settings: ChannelSettings; key: string; proxy: string; enabled: boolean } {
  const { setting, proxy = '' } = settingIn(body);
  const settings = { ...blankChannel, ...present({ ...solid(body), ...clearable(body), setting }) };
  const status = body.integer('status') || channelStatusNumbers.enabled;
  return { settings, key: body.text('key') ?? '', proxy, enabled: status === channelStatusNumbers.enabled };
}

/**
 * What a body changes. The status of a channel that was switched off automatically comes back with the whole record
 * and is no order; 1 and 2 are.
 */
export function channelPatchIn(body: Body): ChannelPatch {
  const { setting, proxy } = settingIn(body);
  const status = body.integer('status');
  const ordered = status === channelStatusNumbers.enabled || status === channelStatusNumbers.disabled;
  return {
    settings: { ...solid(body), ...clearable(body), setting },
    key: body.text('key') || undefined,
    proxy,
    enabled: ordered ? status === channelStatusNumbers.enabled : undefined,
  };
}

/** PUT /channel/tag: for every channel of a tag. Empty lists and mappings leave alone, an empty `new_tag` dissolves. */
export const tagPatchIn = (body: Body): ChannelPatch => ({
  settings: {
    tag: emptied(body.text('new_tag')),
    modelMapping: body.text('model_mapping') || undefined,
    models: listIn(body, 'models'),
    groups: listIn(body, 'groups'),
    priority: body.integer('priority'),
    weight: body.integer('weight'),
  },
});
