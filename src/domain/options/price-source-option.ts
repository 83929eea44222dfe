import { urlIn } from '../kernel/address.js';
import { isLonger } from '../kernel/bounds.js';
import { decimalOf, decimalText } from '../kernel/decimal.js';
import { invalidField } from '../kernel/failure.js';
import type { MarginRule } from '../pricing/sources/margin-rule.js';
import { type SourceForm, sourceForms } from '../pricing/sources/published-price.js';

/* The option PriceSources: where prices are published, and what may be done with them. */

const applications = ['never', 'within-bounds'] as const;

export interface PriceSourceSetting {
  readonly name: string;
  readonly url: string;
  /** null: any of the known forms. */
  readonly form: SourceForm | null;
  /** `vendor/model` is read as `model`. */
  readonly bareNames: boolean;
  /** Fetched once a day; otherwise when somebody wants it. */
  readonly daily: boolean;
  /** What a daily fetch may change by itself. */
  readonly apply: (typeof applications)[number];
  /** By how much a price may move by itself, either way. */
  readonly bound: string;
  readonly margin: MarginRule;
}

const maxSources = 8;
const maxAddressLength = 2048;
export const maxSourceName = 40;
const maxMargins = 200;
const members = 'name url form bareNames daily apply bound margin vendorMargins familyMargins groupMinimums'.split(' ');

type Members = Readonly<Record<string, unknown>>;

/** What a price is multiplied by. */
function factorIn(field: string, value: unknown, min: number, max: number): string {
  if (typeof value !== 'number' || !(value >= min && value <= max))
    throw invalidField(field, `a number from ${min} to ${max}`);
  return decimalText(decimalOf(value));
}

const marginIn = (field: string, value: unknown): string => factorIn(field, value, 0.1, 10);

function marginsIn(field: string, value: unknown): Map<string, string> {
  if (value === undefined) return new Map();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidField(field, 'an object of factors by name, such as {"openai":1.2}');
  const entries = Object.entries(value);
  if (entries.length > maxMargins) throw invalidField(field, `at most ${maxMargins} entries`);
  return new Map(entries.map(([name, margin]) => [name, marginIn(`${field}.${name}`, margin)]));
}

function choiceIn<Choice extends string>(field: string, value: unknown, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw invalidField(field, `one of ${choices.join(', ')}`);
  return found;
}

function flagIn(field: string, value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw invalidField(field, 'true or false');
  return value === true;
}

function nameIn(field: string, value: unknown): string {
  const isName = typeof value === 'string' && value.trim() === value && /^[^\p{C}]+$/u.test(value);
  if (!isName || isLonger(value, maxSourceName))
    throw invalidField(field, `a name of 1 to ${maxSourceName} characters`);
  return value;
}

function urlFrom(field: string, value: unknown): string {
  const url = typeof value === 'string' && value.length <= maxAddressLength ? urlIn(value) : null;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isHttp || url.username !== '' || url.password !== '')
    throw invalidField(field, 'an address that begins with https:// or http:// and holds no credentials');
  return String(value);
}

function sourceIn(field: string, entry: unknown): PriceSourceSetting {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw invalidField(field, 'an object such as {"name":"list","url":"https://example.com/prices.json"}');
  const { form, bareNames, daily, apply, bound, margin, ...rest } = entry as Members;
  for (const member of Object.keys(entry))
    if (!members.includes(member)) throw invalidField(`${field}.${member}`, `one of ${members.join(', ')}`);
  return {
    name: nameIn(`${field}.name`, rest.name),
    url: urlFrom(`${field}.url`, rest.url),
    form: form === undefined ? null : choiceIn(`${field}.form`, form, sourceForms),
    bareNames: flagIn(`${field}.bareNames`, bareNames),
    daily: flagIn(`${field}.daily`, daily),
    apply: apply === undefined ? 'never' : choiceIn(`${field}.apply`, apply, applications),
    bound: bound === undefined ? '1.5' : factorIn(`${field}.bound`, bound, 1, 10),
    margin: {
      usual: margin === undefined ? '1' : marginIn(`${field}.margin`, margin),
      vendors: marginsIn(`${field}.vendorMargins`, rest.vendorMargins),
      families: marginsIn(`${field}.familyMargins`, rest.familyMargins),
      groups: marginsIn(`${field}.groupMinimums`, rest.groupMinimums),
    },
  };
}

/** Throws `invalid-field`, naming the source and the member that is wrong. */
export function readPriceSources(json: string): readonly PriceSourceSetting[] {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list) || list.length > maxSources)
    throw invalidField('PriceSources', `a list of at most ${maxSources} sources`);
  const sources = list.map((entry, index) => sourceIn(`PriceSources[${index}]`, entry));
  const names = new Set<string>();
  sources.forEach(({ name }, index) => {
    if (names.has(name)) throw invalidField(`PriceSources[${index}].name`, 'each name once');
    names.add(name);
  });
  return sources;
}
