/*
 * Columns of many rows as Postgres takes them: numbers in its binary form, which neither side has to turn into digits and
 * back, texts as text. A statement reads them with `unnest`.
 */

/** A number of any length in base 10,000, most significant digit first. */
export interface Numeric {
  readonly negative: boolean;
  /** Of the first digit: the power of 10,000 that it counts. */
  readonly weight: number;
  readonly digits: ArrayLike<number>;
}

/** What travels as a numeric of its own making, which is read before another one is asked for. */
export interface AsNumeric {
  toNumeric(): Numeric;
}

/** A column of many rows. null stands for null. */
export type ColumnValues = { readonly column: string } & (
  | { readonly type: 'bigint' | 'integer' | 'smallint'; readonly values: readonly (number | null)[] }
  | { readonly type: 'boolean'; readonly values: readonly (boolean | null)[] }
  | { readonly type: 'numeric'; readonly values: readonly (number | bigint | AsNumeric)[] }
  | { readonly type: 'text'; readonly values: readonly (string | null)[] }
  /** Anything that JSON has a word for but null, which is no value here. */
  | { readonly type: 'json'; readonly values: readonly unknown[] }
);

export type ColumnType = ColumnValues['type'];

/** What Postgres refuses in text: NUL, and half of a surrogate pair. */
const unstorableCharacter = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** The text as it will stand in the table: names that differ only in what cannot be stored are one name there. */
export const storableText = (text: string): string => text.replace(unstorableCharacter, '\uFFFD');

// As `JSON.stringify` writes them, in small letters.
const unstorable = /\\u(?:0000|d[89a-f])/;

/**
 * JSON that Postgres can store. A caller may put a NUL into the name of an API key: it becomes U+FFFD rather than a
 * poisoned event.
 */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!unstorable.test(json)) return json;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? storableText(part) : part));
}

/**
 * The parameter that holds the values: to be cast to an array of the column's type. Throws RangeError for a number that
 * is not whole.
 */
export function arrayOf(column: ColumnValues): string | Buffer {
  switch (column.type) {
    case 'bigint':
      return numbers(oids.bigint, 8, column.values, writeBigint);
    case 'integer':
      return numbers(oids.integer, 4, column.values, (array, value, at) => array.writeInt32BE(whole(value), at));
    case 'smallint':
      return numbers(oids.smallint, 2, column.values, (array, value, at) => array.writeInt16BE(whole(value), at));
    case 'boolean':
      return numbers(oids.boolean, 1, column.values, (array, value, at) => array.writeUInt8(value ? 1 : 0, at));
    case 'numeric':
      return numerics(column.values);
    case 'text':
      return texts(column.values, storableText);
    case 'json':
      return texts(column.values, storableJson);
  }
}

/** The numbers Postgres has for types. */
const oids = { boolean: 16, bigint: 20, smallint: 21, integer: 23, numeric: 1700 } as const;

/** Of an array in binary form: dimensions, whether there are nulls, the type, the length and the first index. */
const headBytes = 20;
const lengthBytes = 4;

function writeHead(array: Buffer, type: number, length: number, nulls: boolean): void {
  array.writeInt32BE(1, 0);
  array.writeInt32BE(nulls ? 1 : 0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
}

/** Written as it is, anything else would become some other number. */
function whole(value: number): number {
  if (!Number.isSafeInteger(value))
    throw new RangeError(`Not a whole number that a number represents exactly: ${value}`);
  return value;
}

const two32 = 2 ** 32;

function writeBigint(array: Buffer, value: number, at: number): void {
  const high = Math.floor(whole(value) / two32);
  array.writeInt32BE(high, at);
  array.writeUInt32BE(value - high * two32, at + 4);
}

/** Values that take `bytes` each. */
function numbers<Value>(
  type: number,
  bytes: number,
  values: readonly (Value | null)[],
  write: (array: Buffer, value: Value, at: number) => void,
): Buffer {
  const array = Buffer.allocUnsafe(headBytes + values.length * (lengthBytes + bytes));
  let at = headBytes;
  let nulls = false;
  // By index: an iterator over arrays of so many kinds makes an object for each value.
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as Value | null;
    if (value === null) {
      nulls = true;
      at = array.writeInt32BE(-1, at);
      continue;
    }
    at = array.writeInt32BE(bytes, at);
    write(array, value, at);
    at += bytes;
  }
  writeHead(array, type, values.length, nulls);
  return array.subarray(0, at);
}

