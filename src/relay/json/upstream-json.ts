import { parseExactly } from './exact-json.js';
import { type JsonValue, parseJson } from './json.js';
import { JsonShape } from './json-shape.js';

/*
 * JSON that an upstream wrote. Parsing makes up to fifty times its size of a text that is nothing but brackets, and what
 * walks over a deep one runs out of stack; answers are long by their words and numbers.
 */

/** Shorter texts do no harm, and most are. */
const judgedFrom = 4096;
const limits = {
  depth: 128,
  /** An answer of 2,048 vectors of 3,072 numbers has six and a half million. */
  parts: 8_000_000,
};

/** Whether the bytes, if they are JSON at all, are of a shape that an answer may have. */
export const isWellShaped = (bytes: Buffer, start: number, end: number): boolean =>
  end - start <= judgedFrom || new JsonShape(limits).take(bytes.subarray(start, end)) === null;

/**
 * The same with the digits of its numbers, for who puts it into other words. What is read here by rules of our own stands in
 * `plainTo` brackets at most.
 */
export function exactUpstreamJson(bytes: Buffer, plainTo: number): JsonValue | null {
  if (!isWellShaped(bytes, 0, bytes.length)) return null;
  return parseExactly(bytes.toString('utf8'), plainTo);
}

/** null: not JSON, or none of a shape that an answer may have. */
export const upstreamJson = (bytes: Buffer): JsonValue | null =>
  isWellShaped(bytes, 0, bytes.length) ? parseJson(bytes.toString('utf8')) : null;
