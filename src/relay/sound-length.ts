import type { NoRoom } from '../http/body-room.js';
import { type SoundFormat, SoundFormats } from './sound-format.js';

/* How long a sound file lasts: what it says, and, because it may lie, how short so many bytes cannot be. */

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

/** Uncompressed, a second takes no more than this; what is compressed without loss takes less. */
const rawRate = ({ sampleRate = 0, numberOfChannels = 0, bitsPerSample = 0 }: SoundFormat): number =>
  (sampleRate * numberOfChannels * bitsPerSample) / 8;

/** Bytes that a second takes at most, as far as the format tells. */
function densestOf(format: SoundFormat | null): number {
  if (format?.hasVideo) return densestFilm;
  return Math.max((format?.lossless && rawRate(format)) || 0, densestSound);
}

export class SoundLengths {
  private readonly formats = new SoundFormats();

  /** Why no file of this holder should be brought for now; null: it may be. */
  noRoomFor(holder: number): NoRoom | null {
    return this.formats.noRoomFor(holder);
  }

  async of(bytes: Uint8Array, holder: number): Promise<SoundLength> {
    const format = await this.formats.of(bytes, holder);
    const duration = format?.duration;
    const said = duration !== undefined && duration > 0 ? Math.min(duration, longest) : null;
    const expected = Math.ceil(Math.max(said ?? bytes.length / usualSound, bytes.length / densestOf(format)));
    return { said, expected, most: Math.max(bytes.length / thinnestSound, expected) };
  }
}