const base = 10_000;

/** Of a whole number however large. */
export function numericOf(value: bigint): Numeric {
  const negative = value < 0n;
  const text = String(negative ? -value : value);
  if (text === '0') return { negative, weight: 0, digits: [] };
  const digits: number[] = [];
  for (let end = text.length; end > 0; end -= 4) digits.push(Number(text.slice(Math.max(end - 4, 0), end)));
  return { negative, weight: digits.length - 1, digits: digits.reverse() };
}

const numericHeadBytes = 8;
const negativeSign = 0x4000;

/** Where arrays whose length is not known beforehand are written; what is made of them is a copy. */
let scratch = Buffer.allocUnsafe(64 * 1024);

function makeRoom(size: number): void {
  if (size <= scratch.length) return;
  const larger = Buffer.allocUnsafe(Math.max(size, scratch.length * 2));
  scratch.copy(larger);
  scratch = larger;
}

/** Answers where the digits begin. None of them is behind the point. */
function writeNumericHead(digits: number, weight: number, negative: boolean, at: number): number {
  const size = numericHeadBytes + digits * 2;
  makeRoom(at + lengthBytes + size);
  scratch.writeInt32BE(size, at);
  scratch.writeInt16BE(digits, at + 4);
  scratch.writeInt16BE(weight, at + 6);
  scratch.writeUInt16BE(negative ? negativeSign : 0, at + 8);
  scratch.writeInt16BE(0, at + 10);
  return at + lengthBytes + numericHeadBytes;
}

function writeNumeric({ negative, weight, digits }: Numeric, at: number): number {
  let next = writeNumericHead(digits.length, weight, negative, at);
  for (let index = 0; index < digits.length; index++) next = scratch.writeInt16BE(digits[index] as number, next);
  return next;
}

/** Of a safe integer, as nearly all are. */
function writeWhole(value: number, at: number): number {
  let left = Math.abs(value);
  const digits = left === 0 ? 0 : left < 1e4 ? 1 : left < 1e8 ? 2 : left < 1e12 ? 3 : 4;
  const first = writeNumericHead(digits, Math.max(digits - 1, 0), value < 0, at);
  for (let index = digits - 1; index >= 0; index--) {
    scratch.writeInt16BE(left % base, first + index * 2);
    left = Math.floor(left / base);
  }
  return first + digits * 2;
}

function numerics(values: readonly (number | bigint | AsNumeric)[]): Buffer {
  let at = headBytes;
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number | bigint | AsNumeric;
    if (typeof value === 'object') at = writeNumeric(value.toNumeric(), at);
    else {
      const near = Number(value);
      at = Number.isSafeInteger(near) ? writeWhole(near, at) : writeNumeric(numericOf(BigInt(value)), at);
    }
  }
  writeHead(scratch, oids.numeric, values.length, false);
  return Buffer.from(scratch.subarray(0, at));
}

const special = /["\\]/g;
const anySpecial = /["\\]/;
const quoted = (text: string): string => `"${anySpecial.test(text) ? text.replace(special, '\\$&') : text}"`;

const texts = <Value>(values: readonly Value[], textOf: (value: NonNullable<Value>) => string): string =>
  `{${values.map((value) => (value === null || value === undefined ? 'NULL' : quoted(textOf(value)))).join(',')}}`;
