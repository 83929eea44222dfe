import { isList, isObject, type JsonValue } from './json.js';

/** Objects and lists within each other; what lies deeper is not looked at, so whoever passes it on refuses it. */
export const maxNesting = 64;

/** All texts in a value, names of members included. */
export function* textsWithin(value: JsonValue | undefined, nesting = 0): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (nesting > maxNesting) return;
  else if (isList(value)) for (const one of value) yield* textsWithin(one, nesting + 1);
  else if (isObject(value))
    for (const [name, one] of Object.entries(value)) {
      yield name;
      yield* textsWithin(one, nesting + 1);
    }
}
