import { ChunkBuffer } from './chunk-buffer.js';

/* Bytes ↔ frames: the whole grammar of server-sent events, and nothing about what the frames mean. */

const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const BOM = [0xef, 0xbb, 0xbf] as const;
const DATA = [0x64, 0x61, 0x74, 0x61] as const;
const DATA_PREFIX = Buffer.from('data: ');
const EVENT_PREFIX = Buffer.from('event: ');
const LINE_END = Buffer.from('\n');
const FRAME_END = Buffer.from('\n\n');

/** Longest line, and most data in one frame, in bytes. */
export const maxLineLength = 16 * 1024 * 1024;
/** Most lines of data in one frame. Each takes memory, also one of no length. */
export const maxDataLines = 4096;

/** The other side sends a line, or a frame, without end. */
export class LineTooLong extends Error {
  constructor() {
    super(`A frame of the stream has more bytes than are taken, or more than ${maxDataLines} lines`);
    this.name = 'LineTooLong';
  }
}

/**
 * One frame's data is `bytes[start..end)`. Written as plain `data: …` (perhaps after `event: …`) and a blank line, the
 * frame is `bytes[from..end + 2)`, its data line from `start - 6`. `from` −1: it came in another spelling (CRLF,
 * comments, several data lines, cut by the network) and must be written anew to be passed on.
 */
export interface Frame {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly from: number;
}

export interface FrameReader {
  /** The members of a `Frame`, in a row: most frames are read without one being made. */
  frame(bytes: Buffer, start: number, end: number, from: number): void;
  /**
   * Asked first wherever a frame may begin, at `at`: takes the frames there that it knows without being given where
   * they end, and says where the next one begins; `at`, when it knows none. Left out: it never does.
   */
  known?(bytes: Buffer, at: number): number;
}

function begins(bytes: Buffer, at: number, prefix: Buffer): boolean {
  for (let index = 0; index < prefix.length; index++) if (bytes[at + index] !== prefix[index]) return false;
  return true;
}

/**
 * Takes a stream in chunks cut anywhere and calls the reader for each complete frame. Cuts only at line ends, so never
 * inside a character. Of the chunks it is given it keeps nothing but what belongs to an incomplete frame.
 */
export class SseDecoder {
  private readonly partial = new ChunkBuffer();
  private data: Buffer[] = [];
  private dataLength = 0;
  /** The first of the data lines are copies: they outlive their chunk, and must not keep all of it. */
  private copied = 0;
  private bomSeen = 0;
  private skipLineFeed = false;

  /** `maxLength`: of a line, and of the data in one frame, in bytes. */
  constructor(
    private readonly reader: FrameReader,
    private readonly maxLength = maxLineLength,
  ) {}

  /** Bytes kept of a frame that is not complete. */
  get unfinished(): number {
    return this.partial.length + this.dataLength;
  }

  /** Throws LineTooLong. */
  push(chunk: Buffer): void {
    this.read(chunk);
    for (; this.copied < this.data.length; this.copied++)
      this.data[this.copied] = Buffer.from(this.data[this.copied] ?? LINE_END);
  }

  private read(chunk: Buffer): void {
    let at = this.bomSeen < BOM.length ? this.afterBom(chunk) : 0;
    if (this.skipLineFeed && at < chunk.length) {
      this.skipLineFeed = false;
      if (chunk[at] === LF) at++;
    }
    // Looked for once per chunk, not once per line: most streams have none.
    let carriageReturn = chunk.indexOf(CR, at);
    while (at < chunk.length) {
      if (this.partial.length === 0 && this.data.length === 0) {
        const known = this.reader.known?.(chunk, at) ?? at;
        const after = known > at ? known : this.plainFrame(chunk, at, carriageReturn);
        if (after > at) {
          at = after;
          continue;
        }
      }
      const lineFeed = chunk.indexOf(LF, at);
      if (carriageReturn !== -1 && carriageReturn < at) carriageReturn = chunk.indexOf(CR, at);
      const end = carriageReturn !== -1 && (lineFeed === -1 || carriageReturn < lineFeed) ? carriageReturn : lineFeed;
      if (end === -1) {
        this.keep(chunk, at);
        return;
      }
      this.completeLine(chunk, at, end);
      at = end + 1;
      if (end !== carriageReturn) continue;
      if (at === chunk.length) this.skipLineFeed = true;
      else if (chunk[at] === LF) at++;
    }
  }

  /** The stream has ended: what is left counts as complete, though no blank line came. */
  end(): void {
    if (this.partial.length > 0) this.completeLine(Buffer.alloc(0), 0, 0);
    this.dispatch();
  }

