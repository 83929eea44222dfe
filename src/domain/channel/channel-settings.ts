import { urlIn } from '../kernel/address.js';
import { boundedJson, bytesIn, checkInteger, checkList, checkText, maxInt, type TextBound } from '../kernel/bounds.js';
import { Failure, invalidField } from '../kernel/failure.js';
import { groupText, maxModelNameBytes } from '../kernel/names.js';
import { checkPurchasePrices } from '../pricing/purchase-price.js';
import { isServed, type ProviderFacts, type ProviderTable } from './provider.js';

/* What an administrator says about a channel, and how much of it there may be. Key and proxy lie in the vault. */

export interface ChannelSettings {
  readonly name: string;
  /** Provider number, as the legacy contract has it (1 OpenAI, 3 Azure, …). */
  readonly type: number;
  /** Empty: the provider's default. */
  readonly baseUrl: string;
  readonly models: readonly string[];
  readonly groups: readonly string[];
  readonly priority: number;
  readonly weight: number;
  readonly tag: string | null;
  /** JSON text {requested: upstream}. */
  readonly modelMapping: string | null;
  /** JSON text {"400":"500"}. */
  readonly statusCodeMapping: string;
  /** JSON text; its top-level members replace those of the outgoing body. */
  readonly paramOverride: string | null;
  /** JSON text without the proxy, whose address may carry a password and lives in the vault. */
  readonly setting: string | null;
  readonly other: string;
  readonly organization: string | null;
  readonly testModel: string | null;
  readonly autoBan: boolean;
  readonly maxInputTokens: number;
}

/** What is not said of a new channel. */
export const blankChannel: ChannelSettings = {
  name: '',
  type: 0,
  baseUrl: '',
  models: [],
  groups: ['default'],
  priority: 0,
  weight: 0,
  tag: null,
  modelMapping: null,
  statusCodeMapping: '',
  paramOverride: null,
  setting: null,
  other: '',
  organization: null,
  testModel: null,
  autoBan: true,
  maxInputTokens: 0,
};

const addressText: TextBound = { max: 1024 };
const maxModels = 2000;
const maxGroups = 100;
/** Every model of a channel for every one of its groups is a line of the routing table. */
const maxCandidates = 20_000;

const modelText: TextBound = { max: maxModelNameBytes };

/** Throws `model-name-too-long` or `invalid-field`. */
export function checkModel(field: string, model: string): void {
  if (bytesIn(model) > maxModelNameBytes)
    throw new Failure('model-name-too-long', { field, model: model.slice(0, 64), max: maxModelNameBytes });
  checkText(field, model, modelText);
}

function jsonObject(field: string, text: string): Record<string, unknown> {
  const value = boundedJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalidField(field, 'a JSON object');
}

function checkBaseUrl(baseUrl: string): void {
  if (baseUrl === '') return;
  checkText('baseUrl', baseUrl, addressText);
  const url = urlIn(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) throw invalidField('baseUrl', 'an http:// or https:// address');
  if (url.username !== '' || url.password !== '')
    throw invalidField('baseUrl', 'an address without user name and password; put the credential into the key');
}

function checkModelMapping(mapping: string | null): void {
  if (!mapping) return;
  checkText('modelMapping', mapping, { max: 65_536, lines: true });
  for (const names of Object.entries(jsonObject('modelMapping', mapping)))
    for (const name of names) if (typeof name === 'string') checkModel('modelMapping', name);
}

/** Of a place of a cloud, e.g. us-central1. */
export const regionName = /^[a-z0-9-]{1,40}$/;

function checkRegion({ type, other }: ChannelSettings, providers: ProviderTable): void {
  if (!providers.get(type)?.other?.region) return;
  if (other.trim() === '') throw new Failure('region-missing', { field: 'other' });
  const regions = other.trim().startsWith('{') ? jsonObject('other', other) : { default: other.trim() };
  if (regions.default === undefined) throw new Failure('region-default-missing', { field: 'other' });
  // They become part of an address.
  for (const region of Object.values(regions))
    if (typeof region !== 'string' || !regionName.test(region))
      throw invalidField('other', 'a region, or a JSON object of regions by model: lower-case letters, digits and -');
}

