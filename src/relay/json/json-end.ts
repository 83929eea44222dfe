const quote = 0x22;
const backslash = 0x5c;
const opens = new Set([0x7b, 0x5b]);
const closes = new Set([0x7d, 0x5d]);

/** Looks whether a JSON object, which comes in pieces, has come to its end. Remembers nothing of it but how deep it is. */
export class JsonEnd {
  private depth = 0;
  /** Its first bracket has come. */
  begun = false;
  private inText = false;
  private escaped = false;

  get reached(): boolean {
    return this.begun && this.depth === 0;
  }

  add(piece: string): void {
    for (let at = 0; at < piece.length; at++) this.take(piece.charCodeAt(at));
  }

  private take(code: number): void {
    if (this.inText) {
      if (this.escaped) this.escaped = false;
      else if (code === backslash) this.escaped = true;
      else if (code === quote) this.inText = false;
      return;
    }
    if (code === quote) this.inText = true;
    else if (opens.has(code)) {
      this.begun = true;
      this.depth++;
    } else if (closes.has(code)) this.depth--;
  }
}
