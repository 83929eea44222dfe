import type {
  ChannelChoicesQuery,
  ChannelPatchInput,
  EditedChannelFragment,
  NewChannelInput,
  UpstreamDraftInput,
} from '../generated/channels/channels.js';

/* A channel as it is typed: every field a text, judged before it is sent, and sent as what has changed. */

export type ChannelChoice = ChannelChoicesQuery['channelTypes'][number];

export interface ChannelDraft {
  readonly type: number;
  readonly name: string;
  /** New channels: one per line. Edits: empty leaves the stored key. */
  readonly key: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
  readonly groups: readonly string[];
  readonly other: string;
  readonly organization: string;
  readonly priority: string;
  readonly weight: string;
  readonly tag: string;
  readonly testModel: string;
  readonly autoBan: boolean;
  readonly maxInputTokens: string;
  readonly modelMapping: string;
  readonly statusCodeMapping: string;
  readonly paramOverride: string;
  readonly setting: string;
  readonly proxy: string;
}

export type ChannelField = keyof ChannelDraft;
/** Keys of the dictionary, below `problem.`. */
export type ChannelProblem =
  | 'nameOrKeyMissing'
  | 'keyNeeded'
  | 'modelsMissing'
  | 'groupsMissing'
  | 'baseUrlMissing'
  | 'baseUrlInvalid'
  | 'jsonInvalid'
  | 'priorityInvalid'
  | 'weightInvalid'
  | 'maxInputTokensInvalid'
  | 'otherMissing'
  | 'typeNotServed'
  | 'proxyInvalid';
type ChannelProblems = Partial<Record<ChannelField, ChannelProblem>>;

const lowestPriority = -999;

export const choiceOf = (choices: readonly ChannelChoice[], wanted: number): ChannelChoice | undefined =>
  choices.find(({ type }) => type === wanted);

/** Types that are retired, or that the gateway cannot speak with, stay with the channels that have them. */
export const isOffered = ({ served, deprecated }: ChannelChoice): boolean => served && !deprecated;

/** What may be chosen, by name; after it what is not offered to others, and the channel has. */
export function typesFor(choices: readonly ChannelChoice[], chosen: number): readonly ChannelChoice[] {
  const offered = choices.filter(isOffered).toSorted((one, other) => one.name.localeCompare(other.name));
  return [...offered, ...choices.filter((one) => one.type === chosen && !isOffered(one))];
}

export const emptyDraft = (type: ChannelChoice | undefined): ChannelDraft => ({
  type: type?.type ?? 0,
  name: '',
  key: '',
  baseUrl: '',
  models: type?.defaultModels ?? [],
  groups: ['default'],
  other: '',
  organization: '',
  priority: '0',
  weight: '0',
  tag: '',
  testModel: '',
  autoBan: true,
  maxInputTokens: '0',
  modelMapping: '',
  statusCodeMapping: '',
  paramOverride: '',
  setting: '',
  proxy: '',
});

export const draftOf = (channel: EditedChannelFragment): ChannelDraft => ({
  type: channel.type,
  name: channel.name,
  key: '',
  baseUrl: channel.baseUrl,
  models: channel.models,
  groups: channel.groups,
  other: channel.other,
  organization: channel.organization ?? '',
  priority: String(channel.priority),
  weight: String(channel.weight),
  tag: channel.tag ?? '',
  testModel: channel.testModel ?? '',
  autoBan: channel.autoBan,
  maxInputTokens: String(channel.maxInputTokens),
  modelMapping: channel.modelMapping ?? '',
  statusCodeMapping: channel.statusCodeMapping,
  paramOverride: channel.paramOverride ?? '',
  setting: channel.setting ?? '',
  proxy: channel.proxy,
});

const sameTexts = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((text, at) => text === others[at]);

/** Another type: models nobody chose follow it; what was chosen stays. */
export function withType(draft: ChannelDraft, next: ChannelChoice, former: ChannelChoice | undefined): ChannelDraft {
  const untouched = draft.models.length === 0 || sameTexts(draft.models, former?.defaultModels ?? []);
  return { ...draft, type: next.type, models: untouched ? next.defaultModels : draft.models };
}

/** Names typed or pasted, separated by commas or lines; `repeated`: some were there before. */
export function addModels(
  models: readonly string[],
  typed: readonly string[],
): { readonly models: readonly string[]; readonly repeated: boolean } {
  const names = typed
    .flatMap((text) => text.split(/[,，\n]/))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const all = [...new Set([...models, ...names])];
  return { models: all, repeated: all.length < models.length + names.length };
}

const isInteger = (text: string): boolean => /^-?\d+$/.test(text.trim()) && Number.isSafeInteger(Number(text));

export const isPriority = (text: string): boolean => isInteger(text) && Number(text) >= lowestPriority;
export const isWeight = (text: string): boolean => isInteger(text) && Number(text) >= 0;

