import { invalidField } from './failure.js';

/*
 * How much of anything a caller may have written down. Whatever a command accepts must fit into an event, fold in every
 * read model and be shown again: the commands check it here, so that every face refuses alike. What is stored already
 * may be older than a bound; it is checked when it is changed.
 */

export interface TextBound {
  /** In characters. */
  readonly max: number;
  /** Lines may be broken and columns aligned; nothing else that is invisible is allowed anywhere. */
  readonly lines?: boolean;
}

/** What is asked about: part of a name, a group, a key. */
export const searchText: TextBound = { max: 256 };

/** The NUL character, and half of a character pair: what no column can hold. */
const malformed = /[\0\p{Surrogate}]/u;
const control = /\p{Cc}/u;
const controlInLines = /[^\P{Cc}\t\n\r]/u;

export const bytesIn = (text: string): number => Buffer.byteLength(text);

/** Characters as people count them, as far as it matters: no text is counted that is too long anyway. */
export const isLonger = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || [...text].length > max);

/** Throws `invalid-field` for text that the database cannot hold as it was written. */
export function checkWellFormed(field: string, text: string): void {
  if (malformed.test(text)) throw invalidField(field, 'well-formed text without NUL characters');
}

/** Throws `invalid-field` for text that is malformed, too long or holds what cannot be seen. */
export function checkText(field: string, text: string, { max, lines = false }: TextBound): void {
  if (isLonger(text, max)) throw invalidField(field, `at most ${max} characters`);
  checkWellFormed(field, text);
  if ((lines ? controlInLines : control).test(text)) throw invalidField(field, 'text without control characters');
}

/** Throws `invalid-field` unless the number is whole and within the range. */
export function checkInteger(field: string, value: number, minimum: number, maximum: number): void {
  if (!Number.isSafeInteger(value) || value < minimum || value > maximum)
    throw invalidField(field, `an integer from ${minimum} to ${maximum}`);
}

/** Throws `invalid-field` for a list that is too long, or holds something that is. */
export function checkList(field: string, items: readonly string[], max: number, each: TextBound): void {
  if (items.length > max) throw invalidField(field, `at most ${max} entries`);
  for (const item of items) checkText(field, item, each);
}

/** What the 32 bits of a signed integer hold: in columns, in GraphQL's Int, in the clients of the legacy contract. */
export const maxInt = 2_147_483_647;

/** Deep enough for anything anybody configures; far from what a recursive reader or writer could not follow. */
const maxJsonDepth = 32;

/** Levels of brackets outside of texts. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < json.length; index++) {
    const character = json[index];
    if (quoted) {
      if (character === '\\') index++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') {
      if (++depth > maxJsonDepth) return true;
    } else if (character === '}' || character === ']') depth--;
  }
  return false;
}

/** The value of JSON text; undefined when it is none or nests too deep. Texts within may not be malformed either. */
export function boundedJson(json: string): unknown {
  if (isTooDeep(json)) return undefined;
  try {
    return JSON.parse(json, (name, value: unknown) => {
      if (malformed.test(name) || (typeof value === 'string' && malformed.test(value))) throw new Error('malformed');
      return value;
    });
  } catch {
    return undefined;
  }
}
