import { exactly, mayLoseDigits } from '../json/exact-json.js';
import { jsonText } from '../json/exact-number.js';
import { isList, isObject, type JsonObject, type JsonValue, parseJson } from '../json/json.js';
import { blanksEnd, stringEnd, valueEnd } from '../json/json-text.js';

/*
 * A JSON text that is passed on with a few members changed: what was not changed stays as it is written, to its blanks, its
 * escapes and the digits of its numbers. What was changed is found by comparing the value that the text was read as with
 * the one that is to be sent; members that are the same in both are not looked at in the text.
 */

/** A JSON text, and what it says. */
export interface JsonSource {
  readonly text: string;
  readonly value: JsonObject;
}

/** The text of `after`, as it stands in the source as far as it does. Throws as JSON.stringify does. */
export const carried = (source: JsonSource, after: JsonObject): string =>
  source.value === after ? source.text : new Carrying(source.text, false).all(source.value, after);

/** The same of a text whose value was changed in place, and in which members may stand twice. */
export function carriedOver(text: string, after: JsonObject): string {
  const value = parseJson(text);
  return isObject(value) ? new Carrying(text, true).all(value, after) : jsonText(after);
}

/** The data of an event without the line ends in it, which in JSON are blanks. */
export const inOneLine = (data: Buffer): string => data.toString('utf8').replaceAll('\n', '');

/** What an upstream has sent, changed: by doubles where none of its numbers needs more. */
export const rewrittenJson = (text: string, after: JsonObject): string =>
  mayLoseDigits(text) ? carriedOver(text, after) : jsonText(after);

/**
 * The same of bytes, which are large where the answer is: they are looked at as they are, and decoded only where a number
 * needs it. Numbers have no other letters in either.
 */
export const rewrittenBytes = (bytes: Buffer, after: JsonObject): string =>
  mayLoseDigits(bytes.toString('latin1')) ? carriedOver(bytes.toString('utf8'), after) : jsonText(after);

/** The names of members that are not as before. */
function changedIn(before: JsonObject, after: JsonObject): Set<string> {
  const changed = new Set<string>();
  for (const name of Object.keys(before)) if (before[name] !== after[name]) changed.add(name);
  return changed;
}

/** Those that are to be written, in their order. */
const addedIn = (before: JsonObject, after: JsonObject): string[] =>
  Object.keys(after).filter((name) => after[name] !== undefined && !Object.hasOwn(before, name));

class Carrying {
  /** By the objects and lists that the text was read as: the same, their numbers with all digits. */
  private before: JsonValue = null;
  private exact: Map<JsonValue, JsonValue> | null = null;

  constructor(
    private readonly text: string,
    /** Members may stand twice in one object. */
    private readonly repeats: boolean,
  ) {}

  all(before: JsonObject, after: JsonObject): string {
    const { text } = this;
    this.before = before;
    const start = blanksEnd(text, 0);
    const end = text.lastIndexOf('}') + 1;
    const whole = this.object(start, end, before, after);
    return start === 0 && end === text.length ? whole : text.slice(0, start) + whole + text.slice(end);
  }

  /** The object in `text[start..end)`. */
  object(start: number, end: number, before: JsonObject, after: JsonObject): string {
    const { text } = this;
    const changed = changedIn(before, after);
    const added = addedIn(before, after);
    if (changed.size + added.length === 0) return text.slice(start, end);
    const seen = this.repeats ? new Set<string>() : null;
    const last = end - 1;
    let kept = 0;
    let from = blanksEnd(text, start + 1);
    let out = text.slice(start, from);
    let behind = from;
    while (from < last && (changed.size > 0 || seen !== null)) {
      const nameEnd = stringEnd(text, from);
      const valueStart = blanksEnd(text, blanksEnd(text, nameEnd) + 1);
      const valueStop = valueEnd(text, valueStart);
      const name: string = JSON.parse(text.slice(from, nameEnd));
      if (seen?.has(name)) return this.anew(after);
      seen?.add(name);
      const differs = changed.delete(name);
      // Objects have members that nobody has given them.
      const value = Object.hasOwn(after, name) ? after[name] : undefined;
      if (!differs || value !== undefined) {
        if (kept++ > 0) out += text.slice(behind, from);
        out += text.slice(from, valueStart);
        out += differs
          ? this.value(valueStart, valueStop, before[name] ?? null, value ?? null)
          : text.slice(valueStart, valueStop);
      }
      behind = valueStop;
      from = blanksEnd(text, blanksEnd(text, valueStop) + 1);
    }
    // The comma before the first that is kept goes with what stood before it.
    const others = from < last;
    out += text.slice(others && kept === 0 ? from : behind, last);
    const more = added.map((name) => `${JSON.stringify(name)}:${this.anew(after[name] ?? null)}`).join(',');
    return `${out}${more !== '' && (kept > 0 || others) ? ',' : ''}${more}}`;
  }

