const newline = 10;

/** Counts the blank lines that end frames, wherever the stream is cut. */
export class FrameCounter {
  private atNewline = false;

  in(chunk: Buffer): number {
    let frames = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
      const afterNewline = at === 0 ? this.atNewline : chunk[at - 1] === newline;
      if (afterNewline) frames++;
    }
    this.atNewline = chunk.at(-1) === newline;
    return frames;
  }
}
