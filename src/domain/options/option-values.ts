import { boundedJson, bytesIn, checkText, type TextBound } from '../kernel/bounds.js';
import { isDecimal } from '../kernel/decimal.js';
import { Failure } from '../kernel/failure.js';
import { maxModelNameBytes } from '../kernel/names.js';
import { checkChatLinks } from './chat-links.js';
import { readContextTiers } from './context-tier-option.js';
import { fixedBecause, maxCounted, maxRatio, type OptionDefinition, optionDefinition } from './option-table.js';
import { readPriceSources } from './price-source-option.js';
import { readServiceTiers } from './service-tier-option.js';

/* What an option may hold, and how its value is read. */

const wrong = (key: string, allowed: string): Failure => new Failure('option-value-invalid', { field: key, allowed });

/** Tables and lists, as text. */
const jsonText: TextBound = { max: 524_288, lines: true };
const secretText: TextBound = { max: 8192, lines: true };
/** Of an option nobody here knows, kept for clients that do. */
const foreignText: TextBound = { max: 8192, lines: true };
const maxNumberLength = 64;
const foreignKey = /^[\w.-]{1,100}$/;
/** A map of prices has those of 10,000 records, and built-in ones. */
const maxMembers = 20_000;

const parsed = (key: string, value: string, allowed: string): unknown => {
  try {
    return JSON.parse(value);
  } catch {
    throw wrong(key, allowed);
  }
};

const members = (key: string, value: string, allowed: string): [string, unknown][] => {
  const object = parsed(key, value, allowed);
  if (typeof object !== 'object' || object === null || Array.isArray(object)) throw wrong(key, allowed);
  return Object.entries(object);
};

function checkNumber(
  key: string,
  value: string,
  { kind, minimum, maximum }: Extract<OptionDefinition, { kind: 'integer' | 'number' }>,
): void {
  // Zero would be no value: the option is as if nobody had ever set it.
  if (value === '' && minimum > 0) return;
  // What is no decimal text to the price tables is none here, even where JavaScript would read a number.
  const amount = value.length <= maxNumberLength && isDecimal(value) ? Number(value) : Number.NaN;
  const fits = kind === 'integer' ? Number.isSafeInteger(amount) : Number.isFinite(amount);
  if (!fits || amount < minimum || amount > maximum)
    throw wrong(key, `${kind === 'integer' ? 'an integer' : 'a number'} from ${minimum} to ${maximum}`);
}

/** What is checked, and its failure in the words of options. */
function inWordsOfOptions(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof Failure ? wrong(String(error.details.field), String(error.details.allowed)) : error;
  }
}

const checkOptionText = (key: string, value: string, bound: TextBound): void =>
  inWordsOfOptions(() => checkText(key, value, bound));

function checkMembers(key: string, names: Iterable<string>): void {
  let count = 0;
  for (const name of names) {
    if (++count > maxMembers) throw wrong(key, `at most ${maxMembers} entries`);
    if (bytesIn(name) > maxModelNameBytes) throw wrong(key, `names of at most ${maxModelNameBytes} bytes`);
  }
}

/** Before it is read: JSON that nests too deep or holds what cannot be stored is none. */
function checkJson(key: string, value: string, allowed: string): void {
  checkOptionText(key, value, jsonText);
  if (boundedJson(value) === undefined) throw wrong(key, allowed);
}

const ratiosAllowed = 'a JSON object of numbers from 0 by name';
const countsAllowed = `a JSON object of names and integers from 1 to ${maxCounted}`;
const textsAllowed = 'a JSON object of texts by name';

/** Bytes an option may hold at most. */
export function maxOptionLength(key: string): number {
  const definition = optionDefinition(key);
  switch (definition?.kind) {
    case undefined:
      return foreignText.max;
    case 'text':
      return definition.max;
    case 'secret':
      return secretText.max;
    case 'boolean':
    case 'choice':
    case 'integer':
    case 'number':
      return maxNumberLength;
    default:
      return jsonText.max;
  }
}

/**
 * Throws `option-value-invalid` naming the key and what is allowed, and `option-fixed` for another value than an option
 * that stays as it is has. Options nobody here knows may hold any short text.
 */
