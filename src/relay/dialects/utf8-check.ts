import { isUtf8 } from 'node:buffer';

/** Of the character that begins with this byte; 1 also where none does. */
const lengthFrom = (first: number): number => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);

/** Where a character begins that the end of the piece has cut; the length of the piece: nowhere. */
function cutIn(piece: Uint8Array): number {
  const { length } = piece;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = piece[length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return lengthFrom(byte) > back ? length - back : length;
  }
  return length;
}

const nothing = Buffer.alloc(0);

/** Whether a text that comes in pieces, cut anywhere, is UTF-8. */
export class Utf8Check {
  /** The beginning of a character that was cut. */
  private cut = nothing;

  /** false: it is not, whatever comes. */
  take(piece: Uint8Array): boolean {
    let rest = piece;
    if (this.cut.length > 0) {
      const missing = lengthFrom(this.cut[0] ?? 0) - this.cut.length;
      const whole = Buffer.concat([this.cut, piece.subarray(0, missing)]);
      if (piece.length < missing) {
        this.cut = whole;
        return true;
      }
      this.cut = nothing;
      if (!isUtf8(whole)) return false;
      rest = piece.subarray(missing);
    }
    const end = cutIn(rest);
    if (end === rest.length) return isUtf8(rest);
    // A copy: what is left of a piece would keep all of it in memory.
    this.cut = Buffer.from(rest.subarray(end));
    return isUtf8(rest.subarray(0, end));
  }

  /** Whether the text may end here. */
  get isWhole(): boolean {
    return this.cut.length === 0;
  }
}