/** Throws `channel-type-unknown` or `channel-type-not-served`. */
function checkType(type: number, providers: ProviderTable): void {
  const provider = providers.get(type);
  if (provider === undefined) throw new Failure('channel-type-unknown', { field: 'type', type });
  if (!isServed(provider)) throw new Failure('channel-type-not-served', { field: 'type', type, name: provider.name });
}

const checkJson = (field: string, text: string | null, max: number): void => {
  if (!text) return;
  checkText(field, text, { max, lines: true });
  jsonObject(field, text);
};

/** Whether an upstream has chat alone, or the Responses API where its type need not; for which models it is asked by the Responses API alone: `all`, or those of the list. */
function checkResponsesOnly({
  chat_only: chat,
  responses,
  responses_only: all,
  responses_only_models: models,
}: Record<string, unknown>): void {
  if (responses !== undefined && typeof responses !== 'boolean')
    throw invalidField('setting', 'a JSON object whose responses is true or false');
  if (chat !== undefined && typeof chat !== 'boolean')
    throw invalidField('setting', 'a JSON object whose chat_only is true or false');
  if (chat === true && (responses === true || all === true || (Array.isArray(models) && models.length > 0)))
    throw invalidField(
      'setting',
      'a JSON object with chat_only, or with responses, responses_only or responses_only_models',
    );
  if (all !== undefined && typeof all !== 'boolean')
    throw invalidField('setting', 'a JSON object whose responses_only is true or false');
  if (models === undefined) return;
  if (!Array.isArray(models) || models.length > maxModels || !models.every((model) => typeof model === 'string'))
    throw invalidField(
      'setting',
      `a JSON object whose responses_only_models is a list of model names, ${maxModels} at most`,
    );
  for (const model of models) checkModel('setting', model);
}

/** Whoever has no such interface would be asked at an address that it has not. */
function checkResponsesType({ type, setting }: ChannelSettings, providers: ProviderTable): void {
  if (!setting || providers.get(type)?.modes.includes('responses')) return;
  const { responses, responses_only: all, responses_only_models: models } = jsonObject('setting', setting);
  if (responses === true || all === true || (Array.isArray(models) && models.length > 0))
    throw invalidField(
      'setting',
      'responses, responses_only and responses_only_models only where the type has the Responses API',
    );
}

/** By member, each in the light of the others. */
const checks: {
  readonly [Member in keyof ChannelSettings]: (settings: ChannelSettings, providers: ProviderTable) => void;
} = {
  name: ({ name }) => checkText('name', name, { max: 128 }),
  type: ({ type }, providers) => checkType(type, providers),
  baseUrl: ({ baseUrl }) => checkBaseUrl(baseUrl),
  models: ({ models }) => {
    checkList('models', models, maxModels, { max: Number.POSITIVE_INFINITY });
    for (const model of models) checkModel('models', model);
  },
  groups: ({ groups }) => checkList('groups', groups, maxGroups, groupText),
  priority: ({ priority }) => checkInteger('priority', priority, -maxInt, maxInt),
  weight: ({ weight }) => checkInteger('weight', weight, 0, maxInt),
  tag: ({ tag }) => checkText('tag', tag ?? '', { max: 64 }),
  modelMapping: ({ modelMapping }) => checkModelMapping(modelMapping),
  statusCodeMapping: ({ statusCodeMapping }) => checkJson('statusCodeMapping', statusCodeMapping, 4096),
  paramOverride: ({ paramOverride }) => checkJson('paramOverride', paramOverride, 65_536),
  setting: ({ setting }) => {
    checkJson('setting', setting, 16_384);
    if (!setting) return;
    const members = jsonObject('setting', setting);
    // A proxy's address may carry a password: it goes into the vault, and settings go into events.
    if (Object.hasOwn(members, 'proxy'))
      throw invalidField('setting', 'a JSON object without proxy, which has a field of its own');
    checkResponsesOnly(members);
    checkPurchasePrices(members.purchase_prices);
  },
  other: ({ other }) => checkText('other', other, { max: 8192, lines: true }),
  organization: ({ organization }) => checkText('organization', organization ?? '', { max: 128 }),
  testModel: ({ testModel }) => checkModel('testModel', testModel ?? ''),
  autoBan: () => {},
  maxInputTokens: ({ maxInputTokens }) => checkInteger('maxInputTokens', maxInputTokens, 0, maxInt),
};

