import { setImmediate as nextTurn } from 'node:timers/promises';
import { type IFormat, parseFromTokenizer } from 'music-metadata';
import { AbstractTokenizer, EndOfStreamError, type IReadChunkOptions } from 'strtok3';

/*
 * How long a sound file lasts. What its headers say is found by a library that knows the formats, on bytes that are
 * here, within a bounded amount of work done in small pieces. Headers may lie, so its bytes say how short it cannot be.
 */

export interface SoundLength {
  /** Seconds, as the file says; null: it does not, or is of no known format. */
  readonly said: number | null;
  /** Whole seconds, as far as can be told before anybody has heard it; never fewer than so many bytes last. */
  readonly expected: number;
  /** Seconds that so many bytes last at most, or what the file says where that is more. */
  readonly most: number;
}

/** What a second takes at most, in bytes: compressed sound, and film with sound. */
const densestSound = 64_000;
const densestFilm = 1_000_000;
/** What a second takes of a file that does not say how long it lasts: speech, compressed as closely as people do. */
const usualSound = 2_000;
/** What a second of speech takes at least. Only silence takes less. */
const thinnestSound = 500;
/** Nothing lasts longer, whatever its header says: a product with it stays in the range of exact integers. */
const longest = 10_000_000;

/** Reads between two turns of everybody else; they take two milliseconds. */
const readsPerTurn = 500;
/** Files as people make them need no more: so many, and one per so many bytes. */
const usualReads = 4_096;
const bytesPerRead = 32;
const mostReads = 500_000;

/** A file in memory that can be read so often and no oftener. */
class RationedFile extends AbstractTokenizer {
  readonly fileInfo: { readonly size: number };
  private left: number;

  constructor(private readonly bytes: Uint8Array) {
    super();
    this.fileInfo = { size: bytes.length };
    this.left = Math.min(usualReads + Math.floor(bytes.length / bytesPerRead), mostReads);
  }

  supportsRandomAccess(): boolean {
    return true;
  }

  setPosition(position: number): void {
    this.position = position;
  }

  async readBuffer(into: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const at = options?.position ?? this.position;
    const read = await this.peekBuffer(into, options);
    this.position = at + read;
    return read;
  }

  async peekBuffer(into: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    if (--this.left < 0) throw new Error('too much work for a file of this size');
    if (this.left % readsPerTurn === 0) await nextTurn();
    const { length, position, mayBeLess } = this.normalizeOptions(into, options ?? {});
    const found = this.bytes.subarray(position, position + length);
    if (found.length < length && !mayBeLess) throw new EndOfStreamError();
    into.set(found);
    return found.length;
  }
}

/** null: of no known format, or damaged. */
async function formatOf(bytes: Uint8Array): Promise<IFormat | null> {
  try {
    const { format } = await parseFromTokenizer(new RationedFile(bytes), {
      duration: true,
      skipCovers: true,
      skipPostHeaders: true,
    });
    return format;
  } catch {
    return null;
  }
}

/** Uncompressed, a second takes no more than this; what is compressed without loss takes less. */
const rawRate = ({ sampleRate = 0, numberOfChannels = 0, bitsPerSample = 0 }: IFormat): number =>
  (sampleRate * numberOfChannels * bitsPerSample) / 8;

/** Bytes that a second takes at most, as far as the format tells. */
function densestOf(format: IFormat | null): number {
  if (format?.hasVideo) return densestFilm;
  return Math.max((format?.lossless && rawRate(format)) || 0, densestSound);
}

async function lengthOf(bytes: Uint8Array): Promise<SoundLength> {
  const format = await formatOf(bytes);
  const duration = format?.duration;
  const said = duration !== undefined && duration > 0 ? Math.min(duration, longest) : null;
  const expected = Math.ceil(Math.max(said ?? bytes.length / usualSound, bytes.length / densestOf(format)));
  return { said, expected, most: Math.max(bytes.length / thinnestSound, expected) };
}

/** One file at a time is looked at: the work of many at once would add up. */
export class SoundLengths {
  private last: Promise<unknown> = Promise.resolve();

  of(bytes: Uint8Array): Promise<SoundLength> {
    const found = this.last.then(() => lengthOf(bytes));
    this.last = found;
    return found;
  }
}
