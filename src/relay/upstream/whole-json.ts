import type { ChunkBuffer } from './chunk-buffer.js';
import type { Progress } from './progress-watch.js';

/*
 * Looks whether a JSON answer has come to its end, for upstreams that do not end it: a length that is too large, a last
 * chunk that never comes. It is looked at a few times a second and only while it is waited for: most are never looked at.
 */

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const lineFeed = 0x0a;
const opens = new Set([0x7b, 0x5b]);
const closes = new Set([0x7d, 0x5d]);
const blanks = new Set([0x20, 0x09, lineFeed, 0x0d]);

/** Bytes of one look: more would hold up others. */
const maxAtOnce = 1024 * 1024;

interface WholeJsonPatience {
  /** Longest wait for what may follow a whole value, in milliseconds. */
  readonly settledMs: number;
  /** Longest wait for more of half a value, in milliseconds. */
  readonly idleMs: number;
}

export class WholeJson implements Progress {
  /** The answer was taken for whole although upstream has not ended it. */
  taken = false;
  /** The bytes that come, after those that have been `read` before. */
  source: ChunkBuffer | null = null;
  private meaningful = 0;
  private looked = 0;
  private before = 0;
  private depth = 0;
  private inText = false;
  private escaped = false;
  private end = 0;
  /** Behind the end: within a line that is a comment of an event stream, or at the beginning of one. */
  private inComment = false;
  private lineBegins = false;
  private more = false;

  constructor(private readonly patience: WholeJsonPatience) {}

  /** It is one object or list from its first bracket to its last, and nothing but blanks and comments comes after it. */
  get complete(): boolean {
    return this.end > 0 && !this.more;
  }

  get progress(): number {
    const { source, looked, before } = this;
    if (source === null || source.length <= looked - before) return this.meaningful;
    let left = maxAtOnce;
    for (const piece of source.from(looked - before)) {
      this.read(piece.subarray(0, left));
      left -= piece.length;
      if (left <= 0) break;
    }
    return this.meaningful;
  }

  /** Whether it is complete by all that has come. */
  caughtUp(): boolean {
    while (this.source !== null && this.source.length > this.looked - this.before) void this.progress;
    return this.complete;
  }

  get patienceMs(): number {
    const { settledMs, idleMs } = this.patience;
    return this.complete ? Math.min(settledMs, idleMs) : idleMs;
  }

  /** What was taken from upstream before the rest was waited for. */
  begin(bytes: Buffer): void {
    this.read(bytes);
    this.before = bytes.length;
  }

  /** The value alone, of all that has come. */
  valueOf(bytes: Buffer): Buffer {
    return this.taken ? bytes.subarray(0, this.end) : bytes;
  }

  private read(bytes: Buffer): void {
    for (const byte of bytes) {
      this.looked++;
      if (this.end > 0) this.behind(byte);
      else this.within(byte);
    }
  }

  private within(byte: number): void {
    if (this.inText) {
      this.meaningful++;
      if (this.escaped) this.escaped = false;
      else if (byte === backslash) this.escaped = true;
      else if (byte === quote) this.inText = false;
      return;
    }
    if (blanks.has(byte)) return;
    this.meaningful++;
    if (byte === quote) this.inText = true;
    else if (opens.has(byte)) this.depth++;
    else if (closes.has(byte) && --this.depth === 0) this.end = this.looked;
  }

  private behind(byte: number): void {
    if (byte === lineFeed) {
      this.inComment = false;
      this.lineBegins = true;
    } else if (this.inComment || blanks.has(byte)) return;
    else if (byte === colon && this.lineBegins) this.inComment = true;
    else {
      this.more = true;
      this.meaningful++;
    }
  }
}
