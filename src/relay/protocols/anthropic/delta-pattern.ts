import type { Frame } from '../../upstream/sse.js';
import { AccumulatedText } from '../accumulated-text.js';
import { type Like, maxPatternLength, plainEnd } from '../frame-pattern.js';

/*
 * Nearly every event of a stream says more of the block that the one before spoke of. Where nothing differs but the words
 * nothing needs to be parsed; Anthropic pads such events with blanks before their last bracket.
 */

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const closes = 0x7d;
const lineFeed = 0x0a;

/** By the type of a delta: the member that holds its words. */
export const wordsOfDelta: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

export class DeltaPattern {
  private constructor(
    /** The frame, marks and all, up to the words. */
    private readonly beginning: Buffer,
  ) {}

  /**
   * Of a frame in the usual spelling, with a delta whose words stand in `member`; null: it is written in an unusual way.
   */
  static of({ bytes, from, start, end }: Frame, member: string): DeltaPattern | null {
    if (end - from > maxPatternLength) return null;
    const opening = `"${member}":"`;
    const at = bytes.indexOf(opening, start);
    if (at === -1 || at >= end) return null;
    const pattern = new DeltaPattern(Buffer.from(bytes.subarray(from, at + opening.length)));
    // What the beginning promises must hold for this very frame, words and all that follows them.
    const words = plainEnd(bytes, from + pattern.beginning.length);
    return pattern.beginning.includes(backslash) || frameEnd(bytes, words) !== end + 2 ? null : pattern;
  }

  /** The frames that follow each other from `at` on and are made like this; null: there is none. */
  framesIn(bytes: Buffer, at: number): Like | null {
    const { beginning } = this;
    const words = new AccumulatedText();
    let end = at;
    for (;;) {
      const from = end + beginning.length;
      if (from > bytes.length || bytes.compare(beginning, 0, beginning.length, end, from) !== 0) break;
      const to = plainEnd(bytes, from);
      const next = frameEnd(bytes, to);
      if (next === -1) break;
      words.add(bytes, from, to);
      end = next;
    }
    return end === at ? null : { end, words: words.take() };
  }
}

/** Where the frame ends whose words end at `words`, with nothing after them but the ends of delta and event; −1: there is more. */
function frameEnd(bytes: Buffer, words: number): number {
  let at = words;
  if (bytes[at++] !== quote) return -1;
  let open = 2;
  for (; at < bytes.length; at++) {
    if (bytes[at] === closes) open--;
    else if (bytes[at] !== space) break;
  }
  return open === 0 && bytes[at] === lineFeed && bytes[at + 1] === lineFeed ? at + 2 : -1;
}
