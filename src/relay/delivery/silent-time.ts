/*
 * How long a stream's upstream may have worked without anybody seeing of it: until its first word, and in pauses between
 * words. What comes after the caller has left does not count: it is read for the usage alone.
 */

/** Milliseconds. Words that flow come closer together than this, whatever the network does. */
const maxGap = 2_000;

interface Silence {
  /** What came while the caller was there. */
  readonly seenTokens: number;
  readonly silentMs: number;
}

export class SilentTime {
  private silent = 0;
  private length = 0;
  /** When the last words came. */
  private last = 0;
  private seenWhenLeft: number | null = null;

  /** `elapsed`: milliseconds since the call began, as long as the caller was there. `seen`: output tokens that have come. */
  constructor(
    private readonly elapsed: () => number,
    private readonly seen: () => number,
  ) {}

  /** So many characters have come by now. */
  said(length: number): void {
    if (length === this.length || this.seenWhenLeft !== null) return;
    const now = this.elapsed();
    this.silent += this.gapUntil(now);
    this.length = length;
    this.last = now;
  }

  /** We have kept upstream waiting: no word could come. */
  resumed(): void {
    if (this.length > 0 && this.seenWhenLeft === null) this.last = this.elapsed();
  }

  /** The caller has gone. */
  left(): void {
    if (this.seenWhenLeft !== null) return;
    this.silent += this.gapUntil(this.elapsed());
    this.seenWhenLeft = this.seen();
  }

  /** Nothing of it grows once the caller has left. */
  end(): Silence {
    if (this.seenWhenLeft === null) this.left();
    return { seenTokens: this.seenWhenLeft ?? 0, silentMs: this.silent };
  }

  private gapUntil(now: number): number {
    const gap = now - this.last;
    return this.length === 0 || gap > maxGap ? gap : 0;
  }
}
