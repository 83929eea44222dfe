import { isObject, type JsonValue } from './json.js';

/*
 * A member that stands twice in one object of a JSON text. Parsers differ in which of the two they take, so a text with
 * one is read otherwise here than where it is sent to. A parsed value has fewer members then than its text has names.
 */

/** Of all objects in it. */
export function membersIn(value: JsonValue): number {
  let members = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const one of next) if (typeof one === 'object' && one !== null) open.push(one);
    } else if (isObject(next)) {
      for (const name of Object.keys(next)) {
        members++;
        const member = next[name];
        if (typeof member === 'object' && member !== null) open.push(member);
      }
    }
  }
  return members;
}

/** After the quote that ends the string whose first quote is at `from`. */
function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** The first name that stands twice in an object of a text that is JSON; null: none does. Reads it character by character. */
export function repeatedMember(text: string): string | null {
  const names: (Set<string> | null)[] = [];
  const colon = /\s*:/y;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{') names.push(new Set());
    else if (character === '[') names.push(null);
    else if (character === '}' || character === ']') names.pop();
    else if (character === '"') {
      const end = stringEnd(text, at);
      colon.lastIndex = end;
      const known = names.at(-1);
      if (known && colon.test(text)) {
        const name: string = JSON.parse(text.slice(at, end));
        if (known.has(name)) return name;
        known.add(name);
      }
      at = end - 1;
    }
  }
  return null;
}
