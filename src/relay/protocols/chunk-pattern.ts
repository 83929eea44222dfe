import { isObject, type JsonObject, type JsonValue } from '../json/json.js';
import { FramePattern, hasEscapes, maxPatternLength, slotPlace } from './frame-pattern.js';

/** Members that carry words, of which a chunk may have one. `reasoning` is none of them: it may have to be copied. */
const wordy: readonly string[] = ['content', 'reasoning_content'];
/** Noise by which OpenAI hides how long the words are; it means nothing. */
const noise = 'obfuscation';

/** Of the marks of a frame: `data: ` before it, an empty line behind it. */
const opening = 6;
const closing = 2;

/**
 * The pattern of a chunk that was passed on as it came: one choice that goes on, with words in one member and nothing
 * else to be counted or remembered. It lies in `bytes[start..end)`, and its frame's marks before and behind it. null:
 * it is none of these.
 */
export function chunkPattern(chunk: JsonObject, bytes: Buffer, start: number, end: number): FramePattern | null {
  if (end - start > maxPatternLength) return null;
  const member = memberOf(chunk);
  if (member === null) return null;
  const frame = Buffer.from(bytes.subarray(start - opening, end + closing));
  if (hasEscapes(frame)) return null;
  const words = slotPlace(frame, member, 'words');
  if (words === null) return null;
  if (!(noise in chunk)) return new FramePattern(frame, [words]);
  const after = slotPlace(frame, noise, 'noise');
  return after === null || after.from < words.to ? null : new FramePattern(frame, [words, after]);
}

const isNothing = (value: JsonValue | undefined): boolean => value === null || value === undefined;

/** The member of its one choice that carries the words; null: the chunk says something else, or something more. */
function memberOf({ choices, usage }: JsonObject): string | null {
  const [choice, ...others] = Array.isArray(choices) ? (choices as readonly JsonValue[]) : [];
  if (!isObject(choice) || others.length > 0 || isObject(usage) || isObject(choice.usage)) return null;
  const { delta, message, text, finish_reason: reason } = choice;
  if (!isObject(delta) || !isNothing(message) || !isNothing(text) || !isNothing(reason)) return null;
  let found: string | null = null;
  for (const [name, value] of Object.entries(delta)) {
    if (isNothing(value) || name === 'role') continue;
    if (found !== null || typeof value !== 'string' || !wordy.includes(name)) return null;
    found = name;
  }
  return found;
}
