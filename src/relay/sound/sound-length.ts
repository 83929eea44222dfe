import type { NoRoom } from '../../http/body-room.js';
import { densestSound, type Measured, thinnestOf } from './measured.js';
import { SoundFormats } from './sound-format.js';

/* How long a sound file lasts: what is in it, and, where that cannot be found, how short so many bytes cannot be. */

export interface SoundLength {
  /** Seconds that were found in it; null: none, or it is of no known format. */
  readonly said: number | null;
  /** Whole seconds, as far as can be known before anybody has heard it; never fewer than so many bytes last. */
  readonly expected: number;
  /** Seconds that so many bytes of this codec last at most, or what the file says where that is more. */
  readonly max: number;
}

/** What a second takes of a file that does not say how long it lasts: speech, compressed as closely as people do. */
const usualSound = 2_000;
/** Nothing lasts longer, whatever its header says: a product with it stays in the range of exact integers. */
const maxSeconds = 10_000_000;
/** Seconds that encoders add at the ends. */
const padding = 0.1;

/** Begun seconds; what an encoder adds begins none. */
export const wholeSeconds = (seconds: number): number => Math.max(Math.ceil(seconds - padding), Math.sign(seconds));

const unknown = ({ length }: Uint8Array): Measured => ({
  ...{ seconds: null, bytes: length, densest: densestSound, thinnest: thinnestOf.unknown },
});

export class SoundLengths {
  private readonly formats: SoundFormats;

  /** `maxMs`: of processor time that a file of an unusual format may take. */
  constructor(maxMs?: number) {
    this.formats = new SoundFormats(maxMs);
  }

  /** Why no file of this holder should be brought for now; null: it may be. */
  noRoomFor(holder: number): NoRoom | null {
    return this.formats.noRoomFor(holder);
  }

  async of(bytes: Uint8Array, holder: number): Promise<SoundLength> {
    const found = (await this.formats.of(bytes, holder)) ?? unknown(bytes);
    const said = found.seconds === null ? null : Math.min(found.seconds, maxSeconds);
    const there = said === null ? Math.ceil(found.bytes / usualSound) : wholeSeconds(said);
    const expected = Math.max(there, Math.ceil(found.bytes / found.densest));
    // Upstreams report begun seconds, too.
    const max = Math.max(bytes.length / found.thinnest, found.announced ?? 0, expected + 1);
    return { said, expected, max: Math.min(max, maxSeconds) };
  }
}
