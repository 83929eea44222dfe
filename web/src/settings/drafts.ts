import type { SettingOptionFragment } from '../generated/settings/settings.js';
import { jsonFault } from '../kit/form/jsonFault.js';
import type { SettingField } from './sections.js';

/* What has been typed and not been saved yet, and what is wrong with it. */

interface Draft {
  readonly text: string;
  /** The version of the option that was seen when somebody began to type. */
  readonly seenAt: number;
}

export type Drafts = ReadonlyMap<string, Draft>;

const jsonKinds: ReadonlySet<unknown> = new Set(['RATIOS', 'COUNTS', 'TEXTS', 'JSON_OBJECT', 'JSON_ARRAY']);
export const isJson = ({ kind }: Pick<SettingOptionFragment, 'kind'>): boolean => jsonKinds.has(kind);

/** Tables are stored on one line by some clients; they are read and edited on many. */
function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export const shownText = (option: SettingOptionFragment, text: string): string =>
  isJson(option) ? laidOut(text) : text;

/** As the field begins; of a secret nothing is known. */
export const storedText = (option: SettingOptionFragment): string => shownText(option, option.value ?? '');

export const isInitial = (option: SettingOptionFragment, text: string): boolean =>
  option.kind === 'SECRET' ? text === '' && !option.isSet : text === shownText(option, option.initial);

/** With what is typed, or without it where that is what is stored anyway. A secret is taken away by `removed`. */
export function withDraft(drafts: Drafts, option: SettingOptionFragment, text: string, removed = false): Drafts {
  const next = new Map(drafts);
  const isStored = option.kind === 'SECRET' ? text === '' && !removed : text === storedText(option);
  if (isStored) next.delete(option.key);
  else next.set(option.key, { text, seenAt: drafts.get(option.key)?.seenAt ?? option.position });
  return next;
}

export const withoutDrafts = (drafts: Drafts, keys: readonly string[]): Drafts =>
  new Map([...drafts].filter(([key]) => !keys.includes(key)));

export type Problem =
  | { readonly what: 'json'; readonly line: number; readonly column: number }
  | { readonly what: 'integer' | 'number'; readonly minimum: string; readonly maximum: string }
  | { readonly what: 'address' }
  | { readonly what: 'domain' | 'domainTwice'; readonly domain: string };

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const domainPattern = /^([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z]{2,}$/i;

function domainProblem(text: string): Problem | null {
  const seen = new Set<string>();
  for (const domain of text.split(/[,\n]/).map((entry) => entry.trim().toLowerCase())) {
    if (domain === '') continue;
    if (!domainPattern.test(domain)) return { what: 'domain', domain };
    if (seen.has(domain)) return { what: 'domainTwice', domain };
    seen.add(domain);
  }
  return null;
}

function numberProblem({ kind, minimum, maximum }: SettingOptionFragment, text: string): Problem | null {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  const fits = kind === 'INTEGER' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (fits && value >= Number(minimum) && value <= Number(maximum)) return null;
  return { what: kind === 'INTEGER' ? 'integer' : 'number', minimum: minimum ?? '', maximum: maximum ?? '' };
}

/** What can be said before the server is asked, which judges by itself. null: nothing. */
export function problemOf(option: SettingOptionFragment, field: SettingField, text: string): Problem | null {
  if (isJson(option)) {
    const fault = jsonFault(text);
    return fault === null ? null : { what: 'json', ...fault };
  }
  if (option.kind === 'INTEGER' || option.kind === 'NUMBER') return numberProblem(option, text.trim());
  const isAddress = field.holds === 'address' || field.holds === 'url';
  if (isAddress && text.trim() !== '' && !/^https?:\/\/[^/]/i.test(text.trim())) return { what: 'address' };
  return field.holds === 'domains' ? domainProblem(text) : null;
}

/** As it is sent: addresses without a slash at the end, which would be doubled in what is made of them. */
const sentText = (option: SettingOptionFragment, field: SettingField, text: string): string => {
  if (field.holds === 'address') return text.trim().replace(/\/+$/, '');
  const isTrimmed = field.holds === 'url' || option.kind === 'INTEGER' || option.kind === 'NUMBER';
  return isTrimmed ? text.trim() : text;
};

interface Change {
  readonly key: string;
  readonly value: string;
  readonly seenAt: number;
}

/** Only what was changed, and what others need before what needs them: switches come last. */
export function changesOf(
  fields: readonly (readonly [SettingField, SettingOptionFragment])[],
  drafts: Drafts,
): readonly Change[] {
  const changes = fields.flatMap(([field, option]) => {
    const draft = drafts.get(option.key);
    if (draft === undefined) return [];
    const change = { key: option.key, value: sentText(option, field, draft.text), seenAt: draft.seenAt };
    return [{ change, isSwitch: option.kind === 'BOOLEAN' }];
  });
  return [...changes.filter(({ isSwitch }) => !isSwitch), ...changes.filter(({ isSwitch }) => isSwitch)].map(
    ({ change }) => change,
  );
}
