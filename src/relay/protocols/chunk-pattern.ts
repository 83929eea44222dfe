import { isObject, type JsonObject, type JsonValue } from '../json/json.js';
import { AccumulatedText } from './accumulated-text.js';

/*
 * Nearly every chunk of a stream says what the one before said, but for the words. Where just these differ nothing needs
 * to be parsed: the bytes around the words are the same, so they say the same.
 */

/** Members that carry words, of which a chunk may have one. `reasoning` is none of them: it may have to be copied. */
const wordy: readonly string[] = ['content', 'reasoning_content'];
/** Noise by which OpenAI hides how long the words are; it means nothing. */
const noise = 'obfuscation';

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;

/** Of the marks of a frame: `data: ` before it, an empty line behind it. */
const opening = 6;
const closing = 2;

/** A chunk may be larger, and is then read as any other. */
const maxLength = 4096;

/** Frames that are alike. */
export interface Like {
  /** Where the last of them ends. */
  readonly end: number;
  /** Of all of them. */
  readonly words: string;
}

export class ChunkPattern {
  private constructor(
    /** The frame, marks and all, up to the words, up to the noise after them if there is some, and to the end. */
    private readonly parts: readonly Buffer[],
  ) {}

  /**
   * The pattern of a chunk that was passed on as it came: one choice that goes on, with words in one member and nothing
   * else to be counted or remembered. It lies in `bytes[start..end)`, and its frame's marks before and behind it. null:
   * it is none of these.
   */
  static of(chunk: JsonObject, bytes: Buffer, start: number, end: number): ChunkPattern | null {
    if (end - start > maxLength) return null;
    const member = memberOf(chunk);
    if (member === null) return null;
    // A name or a word that is written with escapes could be anything.
    const escaped = bytes.indexOf(backslash, start);
    if (escaped !== -1 && escaped < end) return null;
    const frame = Buffer.from(bytes.subarray(start - opening, end + closing));
    const words = textAt(frame, member);
    if (words === null) return null;
    const after = noise in chunk ? textAt(frame, noise) : null;
    if (noise in chunk && (after === null || after.from < words.to)) return null;
    const before = frame.subarray(0, words.from);
    // Not added one by one: a list that has grown keeps room for more, as long as its stream is open.
    return new ChunkPattern(
      after === null
        ? [before, frame.subarray(words.to)]
        : [before, frame.subarray(words.to, after.from), frame.subarray(after.to)],
    );
  }

  /** The frames that follow each other from `at` on and are made like this; null: there is none. */
  framesIn(bytes: Buffer, at: number): Like | null {
    const { parts } = this;
    let end = at;
    const words = new AccumulatedText();
    frames: for (;;) {
      let next = end;
      let from = end;
      let to = end;
      for (let index = 0; index < parts.length; index++) {
        const part = parts[index] as Buffer;
        const behind = next + part.length;
        if (behind > bytes.length || bytes.compare(part, 0, part.length, next, behind) !== 0) break frames;
        next = behind;
        if (index === parts.length - 1) break;
        while (next < bytes.length && isPlain(bytes[next] as number)) next++;
        if (index === 0) {
          from = behind;
          to = next;
        }
      }
      end = next;
      words.add(bytes, from, to);
    }
    return end === at ? null : { end, words: words.take() };
  }
}

const isPlain = (byte: number): boolean => byte >= firstPrintable && byte !== quote && byte !== backslash;

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

/** Where the text of the member stands; null: the frame names it more than once, or writes it in an unusual way. */
function textAt(frame: Buffer, member: string): { from: number; to: number } | null {
  const name = `"${member}"`;
  const at = frame.indexOf(name);
  if (at === -1 || frame.indexOf(name, at + 1) !== -1) return null;
  let from = at + name.length;
  if (frame[from++] !== 0x3a) return null;
  if (frame[from] === firstPrintable) from++;
  if (frame[from++] !== quote) return null;
  const to = frame.indexOf(quote, from);
  return to === -1 ? null : { from, to };
}
