import { ExactNumber } from './exact-number.js';
import { type JsonObject, type JsonValue, parseJson } from './json.js';
import { blanksEnd, stringEnd } from './json-text.js';

/*
 * JSON read without loss. Node's own parser makes doubles of all numbers and keeps nothing of their texts, so where a
 * text may hold a number that a double does not give back as it was written, it is read once more, here. Few texts do.
 */

/** Numbers that may be written otherwise by JSON.stringify, and texts that look like them. Misses none. */
const mayChange = /[\s:,[](?:-0|-?(?:[\d.]{16,}|\d+\.\d*0|0\.0{6}\d+|\d+(?:\.\d+)?[eE][-+]?\d+))(?=[\s,\]}]|$)/;

/**
 * In a request what is read here by rules of our own (limits, sampling, thinking) stands in so many brackets at most, and
 * what is carried for others (arguments, schemas, results) in more.
 */
export const outerBrackets = 3;

/** What nests deeper is left to the native parser, which has no stack to run out of. */
const deepest = 1024;

const minus = 0x2d;
const nine = 0x39;

/** A decimal's sign and digits without zeros at its ends, and the power of ten of its last digit. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return '0';
  return `${sign}${digits}e${Number(power) - fraction.length + all.length - digits.length}`;
}

/** Whether the double of a number is another number. */
const isAnother = (text: string): boolean => decimalOf(text) !== decimalOf(String(Number(text)));

class Reading {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly plainTo: number,
  ) {}

  value(depth: number): JsonValue {
    if (depth > deepest) throw new RangeError('nested too deeply');
    this.blanks();
    const { text } = this;
    switch (text[this.at]) {
      case '{':
        return this.object(depth + 1);
      case '[':
        return this.list(depth + 1);
      case '"':
        return this.string();
      case 't':
        this.at += 4;
        return true;
      case 'f':
        this.at += 5;
        return false;
      case 'n':
        this.at += 4;
        return null;
      default:
        return this.number(depth);
    }
  }

  private object(depth: number): JsonObject {
    const made: JsonObject = {};
    for (let more = this.opens('}'); more; more = this.goesOn()) {
      this.blanks();
      const name = this.string();
      this.blanks();
      this.at++;
      const value = this.value(depth);
      if (name !== '__proto__') made[name] = value;
      else Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return made;
  }

  private list(depth: number): JsonValue[] {
    const made: JsonValue[] = [];
    for (let more = this.opens(']'); more; more = this.goesOn()) made.push(this.value(depth));
    return made;
  }

  /** Past a bracket; false: past its other half, too. */
  private opens(closing: string): boolean {
    this.at++;
    this.blanks();
    if (this.text[this.at] !== closing) return true;
    this.at++;
    return false;
  }

  /** Past a comma, or past the closing bracket. */
  private goesOn(): boolean {
    this.blanks();
    return this.text[this.at++] === ',';
  }

  private string(): string {
    const { text, at } = this;
    this.at = stringEnd(text, at);
    const inner = text.slice(at + 1, this.at - 1);
    return inner.includes('\\') ? JSON.parse(text.slice(at, this.at)) : inner;
  }

  private number(depth: number): JsonValue {
    const { text, at } = this;
    let to = at;
    for (let code = text.charCodeAt(to); isOfNumber(code); code = text.charCodeAt(++to));
    this.at = to;
    const digits = text.slice(at, to);
    const double = Number(digits);
    if (String(double) === digits) return double;
    return depth > this.plainTo || isAnother(digits) ? new ExactNumber(digits) : double;
  }

  private blanks(): void {
    this.at = blanksEnd(this.text, this.at);
  }
}

/** Digits, signs, a point and the letter of an exponent. */
const isOfNumber = (code: number): boolean =>
  (code >= minus - 2 && code <= nine && code !== 0x2c && code !== 0x2f) || code === 0x65 || code === 0x45;

/** Whether a text may hold a number that is written otherwise once a double has carried it. */
export const mayLoseDigits = (text: string): boolean => mayChange.test(text);

/**
 * The value of a text that is JSON, its numbers with their own digits. `value`: as JSON.parse has read it, and the same as
 * what is returned where no number needs more. `plainTo`: in brackets so deep at most a number is a double unless that is
 * another number: what is read by our own rules stands there, and `1.0` is 1 to them.
 */
export function exactly<Value extends JsonValue>(text: string, value: Value, plainTo = 0): Value {
  if (typeof value !== 'object' || value === null || !mayChange.test(text)) return value;
  try {
    return new Reading(text, plainTo).value(0) as Value;
  } catch (error) {
    if (error instanceof RangeError) return value;
    throw error;
  }
}

/** null: not JSON. */
export function parseExactly(text: string, plainTo = 0): JsonValue | null {
  return exactly(text, parseJson(text), plainTo);
}
