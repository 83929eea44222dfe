import { ExactNumber } from './exact-number.js';

/* Reading JSON that somebody else wrote: every member may be missing or of another kind. */

export type JsonValue = string | number | boolean | null | ExactNumber | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  [name: string]: JsonValue | undefined;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** A number, whatever its digits. */
export const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

export const isList = (value: unknown): value is readonly JsonValue[] => Array.isArray(value);

/** The members of a list that are objects; none when it is no list. */
export const objectsIn = (value: unknown): JsonObject[] => (isList(value) ? value.filter(isObject) : []);

/** Names of members that say something: null is as good as none. */
export const memberNamesIn = (holder: JsonObject): string[] =>
  Object.keys(holder).filter((name) => (holder[name] ?? null) !== null);

/** Of a text, a number or a truth value; '' of all else: an object may have members by the names of its own methods. */
export const scalarText = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** A text with something in it, else null. */
export const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** As near as a double comes; null: it is none. */
export const numberIn = (value: unknown): number | null =>
  typeof value === 'number' ? value : value instanceof ExactNumber ? value.value : null;

/** A count: a finite number from 0, cut to an integer; else null. */
export const countIn = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.trunc(value) : null;

/** The same of a count that bounds something: 0 bounds nothing. */
export const boundIn = (value: unknown): number | null => countIn(value) || null;

/** Whether a count can be reported as it came: it is one, or is left out. */
export const isCountOrAbsent = (value: unknown): boolean => value === undefined || isCount(value);

export const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** null: not JSON. */
export function parseJson(text: string): JsonValue | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
