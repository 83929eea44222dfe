/*
 * How deeply a JSON text is nested and how many values it holds, found before it is parsed: parsing makes up to twenty
 * times its size of a text that is nothing but brackets, and what walks over the result may run out of stack. The text
 * comes in pieces, cut anywhere; whether it is JSON at all is for the parser to say.
 */

interface ShapeLimits {
  readonly depth: number;
  /** Values and names: every one has a comma, a colon or a bracket. */
  readonly parts: number;
}

export type ShapeExcess = 'too-deep' | 'too-many-parts';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Strings are looked through one by one so far; the rest of a longer one is searched, which is ten times as fast. */
const shortString = 32;

export class JsonShape {
  private depth = 0;
  private parts = 0;
  /** Of members, so far. */
  names = 0;
  private inString = false;
  /** The last piece ended inside a string, after a backslash that takes the next character with it. */
  private escaped = false;

  constructor(private readonly limits: ShapeLimits) {}

  /** The first excess; null: none so far. */
  take(piece: Uint8Array): ShapeExcess | null {
    const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    let at = 0;
    if (this.inString) at = this.afterString(text, 0);
    for (; at < text.length; at++) {
      switch (text[at]) {
        case quote:
          at = this.afterString(text, at + 1) - 1;
          break;
        case openList:
        case openObject:
          if (++this.depth > this.limits.depth) return 'too-deep';
          if (++this.parts > this.limits.parts) return 'too-many-parts';
          break;
        case closeList:
        case closeObject:
          this.depth--;
          break;
        case colon:
          this.names++;
          if (++this.parts > this.limits.parts) return 'too-many-parts';
          break;
        case comma:
          if (++this.parts > this.limits.parts) return 'too-many-parts';
      }
    }
    return null;
  }

  /** The place after the quote that ends the string; the end of the piece when it goes on. */
  private afterString(text: Buffer, from: number): number {
    this.inString = true;
    let at = from;
    if (this.escaped && at < text.length) {
      at++;
      this.escaped = false;
    }
    const searchFrom = Math.min(at + shortString, text.length);
    while (at < searchFrom) {
      const byte = text[at++];
      if (byte === quote) {
        this.inString = false;
        return at;
      }
      if (byte === backslash) at++;
    }
    // Past the end when an escape was cut: the next piece begins with the character it takes.
    if (at > text.length) {
      this.escaped = true;
      return text.length;
    }
    const start = at;
    while (at < text.length) {
      const end = text.indexOf(quote, at);
      const stop = end < 0 ? text.length : end;
      let escapes = 0;
      while (stop - escapes > start && text[stop - escapes - 1] === backslash) escapes++;
      const taken = escapes % 2 === 1;
      if (end < 0) {
        this.escaped = taken;
        return text.length;
      }
      at = end + 1;
      if (taken) continue;
      this.inString = false;
      return at;
    }
    return text.length;
  }
}
