import { AccumulatedText } from './accumulated-text.js';

/*
 * Nearly every frame of a stream says what the one before said, but for the words. Where just these differ nothing needs
 * to be parsed: the bytes around the words are the same, so they say the same.
 */

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const colon = 0x3a;
const zero = 0x30;
const nine = 0x39;

/** A longer frame is read as any other. */
export const maxPatternLength = 4096;

/** What may differ between frames that are alike. `noise`: a text that means nothing, such as what hides how long words are. */
export type Slot = 'words' | 'noise' | 'number';

/** Where the value of a member stands in a frame. */
export interface Place {
  readonly slot: Slot;
  readonly from: number;
  readonly to: number;
}

/** Frames that are alike. */
export interface Like {
  /** Where the last of them ends. */
  readonly end: number;
  /** Of all of them. */
  readonly words: string;
}

/** Where a text without escapes ends that begins at `from`. */
export function plainEnd(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte < space || byte === quote || byte === backslash) break;
  }
  return at;
}

function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte < zero || byte > nine) break;
  }
  return at;
}

/** null: the frame names the member more than once, or writes it in an unusual way. */
export function slotPlace(frame: Buffer, member: string, slot: Slot): Place | null {
  const name = `"${member}"`;
  const at = frame.indexOf(name);
  if (at === -1 || frame.indexOf(name, at + 1) !== -1) return null;
  let from = at + name.length;
  if (frame[from++] !== colon) return null;
  if (frame[from] === space) from++;
  if (slot === 'number') {
    const to = digitsEnd(frame, from);
    return to > from ? { slot, from, to } : null;
  }
  if (frame[from++] !== quote) return null;
  const to = plainEnd(frame, from);
  return frame[to] === quote ? { slot, from, to } : null;
}

/** A name or a word that is written with escapes could be anything. */
export const hasEscapes = (frame: Buffer): boolean => frame.includes(backslash);

export class FramePattern {
  /** What is the same in each of them; the first part begins the frame. */
  private readonly parts: readonly Buffer[];
  /** What stands between the parts. */
  private readonly between: readonly Slot[];

  /** `frame`: its own copy, marks and all. `places`: of what may differ in it, at most one of them words. */
  constructor(frame: Buffer, places: readonly Place[]) {
    const inOrder = [...places].sort((one, other) => one.from - other.from);
    const ends = [...inOrder.map(({ from }) => from), frame.length];
    // Not added one by one: a list that has grown keeps room for more, as long as its stream is open.
    this.parts = ends.map((end, at) => frame.subarray(inOrder[at - 1]?.to ?? 0, end));
    this.between = inOrder.map(({ slot }) => slot);
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
        const slot = between[index];
        next = behind;
        if (slot === undefined) break;
        next = slot === 'number' ? digitsEnd(bytes, behind) : plainEnd(bytes, behind);
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
