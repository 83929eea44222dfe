import { isObject, type JsonObject, type JsonValue } from './json.js';

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

/** A chunk may be larger, and is then read as any other. */
const longest = 4096;

export class ChunkPattern {
  private constructor(
    /** All up to the words, up to the noise after them if there is some, and to the end. */
    private readonly parts: readonly Buffer[],
  ) {}

  /**
   * The pattern of a chunk that was passed on as it came: one choice that goes on, with words in one member and nothing
   * else to be counted or remembered. null: it is none of these.
   */
  static of(chunk: JsonObject, bytes: Buffer, start: number, end: number): ChunkPattern | null {
    if (end - start > longest) return null;
    const member = memberOf(chunk);
    if (member === null) return null;
    // A name or a word that is written with escapes could be anything.
    const escaped = bytes.indexOf(backslash, start);
    if (escaped !== -1 && escaped < end) return null;
    const frame = Buffer.from(bytes.subarray(start, end));
    const words = textAt(frame, member);
    if (words === null) return null;
    const after = noise in chunk ? textAt(frame, noise) : null;
    if (noise in chunk && (after === null || after.from < words.to)) return null;
    const parts = [frame.subarray(0, words.from)];
    if (after === null) parts.push(frame.subarray(words.to));
    else parts.push(frame.subarray(words.to, after.from), frame.subarray(after.to));
    return new ChunkPattern(parts);
  }

  /** The words of a frame that is made like this; null: it is not. */
  wordsIn(bytes: Buffer, start: number, end: number): string | null {
    const { parts } = this;
    let at = start;
    let from = start;
    let to = start;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as Buffer;
      const behind = at + part.length;
      if (behind > end || bytes.compare(part, 0, part.length, at, behind) !== 0) return null;
      at = behind;
      if (index === parts.length - 1) break;
      while (at < end && isPlain(bytes[at] as number)) at++;
      if (index === 0) {
        from = behind;
        to = at;
      }
    }
    return at === end ? bytes.toString('utf8', from, to) : null;
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
