import { randomBytes } from 'node:crypto';

/*
 * Texts of JSON that are too long to be copied, such as pictures in base64: each is cut out before the rest is parsed, and
 * a mark stands in its place that nobody outside can know.
 */

const longest = 64 * 1024;
const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;

const mark = randomBytes(16).toString('hex');
const marked = new RegExp(`"${mark}(\\d{1,9})"`);

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1;
  while (bytes[before] === backslash) before--;
  return (at - 1 - before) % 2 === 1;
}

/** Of the text that begins at a quote; −1: it has no end. */
function endOfText(bytes: Buffer, at: number): number {
  let end = at;
  do end = bytes.indexOf(quote, end + 1);
  while (end >= 0 && isEscaped(bytes, end));
  return end;
}

/** What stands in it needs no look of a parser. */
function isPlain(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < firstPrintable || byte === backslash || byte > 0x7e) return false;
  }
  return true;
}

/** Where the long texts are, quotes and all. */
function longTexts(bytes: Buffer): readonly (readonly [from: number, to: number])[] {
  const found: [number, number][] = [];
  if (bytes.length <= longest) return found;
  for (let at = bytes.indexOf(quote); at >= 0; ) {
    const end = endOfText(bytes, at);
    if (end < 0) break;
    if (end - at > longest && isPlain(bytes, at + 1, end)) found.push([at, end + 1]);
    at = bytes.indexOf(quote, end + 1);
  }
  return found;
}

/** The same bytes where there are none. */
export function withoutLongTexts(bytes: Buffer): Buffer {
  const texts = longTexts(bytes);
  if (texts.length === 0) return bytes;
  const pieces: Buffer[] = [];
  let at = 0;
  for (const [index, [from, to]] of texts.entries()) {
    pieces.push(bytes.subarray(at, from), Buffer.from(`"${mark}${index}"`));
    at = to;
  }
  pieces.push(bytes.subarray(at));
  return Buffer.concat(pieces);
}

/**
 * What is parsed of an answer with pictures: the texts are put back where it is passed on whole. A stream is written anew,
 * and needs all of it.
 */
export const bytesToParse = (bytes: Buffer, asStream: boolean): Buffer => (asStream ? bytes : withoutLongTexts(bytes));

/** JSON that was made of what `withoutLongTexts` gave, with the long texts of `bytes` in it again. */
export function withLongTexts(json: string, bytes: Buffer): Buffer {
  const parts = json.split(marked);
  if (parts.length === 1) return Buffer.from(json);
  const texts = longTexts(bytes);
  return Buffer.concat(
    parts.map((part, index) => {
      const text = index % 2 === 1 ? texts[Number(part)] : undefined;
      return text === undefined ? Buffer.from(part) : bytes.subarray(...text);
    }),
  );
}