export function checkOption(key: string, value: string): void {
  checkValue(key, value);
  const because = fixedBecause(key);
  const initial = optionDefinition(key)?.initial;
  // An emptied number is what it was in the beginning.
  if (because !== null && initial !== undefined && value !== '' && value !== initial)
    throw new Failure('option-fixed', { field: key, allowed: initial, because });
}

function checkValue(key: string, value: string): void {
  const definition = optionDefinition(key);
  if (definition === null) {
    if (!foreignKey.test(key)) throw wrong('key', '1 to 100 letters, digits, dots, dashes and underscores');
    checkOptionText(key, value, foreignText);
    return;
  }
  switch (definition.kind) {
    case 'text':
      checkOptionText(key, value, definition);
      return;
    case 'secret':
      checkOptionText(key, value, secretText);
      return;
    case 'boolean':
      if (value !== 'true' && value !== 'false') throw wrong(key, '"true" or "false"');
      return;
    case 'choice':
      if (!definition.choices.includes(value)) throw wrong(key, `one of ${definition.choices.join(', ')}`);
      return;
    case 'integer':
    case 'number':
      checkNumber(key, value, definition);
      return;
    case 'json-array':
      checkJson(key, value, 'a JSON array');
      if (!Array.isArray(JSON.parse(value))) throw wrong(key, 'a JSON array');
      if (definition.of === 'chat-links') inWordsOfOptions(() => checkChatLinks(JSON.parse(value)));
      if (definition.of === 'price-sources') inWordsOfOptions(() => readPriceSources(value));
      return;
    case 'json-object':
      checkJson(key, value, 'a JSON object');
      checkMembers(
        key,
        members(key, value, 'a JSON object').map(([name]) => name),
      );
      if (definition.of === 'context-tiers') inWordsOfOptions(() => readContextTiers(value));
      if (definition.of === 'service-tiers') inWordsOfOptions(() => readServiceTiers(value));
      return;
    case 'ratios':
      checkJson(key, value, ratiosAllowed);
      checkRatios(key, readRatios(key, value));
      return;
    case 'counts':
      checkJson(key, value, countsAllowed);
      checkMembers(key, readCounts(key, value).keys());
      return;
    case 'texts':
      checkJson(key, value, textsAllowed);
      checkMembers(key, readTexts(key, value).keys());
      return;
  }
}

/** What a form means by a field that was emptied: no number is zero, or none at all where zero is none; no switch is off. */
export function emptiedOption(key: string): string {
  const definition = optionDefinition(key);
  if (definition?.kind === 'boolean') return 'false';
  return definition !== null && 'minimum' in definition && definition.minimum <= 0 ? '0' : '';
}

function checkRatios(key: string, ratios: ReadonlyMap<string, string>): void {
  checkMembers(key, ratios.keys());
  for (const [name, ratio] of ratios)
    if (Number(ratio) > maxRatio) throw wrong(`${key}.${name}`, `a number from 0 to ${maxRatio}`);
}

/** JSON object of name → number ≥ 0, as exact decimal texts. Throws `option-value-invalid`. */
export function readRatios(key: string, value: string): Map<string, string> {
  const table = members(key, value, ratiosAllowed);
  return new Map(
    table.map(([name, ratio]) => {
      if (typeof ratio !== 'number' || !Number.isFinite(ratio) || ratio < 0)
        throw wrong(`${key}.${name}`, 'a number from 0');
      return [name, String(ratio)];
    }),
  );
}

/** JSON object of name → integer from 1. Throws `option-value-invalid`. */
export function readCounts(key: string, value: string): Map<string, number> {
  const table = members(key, value, countsAllowed);
  return new Map(
    table.map(([name, count]) => {
      if (typeof count !== 'number' || !Number.isInteger(count) || count < 1 || count > maxCounted)
        throw wrong(`${key}.${name}`, `an integer from 1 to ${maxCounted}`);
      return [name, count];
    }),
  );
}

/** JSON object of name → text. Throws `option-value-invalid`. */
export function readTexts(key: string, value: string): Map<string, string> {
  const table = members(key, value, textsAllowed);
  return new Map(
    table.map(([name, text]) => {
      if (typeof text !== 'string') throw wrong(`${key}.${name}`, 'a text');
      return [name, text];
    }),
  );
}

/** The texts of a JSON array; whatever else is in it says nothing. Throws `option-value-invalid`. */
export function readNames(key: string, value: string): string[] {
  const list = parsed(key, value, 'a JSON array');
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}
