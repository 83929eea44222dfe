import { Failure } from '../../kernel/failure.js';

/* JSON from outside: bounded in length and depth, and a name that stands twice in an object is found. */

/** Characters. */
export const maxListLength = 16 * 1024 * 1024;
const maxDepth = 24;
/** Names that stand twice; a list with more is refused. */
const maxDoubled = 1_000;

export type Json = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const unreadable = (reason: string): Failure => new Failure('price-list-unreadable', { reason });

export interface ListJson {
  readonly value: unknown;
  /** By object: the names that its text has twice. What is read of such a name is one of them. */
  readonly doubled: ReadonlyMap<object, ReadonlySet<string>>;
}

type Path = readonly (string | number)[];

/** An object or an array that is open at this place in the text. */
interface Open {
  readonly names: Set<string> | null;
  /** The member or the element that comes. */
  at: string | number;
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs;
const colonNext = /\s*:/y;

/** Work that can be left and gone on with wherever it yields. */
export type Steps<Result> = Generator<void, Result, undefined>;

const tokensPerStep = 2_000;

/** Of text that is valid JSON. Throws `price-list-unreadable` where it nests too deep. */
function* doubledPaths(text: string): Steps<Path[]> {
  const open: Open[] = [];
  const doubled: Path[] = [];
  let count = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (++count % tokensPerStep === 0) yield;
    const inner = open.at(-1);
    if (token === '{' || token === '[') {
      if (open.push({ names: token === '{' ? new Set() : null, at: 0 }) > maxDepth)
        throw unreadable(`it nests deeper than ${maxDepth} levels`);
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',') {
      if (inner?.names === null) inner.at = Number(inner.at) + 1;
    } else if (inner?.names) {
      colonNext.lastIndex = index + token.length;
      if (!colonNext.test(text)) continue;
      const name = JSON.parse(token) as string;
      inner.at = name;
      if (inner.names.has(name)) {
        doubled.push(open.map(({ at }) => at));
        if (doubled.length > maxDoubled) throw unreadable(`more than ${maxDoubled} names stand in it twice`);
      }
      inner.names.add(name);
    }
  }
  return doubled;
}

/** Where a name on the way stands twice itself, the object that was read is marked. */
function markedIn(value: unknown, paths: readonly Path[]): Map<object, Set<string>> {
  const marks = new Map<object, Set<string>>();
  for (const path of paths) {
    let holder = value;
    for (const step of path.slice(0, -1))
      holder = typeof holder === 'object' && holder !== null ? (holder as Json)[step] : undefined;
    if (typeof holder !== 'object' || holder === null) continue;
    const names = marks.get(holder) ?? new Set();
    names.add(String(path.at(-1)));
    marks.set(holder, names);
  }
  return marks;
}

/** Throws `price-list-unreadable` with a `reason` that repeats nothing of the text. */
export function* readListJson(text: string): Steps<ListJson> {
  if (text.length > maxListLength) throw unreadable(`it is longer than ${maxListLength} characters`);
  const content = text.replace(/^\uFEFF/, '');
  if (/^\s*</.test(content)) throw unreadable('it is a page of HTML or XML, not JSON');
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw unreadable(content.trim() === '' ? 'it is empty' : 'it is not JSON');
  }
  yield;
  return { value, doubled: markedIn(value, yield* doubledPaths(content)) };
}

/** Whether a name stands twice anywhere in the value. */
export function holdsDoubled({ doubled }: Pick<ListJson, 'doubled'>, value: unknown): boolean {
  if (doubled.size === 0 || typeof value !== 'object' || value === null) return false;
  return doubled.has(value) || Object.values(value).some((inner) => holdsDoubled({ doubled }, inner));
}
