import type { JsonObject } from '../../json/json.js';
import type { Frame } from '../../upstream/sse.js';
import { AccumulatedText } from '../accumulated-text.js';
import type { Like } from '../chunk-pattern.js';

/*
 * Nearly every event of a response says more of the item that the one before spoke of. Where nothing differs but the
 * words, the number of the event and noise that hides how long the words are, nothing needs to be parsed.
 */

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const colon = 0x3a;
const zero = 0x30;
const nine = 0x39;
/** Of the marks of a frame: an empty line behind it. */
const closing = 2;

/** A longer frame is read as any other. */
const maxLength = 4096;

type Slot = 'words' | 'noise' | 'number';

interface Place {
  readonly slot: Slot;
  readonly from: number;
  readonly to: number;
}

const isPlain = (byte: number): boolean => byte >= space && byte !== quote && byte !== backslash;
const isDigit = (byte: number): boolean => byte >= zero && byte <= nine;

function slotEnd(bytes: Buffer, from: number, slot: Slot): number {
  const belongs = slot === 'number' ? isDigit : isPlain;
  let at = from;
  while (at < bytes.length && belongs(bytes[at] as number)) at++;
  return at;
}

/** Where the value of a member stands; null: the frame names it more than once, or writes it in an unusual way. */
function placeOf(frame: Buffer, member: string, slot: Slot): Place | null {
  const name = `"${member}"`;
  const at = frame.indexOf(name);
  if (at === -1 || frame.indexOf(name, at + 1) !== -1) return null;
  let from = at + name.length;
  if (frame[from++] !== colon) return null;
  if (frame[from] === space) from++;
  if (slot !== 'number' && frame[from++] !== quote) return null;
  const to = slotEnd(frame, from, slot);
  const ends = slot === 'number' ? to > from : frame[to] === quote;
  return ends ? { slot, from, to } : null;
}

/** Members that may differ between events that are alike. */
const slots: readonly (readonly [member: string, slot: Slot])[] = [
  ['delta', 'words'],
  ['sequence_number', 'number'],
  ['obfuscation', 'noise'],
];

export class EventPattern {
  private constructor(
    /** What is the same in each of them, and what stands between: the first part begins the frame. */
    private readonly parts: readonly Buffer[],
    private readonly between: readonly Slot[],
  ) {}

  /** Of an event in the usual spelling whose `delta` is a text; null: it is written in an unusual way. */
  static of(event: JsonObject, { bytes, from, end }: Frame): EventPattern | null {
    if (end + closing - from > maxLength) return null;
    const frame = Buffer.from(bytes.subarray(from, end + closing));
    // A name or a word that is written with escapes could be anything.
    if (frame.includes(backslash)) return null;
    const places: Place[] = [];
    for (const [member, slot] of slots) {
      if (event[member] === undefined) continue;
      const place = placeOf(frame, member, slot);
      if (place === null) return null;
      places.push(place);
    }
    places.sort((one, other) => one.from - other.from);
    const starts = [0, ...places.map(({ to }) => to)];
    const ends = [...places.map((place) => place.from), frame.length];
    return new EventPattern(
      starts.map((start, at) => frame.subarray(start, ends[at])),
      places.map(({ slot }) => slot),
    );
  }

  /** The frames that follow each other from `at` on and are made like this; null: there is none. */
  framesIn(bytes: Buffer, at: number): Like | null {
    const { parts, between } = this;
    const words = new AccumulatedText();
    let end = at;
    frames: for (;;) {
      let next = end;
      let from = end;
      let to = end;
      for (let index = 0; index < parts.length; index++) {
        const part = parts[index] as Buffer;
        const behind = next + part.length;
        if (behind > bytes.length || bytes.compare(part, 0, part.length, next, behind) !== 0) break frames;
        next = behind;
        const slot = between[index];
        if (slot === undefined) break;
        next = slotEnd(bytes, behind, slot);
        if (slot === 'number' && next === behind) break frames;
        if (slot === 'words') {
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