export function isJsonObject(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** What stands for the scheme and host that calls of a channel go to already. */
export const beginsWithHost = (baseUrl: string): boolean => /^\{host\}(?:\/|$)/.test(baseUrl);

const isAddress = (text: string, protocols: RegExp): boolean =>
  URL.canParse(text) && protocols.test(new URL(text).protocol);

const trimmedAddress = (text: string): string => text.trim().replace(/\/+$/, '');

export const endsInVersion = (baseUrl: string): boolean => trimmedAddress(baseUrl).endsWith('/v1');

const jsonFields = ['modelMapping', 'statusCodeMapping', 'paramOverride', 'setting'] as const;

/** What stands in the way of sending the draft. `before`: the channel it edits, if it does. */
export function problemsOf(
  draft: ChannelDraft,
  choice: ChannelChoice | undefined,
  before: EditedChannelFragment | null,
): ChannelProblems {
  const problems: { -readonly [Field in keyof ChannelProblems]: ChannelProblems[Field] } = {};
  if (choice?.served === false && draft.type !== before?.type) problems.type = 'typeNotServed';
  if (draft.name.trim() === '') problems.name = 'nameOrKeyMissing';
  if (before === null && draft.key.trim() === '') problems.key = 'nameOrKeyMissing';
  if (draft.models.length === 0) problems.models = 'modelsMissing';
  if (draft.groups.length === 0) problems.groups = 'groupsMissing';
  const baseUrl = trimmedAddress(draft.baseUrl);
  if (baseUrl === '' && choice?.defaultBaseUrl === '') problems.baseUrl = 'baseUrlMissing';
  const keepsHost = before !== null && beginsWithHost(baseUrl);
  if (baseUrl !== '' && !keepsHost && !isAddress(baseUrl, /^https?:$/)) problems.baseUrl = 'baseUrlInvalid';
  if (choice?.otherIsRegion && draft.other.trim() === '') problems.other = 'otherMissing';
  for (const field of jsonFields) if (!isJsonObject(draft[field])) problems[field] = 'jsonInvalid';
  if (!isPriority(draft.priority)) problems.priority = 'priorityInvalid';
  if (!isWeight(draft.weight)) problems.weight = 'weightInvalid';
  if (!isWeight(draft.maxInputTokens)) problems.maxInputTokens = 'maxInputTokensInvalid';
  const proxy = draft.proxy.trim();
  if (proxy !== '' && !isAddress(proxy, /^(https?|socks5h?):$/)) problems.proxy = 'proxyInvalid';
  return problems;
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** A draft without problems, as the server takes it, but for key and proxy, which it never gives back. */
const settled = (draft: ChannelDraft, choice: ChannelChoice | undefined) => ({
  type: draft.type,
  name: draft.name.trim(),
  baseUrl: trimmedAddress(draft.baseUrl),
  models: [...draft.models],
  groups: [...draft.groups],
  other: draft.other.trim() || (choice?.otherUsual ?? ''),
  organization: choice?.billsOrganization ? orNull(draft.organization) : null,
  priority: Number(draft.priority),
  weight: Number(draft.weight),
  tag: orNull(draft.tag),
  testModel: orNull(draft.testModel),
  autoBan: draft.autoBan,
  maxInputTokens: Number(draft.maxInputTokens),
  modelMapping: orNull(draft.modelMapping),
  statusCodeMapping: draft.statusCodeMapping.trim(),
  paramOverride: orNull(draft.paramOverride),
  setting: orNull(draft.setting),
});

export const newChannel = (draft: ChannelDraft, choice: ChannelChoice | undefined): NewChannelInput => ({
  ...settled(draft, choice),
  key: draft.key.trim(),
  proxy: draft.proxy.trim(),
});

/** Where its upstream is, as it is typed. */
export function upstreamOf(draft: ChannelDraft, choice: ChannelChoice | undefined): UpstreamDraftInput {
  const { type, baseUrl, other, organization } = settled(draft, choice);
  return { type, baseUrl, other, organization, key: draft.key.trim(), proxy: draft.proxy.trim() };
}

/**
 * Only what was changed: what somebody else changed meanwhile stays, and a proxy, shown without its password, is not
 * overwritten by what is shown.
 */
export function changesTo(
  before: EditedChannelFragment,
  draft: ChannelDraft,
  choices: readonly ChannelChoice[],
): ChannelPatchInput {
  const former: Readonly<Record<string, unknown>> = settled(draftOf(before), choiceOf(choices, before.type));
  const changed = Object.entries(settled(draft, choiceOf(choices, draft.type))).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(former[field]),
  );
  const patch: ChannelPatchInput = Object.fromEntries(changed);
  if (draft.key.trim() !== '') patch.key = draft.key.trim();
  if (draft.proxy.trim() !== before.proxy) patch.proxy = draft.proxy.trim();
  return patch;
}
