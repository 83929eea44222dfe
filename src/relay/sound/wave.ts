import { compressed, type Measured, thinnestOf, uncompressed } from './measured.js';

/* WAV, and what has the same chunks with more room for sizes: RF64, BW64 and Sony's Wave64. */

const maxChunks = 10_000;
/** PCM, floating point, A-law, µ-law: as many bytes for every second. */
const uncompressedTags: ReadonlySet<number> = new Set([1, 3, 6, 7]);
/** ADPCM and GSM: blocks of so many samples. */
const blockTags: ReadonlySet<number> = new Set([2, 0x11, 0x31]);
const extensible = 0xfffe;
/** What may follow the sound: texts and marks. More is taken for sound. */
const maxBehind = 64 * 1024;

interface Format {
  readonly uncompressed: boolean;
  /** Bytes of a second. */
  readonly rate: number;
}

function formatAt(file: Buffer, at: number, size: number): Format | null {
  if (size < 16 || at + size > file.length) return null;
  let tag = file.readUInt16LE(at);
  if (tag === extensible && size >= 26) tag = file.readUInt16LE(at + 24);
  const [channels, sampleRate] = [file.readUInt16LE(at + 2), file.readUInt32LE(at + 4)];
  const bits = file.readUInt16LE(at + 14);
  if (uncompressedTags.has(tag)) return { uncompressed: true, rate: sampleRate * channels * Math.ceil(bits / 8) };
  // What writers put down as the average is often wrong where blocks say it exactly.
  const samples = blockTags.has(tag) && size >= 20 ? file.readUInt16LE(at + 18) : 0;
  const average = file.readUInt32LE(at + 8);
  return { uncompressed: false, rate: samples > 0 ? (file.readUInt16LE(at + 12) * sampleRate) / samples : average };
}

interface Chunk {
  readonly id: string;
  readonly content: number;
  readonly size: number;
  readonly next: number;
}

const large = (file: Buffer, at: number): number => Number(file.readBigUInt64LE(at));

const riffChunk = (file: Buffer, at: number): Chunk => {
  const size = file.readUInt32LE(at + 4);
  return { id: file.toString('latin1', at, at + 4), content: at + 8, size, next: at + 8 + size + (size & 1) };
};

const wave64Chunk = (file: Buffer, at: number): Chunk => {
  const size = at + 24 <= file.length ? Math.max(large(file, at + 16), 24) : 24;
  return {
    ...{ id: file.toString('latin1', at, at + 4), content: at + 24, size: size - 24 },
    next: at + Math.ceil(size / 8) * 8,
  };
};

const isRiff = /^(RIFF|RF64|BW64)$/;
const wave64 = 'riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00';

/** null: it is none, or has no sound. */
export function wave(file: Buffer): Measured | null {
  const riff = isRiff.test(file.toString('latin1', 0, 4)) && file.toString('latin1', 8, 12) === 'WAVE';
  if (!riff && file.toString('latin1', 0, 16) !== wave64) return null;
  let format: Format | null = null;
  let largeSize: number | null = null;
  let at = riff ? 12 : 40;
  for (let count = 0; count < maxChunks && at + 8 <= file.length; count++) {
    const { id, content, size, next } = riff ? riffChunk(file, at) : wave64Chunk(file, at);
    if (id === 'ds64' && content + 16 <= file.length) largeSize = large(file, content + 8);
    else if (id === 'fmt ') format = formatAt(file, content, size);
    else if (id === 'data') {
      if (format === null || format.rate === 0) return null;
      const there = file.length - content;
      const announced = size === 0xffff_ffff && largeSize !== null ? largeSize : size;
      // Whoever writes into a pipe does not know yet: nothing, or more than there is.
      const sound = announced === 0 ? there : Math.min(announced, there);
      const seconds = sound / format.rate;
      const bytes = there - sound > maxBehind ? there : sound;
      return format.uncompressed
        ? uncompressed(seconds, bytes, format.rate)
        : compressed(seconds, bytes, Math.min(format.rate * 0.9, thinnestOf.adpcm));
    }
    at = next;
  }
  return null;
}
