import { randomFillSync } from 'node:crypto';

/** Unpredictable bytes, one at a time. Drawn in one go: asking for each by itself costs ten times as much. */
export class RandomBytes {
  private readonly drawn = new Uint8Array(1024);
  private at = this.drawn.length;

  next(): number {
    if (this.at === this.drawn.length) {
      randomFillSync(this.drawn);
      this.at = 0;
    }
    const byte = this.drawn[this.at] ?? 0;
    // No byte is handed out twice, and what was handed out is not kept here.
    this.drawn[this.at++] = 0;
    return byte;
  }
}