  /** The common case, without a copy: the frame lies whole in the chunk, spelled the usual way. */
  private plainFrame(chunk: Buffer, at: number, carriageReturn: number): number {
    let line = at;
    if (begins(chunk, at, EVENT_PREFIX)) {
      line = chunk.indexOf(LF, at) + 1;
      if (line === 0) return at;
    }
    if (!begins(chunk, line, DATA_PREFIX)) return at;
    const start = line + DATA_PREFIX.length;
    const end = chunk.indexOf(LF, start);
    if (end === -1 || chunk[end + 1] !== LF || (carriageReturn !== -1 && carriageReturn < end)) return at;
    this.reader.frame(chunk, start, end, at);
    return end + 2;
  }

  private afterBom(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.bomSeen < BOM.length) {
      if (chunk[at] !== BOM[this.bomSeen]) {
        // The start of a mark that is none belongs to the first line.
        if (this.bomSeen > 0) this.keep(Buffer.from(BOM.slice(0, this.bomSeen)), 0);
        this.bomSeen = BOM.length;
        return at;
      }
      at++;
      this.bomSeen++;
    }
    return at;
  }

  private keep(chunk: Buffer, from: number): void {
    if (this.partial.length + chunk.length - from > this.maxLength) throw new LineTooLong();
    this.partial.add(from === 0 ? chunk : Buffer.from(chunk.subarray(from)));
  }

  private completeLine(chunk: Buffer, start: number, end: number): void {
    if (this.partial.length === 0) {
      this.line(chunk, start, end);
      return;
    }
    this.keep(chunk.subarray(start, end), 0);
    const line = this.partial.take();
    this.line(line, 0, line.length);
  }

  private line(bytes: Buffer, start: number, end: number): void {
    if (start === end) {
      this.dispatch();
      return;
    }
    for (let index = 0; index < DATA.length; index++) if (bytes[start + index] !== DATA[index]) return;
    let from = start + DATA.length;
    // A field name alone is a field with nothing in it; anything else after the name is another field.
    if (from < end) {
      if (bytes[from] !== COLON) return;
      from++;
      if (from < end && bytes[from] === SPACE) from++;
    }
    this.dataLength += end - from + 1;
    if (this.dataLength > this.maxLength || this.data.length === maxDataLines) throw new LineTooLong();
    this.data.push(bytes.subarray(from, end));
  }

  private dispatch(): void {
    const { data } = this;
    if (data.length === 0) return;
    this.data = [];
    this.dataLength = 0;
    this.copied = 0;
    const [first = LINE_END, ...others] = data;
    const whole = others.length === 0 ? first : Buffer.concat([first, ...others.flatMap((line) => [LINE_END, line])]);
    this.reader.frame(whole, 0, whole.length, -1);
  }
}

/** One event that says what the text does, as JSON: an end of a line can only stand where a blank can. */
export function eventOf(text: Buffer, name: string | null = null): Buffer {
  const prefix = name === null ? DATA_PREFIX : Buffer.from(`event: ${name}\ndata: `);
  const event = Buffer.concat([prefix, text, FRAME_END]);
  const end = event.length - FRAME_END.length;
  for (const lineEnd of [LF, CR])
    for (let at = event.indexOf(lineEnd, prefix.length); at !== -1 && at < end; at = event.indexOf(lineEnd, at))
      event[at] = SPACE;
  return event;
}

/** Collects what goes out of one step into one buffer; neighbouring parts of one source are not copied. */
export class Outgoing {
  private parts: Buffer[] = [];
  private source: Buffer | null = null;
  private start = 0;
  private end = 0;

  /** Passes on `source[start..end)`. */
  pass(source: Buffer, start: number, end: number): void {
    if (source === this.source && start === this.end) {
      this.end = end;
      return;
    }
    this.flush();
    this.source = source;
    this.start = start;
    this.end = end;
  }

  /** Writes data as a frame of its own. The data holds no line end. */
  frame(data: Buffer): void {
    this.flush();
    this.parts.push(DATA_PREFIX, data, FRAME_END);
  }

  /** Writes a frame, marks and all. */
  whole(frame: Buffer): void {
    this.flush();
    this.parts.push(frame);
  }

  /** null: nothing was collected. */
  take(): Buffer | null {
    this.flush();
    const { parts } = this;
    if (parts.length === 0) return null;
    this.parts = [];
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  private flush(): void {
    if (this.source === null) return;
    this.parts.push(this.source.subarray(this.start, this.end));
    this.source = null;
  }
}
