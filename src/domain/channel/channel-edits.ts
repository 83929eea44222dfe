import { isDeepStrictEqual } from 'node:util';
import { urlIn } from '../kernel/address.js';
import { boundedJson } from '../kernel/bounds.js';
import type { ChannelSecrets } from './channel.js';
import type { ChannelSettings } from './channel-settings.js';

/* What an edit of a channel changed, as it may be shown and kept: without secrets, and not without bounds. */

export type ChannelField = keyof ChannelSettings | 'key' | 'proxy';

export interface ChannelFieldChange {
  readonly field: ChannelField;
  /** Of a list, what went, a line each. null: a secret, of which only this is shown: it changed. */
  readonly from: string | null;
  /** Of a list, what came. */
  readonly to: string | null;
  /** There was more of `from` or `to`. */
  readonly isCut: boolean;
}

/** What of a channel can be edited. */
export interface EditedParts {
  readonly settings: ChannelSettings;
  readonly secrets: ChannelSecrets;
}

/** Characters of each text that are shown. */
const maxShown = 1_000;

/** Texts whose members go upstream as they are: what is a secret there, its name has to say. */
const withNamedSecrets: ReadonlySet<ChannelField> = new Set(['paramOverride', 'setting', 'other']);
const soundsSecret = /auth|key|secret|token|passw|cookie|credential|signature/i;
const holdsHeaders = /header/i;
const hidden = '***';

/** Without texts under names that sound like secrets, and without those of headers. Numbers stay: `max_tokens` is one. */
function withoutSecrets(value: unknown, isSecret = false): unknown {
  if (typeof value === 'string') return isSecret && value !== '' ? hidden : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, isSecret));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      withoutSecrets(member, isSecret || soundsSecret.test(name) || holdsHeaders.test(name)),
    ]),
  );
}

/** null: nobody can say what of it is a secret. */
function withoutNamedSecrets(field: ChannelField, text: string): string | null {
  const value = boundedJson(text);
  if (typeof value === 'object' && value !== null) return JSON.stringify(withoutSecrets(value));
  // The further parameter is a plain text for most types: a version, a region.
  return text === '' || field === 'other' ? text : null;
}

/** Without what stands behind the path: keys are put there. */
function shownAddress(address: string): string {
  const url = urlIn(address);
  return url === null ? address.replace(/[?#].*$/s, '') : `${url.origin}${url.pathname}`;
}

function shownText(field: ChannelField, value: string | number | boolean | null): string | null {
  const text = String(value ?? '');
  if (field === 'baseUrl') return shownAddress(text);
  return withNamedSecrets.has(field) ? withoutNamedSecrets(field, text) : text;
}

const isList = (value: unknown): value is readonly string[] => Array.isArray(value);

/** A setting as it may be shown. */
export interface ShownField {
  readonly field: keyof ChannelSettings;
  /** Of a list a line each. null: nobody can say what of it is a secret. */
  readonly value: string | null;
}

/** All of them, whole, without secrets. */
export const shownSettings = (settings: ChannelSettings): readonly ShownField[] =>
  (Object.keys(settings) as (keyof ChannelSettings)[]).map((field) => {
    const value = settings[field];
    return { field, value: isList(value) ? value.join('\n') : shownText(field, value) };
  });

const without = (items: readonly string[], others: readonly string[]): string => {
  const gone = new Set(others);
  return items.filter((item) => !gone.has(item)).join('\n');
};

function cut(field: ChannelField, from: string | null, to: string | null): ChannelFieldChange {
  // What differs is in what is not shown.
  if (from === null || to === null || from === to) return { field, from: null, to: null, isCut: false };
  return {
    field,
    from: from.slice(0, maxShown),
    to: to.slice(0, maxShown),
    isCut: from.length > maxShown || to.length > maxShown,
  };
}

function settingChange(
  field: keyof ChannelSettings,
  before: ChannelSettings,
  now: ChannelSettings,
): ChannelFieldChange | null {
  const [from, to] = [before[field], now[field]];
  if (isDeepStrictEqual(from, to)) return null;
  if (!isList(from) || !isList(to))
    return cut(field, isList(from) ? null : shownText(field, from), isList(to) ? null : shownText(field, to));
  const [went, came] = [without(from, to), without(to, from)];
  // Put into another order: all of it, since nothing came or went.
  return went === came ? cut(field, from.join('\n'), to.join('\n')) : cut(field, went, came);
}

const secretChange = (field: ChannelField): ChannelFieldChange => ({ field, from: null, to: null, isCut: false });

/** In the order of the settings, then key and proxy. Empty: the same secrets were given again. */
export function channelFieldChanges(before: EditedParts, now: EditedParts): readonly ChannelFieldChange[] {
  // Members that the settings have got since an event was recorded are missing in it.
  const fields = Object.keys({ ...before.settings, ...now.settings }) as (keyof ChannelSettings)[];
  const changes = fields.map((field) => settingChange(field, before.settings, now.settings));
  return [
    ...changes.filter((change) => change !== null),
    ...(before.secrets.keyHash === now.secrets.keyHash ? [] : [secretChange('key')]),
    ...(before.secrets.proxy === now.secrets.proxy ? [] : [secretChange('proxy')]),
  ];
}
