/*
 * Nearly every event of a stream says more of the block that the one before spoke of. Where nothing differs but the words
 * nothing needs to be parsed; Anthropic pads such events with blanks before their last bracket.
 */

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const closes = 0x7d;

/** A longer frame is read as any other. */
const longest = 4096;

/** By the type of a delta: the member that holds its words. */
export const wordsOfDelta: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

export class DeltaPattern {
  private constructor(private readonly beginning: Buffer) {}

  /** Of a frame with a delta whose words stand in `member`; null: it is written in an unusual way. */
  static of(bytes: Buffer, start: number, end: number, member: string): DeltaPattern | null {
    if (end - start > longest) return null;
    const opening = `"${member}":"`;
    const at = bytes.indexOf(opening, start);
    if (at === -1 || at >= end) return null;
    const pattern = new DeltaPattern(Buffer.from(bytes.subarray(start, at + opening.length)));
    // What the beginning promises must hold for this very frame, words and all that follows them.
    return pattern.beginning.includes(backslash) || pattern.wordsEnd(bytes, start, end) === -1 ? null : pattern;
  }

  /** The words of a frame that is made like this; null: it is not. */
  wordsIn(bytes: Buffer, start: number, end: number): string | null {
    const { beginning } = this;
    const from = start + beginning.length;
    if (from > end || bytes.compare(beginning, 0, beginning.length, start, from) !== 0) return null;
    const to = this.wordsEnd(bytes, start, end);
    return to === -1 ? null : bytes.toString('utf8', from, to);
  }

  /** Where the words end, with nothing after them but the ends of the delta and of the event; −1: there is more. */
  private wordsEnd(bytes: Buffer, start: number, end: number): number {
    let at = start + this.beginning.length;
    while (at < end && isPlain(bytes[at] as number)) at++;
    const to = at;
    if (bytes[at++] !== quote) return -1;
    let open = 2;
    for (; at < end; at++) {
      if (bytes[at] === closes) open--;
      else if (bytes[at] !== space) return -1;
    }
    return open === 0 ? to : -1;
  }
}

const isPlain = (byte: number): boolean => byte >= space && byte !== quote && byte !== backslash;