function checkCandidates({ models, groups }: ChannelSettings): void {
  if (models.length * groups.length > maxCandidates)
    throw invalidField('models', `at most ${maxCandidates} pairs of a model and a group`);
}

const members = Object.keys(checks) as readonly (keyof ChannelSettings)[];

const same = (before: ChannelSettings[keyof ChannelSettings], now: ChannelSettings[keyof ChannelSettings]): boolean =>
  Array.isArray(before) && Array.isArray(now)
    ? before.length === now.length && before.every((item, index) => item === now[index])
    : before === now;

/** The settings, once everything that differs from `before` is within its bounds. null: all of it is new. */
export function checkedChannelSettings(
  settings: ChannelSettings,
  before: ChannelSettings | null,
  providers: ProviderTable,
): ChannelSettings {
  const changed = members.filter((member) => before === null || !same(before[member], settings[member]));
  for (const member of changed) checks[member](settings, providers);
  if (changed.includes('models') || changed.includes('groups')) checkCandidates(settings);
  if (changed.includes('type') || changed.includes('other')) checkRegion(settings, providers);
  if (changed.includes('type') || changed.includes('setting')) checkResponsesType(settings, providers);
  return settings;
}

const keyText: TextBound = { max: 16_384, lines: true };
const maxKeys = 1000;

type KeyFacts = Pick<ProviderFacts, 'documentKey' | 'keyForm'>;

function checkKeyForm(key: string, { keyForm }: Pick<KeyFacts, 'keyForm'>): void {
  if (keyForm === null) return;
  const allowed = keyForm.pattern.test(key) ? (keyForm.instead?.(key) ?? null) : keyForm.allowed;
  if (allowed !== null) throw invalidField('key', allowed);
}

/** The keys in a text, one per line; refused when there is none, or more than one order should make channels of. */
export function channelKeysIn(text: string, facts: KeyFacts): readonly string[] {
  const { documentKey } = facts;
  const lines = documentKey ? [text] : text.split('\n');
  const keys = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (keys.length === 0) throw new Failure('channel-key-missing', { field: 'key' });
  checkList('key', keys, maxKeys, keyText);
  for (const key of keys) checkKeyForm(key, facts);
  return keys;
}

/** One key, whole. */
export function channelKeyIn(text: string, facts: Pick<KeyFacts, 'keyForm'>): string {
  const key = text.trim();
  if (key === '') throw new Failure('channel-key-missing', { field: 'key' });
  checkText('key', key, keyText);
  checkKeyForm(key, facts);
  return key;
}

export function checkProxy(proxy: string): void {
  if (proxy === '') return;
  checkText('proxy', proxy, addressText);
  if (!/^(https?|socks5h?):$/.test(urlIn(proxy)?.protocol ?? ''))
    throw invalidField('proxy', 'an http://, https:// or socks5:// address');
}

/** A proxy as it is shown: without user name and password. */
export function shownProxy(proxy: string): string {
  const url = urlIn(proxy);
  return url === null ? '' : `${url.protocol}//${url.host}`;
}