  private value(start: number, end: number, before: JsonValue, after: JsonValue): string {
    if (isObject(before) && isObject(after)) return this.object(start, end, before, after);
    if (isList(before) && isList(after)) return this.list(start, end, before, after);
    return before === after ? this.text.slice(start, end) : this.anew(after);
  }

  /** What stands nowhere in the text may hold what does. */
  private anew(value: JsonValue): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (this.exact === null) {
      this.exact = new Map();
      pair(this.before, exactly(this.text, this.before), this.exact);
    }
    return jsonText(this.exact.size === 0 ? value : exactIn(value, this.exact));
  }

  private list(start: number, end: number, before: readonly JsonValue[], after: readonly JsonValue[]): string {
    const { text } = this;
    if (before.length !== after.length) return this.rearranged(start, before, after);
    let out = '';
    let written = start;
    let at = blanksEnd(text, start + 1);
    let left = before.reduce<number>((differing, one, nth) => (one === after[nth] ? differing : differing + 1), 0);
    for (let nth = 0; left > 0; nth++) {
      const stop = valueEnd(text, at);
      const was = before[nth] as JsonValue;
      const is = after[nth] as JsonValue;
      if (was !== is) {
        left--;
        out += text.slice(written, at) + this.value(at, stop, was, is);
        written = stop;
      }
      at = blanksEnd(text, blanksEnd(text, stop) + 1);
    }
    return out + text.slice(written, end);
  }

  /** A list of which entries were taken out, or put in: each is looked for among those that were there. */
  private rearranged(start: number, before: readonly JsonValue[], after: readonly JsonValue[]): string {
    const { text } = this;
    const spans: (readonly [start: number, end: number])[] = [];
    for (let at = blanksEnd(text, start + 1); spans.length < before.length; ) {
      const stop = valueEnd(text, at);
      spans.push([at, stop]);
      at = blanksEnd(text, blanksEnd(text, stop) + 1);
    }
    let next = 0;
    const entries = after.map((one) => {
      const index = before.findIndex((was, nth) => nth >= next && isOf(was, one));
      const span = spans[index];
      if (span === undefined) return this.anew(one);
      next = index + 1;
      return this.value(...span, before[index] ?? null, one);
    });
    return `[${entries.join(',')}]`;
  }
}

/** Pairs what a text was read as with what it was read as exactly, where these are not the same. */
function pair(value: JsonValue, exact: JsonValue, pairs: Map<JsonValue, JsonValue>): void {
  if (value === exact) return;
  if (isObject(value) && isObject(exact)) {
    pairs.set(value, exact);
    for (const name of Object.keys(value)) pair(value[name] ?? null, exact[name] ?? null, pairs);
  } else if (isList(value) && isList(exact)) {
    pairs.set(value, exact);
    for (const [at, one] of value.entries()) pair(one, exact[at] ?? null, pairs);
  }
}

function exactIn(value: JsonValue, pairs: ReadonlyMap<JsonValue, JsonValue>): JsonValue {
  const known = pairs.get(value);
  if (known !== undefined) return known;
  if (isList(value)) return value.map((one) => exactIn(one, pairs));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, one === undefined ? one : exactIn(one, pairs)]),
  );
}

/** Whether an entry is one that was there, or was made of it. */
const isOf = (was: JsonValue, is: JsonValue): boolean =>
  was === is ||
  (isList(was) && isList(is)) ||
  (isObject(was) && isObject(is) && Object.keys(was).some((name) => name !== 'role' && was[name] === is[name]));
