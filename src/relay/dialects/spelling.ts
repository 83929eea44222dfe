import type { InvalidMember } from '../contracts/caller-dialect.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../json/json.js';

/*
 * Members are looked for here by their exact names, while some receivers take them in any case (Go's decoder does), or in
 * one of two spellings (Google's). What is spelled so that it is read there and not here is refused by its name, and so is
 * a member that stands there in both spellings.
 */

interface Spelling {
  /** Every spelling that is read. */
  readonly exact: ReadonlySet<string>;
  /** As it is read, by what a lenient receiver makes of a name. */
  readonly byFold: ReadonlyMap<string, string>;
  /** Members that are the dialect's own to their last name; what stands in others is the caller's. */
  readonly inside: ReadonlySet<string>;
  /** Members may be spelled `like_this` as well. */
  readonly snakes: boolean;
}

const snakeOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Upper case first: there are letters beyond ASCII that are the same in one case only. */
const folded = (name: string, snakes: boolean): string => {
  const fold = name.toUpperCase().toLowerCase();
  return snakes ? fold.replaceAll('_', '') : fold;
};

const words = (text: string): string[] => text.trim().split(/\s+/);

/** `plain`: names whose content is not looked into; `inside`: those whose content is. Separated by blanks. */
export function spelling(plain: string, inside: string, snakes = false): Spelling {
  const names = [...words(plain), ...words(inside)];
  const both = (list: readonly string[]): string[] => (snakes ? [...list, ...list.map(snakeOf)] : [...list]);
  return {
    exact: new Set(both(names)),
    byFold: new Map(names.map((name) => [folded(name, snakes), name])),
    inside: new Set(both(words(inside))),
    snakes,
  };
}

const maxShown = 100;

function nameWrong(holder: JsonObject, name: string, path: string, rules: Spelling): InvalidMember | null {
  const { exact, byFold, snakes } = rules;
  const param = path + name.slice(0, maxShown);
  if (!exact.has(name)) {
    const meant = byFold.get(folded(name, snakes));
    return meant === undefined ? null : { param, message: `${param} must be spelled ${meant}` };
  }
  if (!snakes || !name.includes('_')) return null;
  const meant = byFold.get(folded(name, snakes)) ?? name;
  return meant !== name && holder[meant] !== undefined
    ? { param, message: `${param} and ${meant} are the same member: send one of them` }
    : null;
}

/** The first of them, looked for wherever the dialect has names of its own; null: there is none. */
export function misspelled(value: JsonValue | undefined, rules: Spelling, path = ''): InvalidMember | null {
  if (isList(value)) {
    for (const [at, one] of value.entries()) {
      if (typeof one !== 'object' || one === null) continue;
      const wrong = misspelled(one, rules, `${path.slice(0, -1)}[${at}].`);
      if (wrong !== null) return wrong;
    }
    return null;
  }
  if (!isObject(value)) return null;
  for (const name of Object.keys(value)) {
    const wrong = nameWrong(value, name, path, rules);
    if (wrong !== null) return wrong;
    const member = value[name];
    if (typeof member !== 'object' || member === null || !rules.inside.has(name)) continue;
    const within = misspelled(member, rules, `${path}${name}.`);
    if (within !== null) return within;
  }
  return null;
}
