/*
 * Where a text stops being JSON. Browsers say it in words of their own, some without a place; who edits a table of a
 * thousand prices needs the line.
 */

export interface JsonFault {
  readonly line: number;
  readonly column: number;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids just these
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /true|false|null/y;
const blank = /[ \t\r\n]*/y;

const endOf = (pattern: RegExp, text: string, from: number): number | null => {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : null;
};

/** Index of the first character that cannot stand where it does; null: the text is JSON. Any depth, one pass. */
function faultIndex(text: string): number | null {
  const open: ('{' | '[')[] = [];
  const skip = (from: number): number => endOf(blank, text, from) ?? from;
  let at = skip(0);
  let expects: 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'after' = 'value';
  for (;;) {
    const character = text[at];
    const innermost = open.at(-1);
    const ends = character === (innermost === '{' ? '}' : ']') && innermost !== undefined;
    if (expects === 'after') {
      if (innermost === undefined) return at === text.length ? null : at;
      if (ends) open.pop();
      else if (character === ',') expects = innermost === '{' ? 'name' : 'value';
      else return at;
      at = skip(at + 1);
      continue;
    }
    if (ends && expects.endsWith('-or-end')) {
      open.pop();
      expects = 'after';
      at = skip(at + 1);
      continue;
    }
    if (expects === 'name' || expects === 'name-or-end') {
      const end = endOf(string, text, at);
      if (end === null) return at;
      const colon = skip(end);
      if (text[colon] !== ':') return colon;
      expects = 'value';
      at = skip(colon + 1);
      continue;
    }
    if (character === '{' || character === '[') {
      open.push(character);
      expects = character === '{' ? 'name-or-end' : 'value-or-end';
      at = skip(at + 1);
      continue;
    }
    const end = endOf(string, text, at) ?? endOf(number, text, at) ?? endOf(word, text, at);
    if (end === null) return at;
    expects = 'after';
    at = skip(end);
  }
}

/** null: the text is JSON. Lines and columns count from 1. */
export function jsonFault(text: string): JsonFault | null {
  const index = faultIndex(text);
  if (index === null) return null;
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
