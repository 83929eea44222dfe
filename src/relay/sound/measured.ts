/* What is found in a sound file by walking through it: nothing is taken for granted that a header says of the rest. */

export interface Measured {
  /** Seconds of sound that are there; null: not found. */
  readonly seconds: number | null;
  /** Seconds that the header says. */
  readonly announced?: number;
  /** Bytes that may be sound. */
  readonly bytes: number;
  /** Bytes that a second takes at most, and at least. */
  readonly densest: number;
  readonly thinnest: number;
}

/** Walks through a file, and lets others do something at each `yield`. Its result depends on the bytes and nothing else. */
export type Walk = Generator<void, Measured | null>;

/** Steps between two pauses: about a millisecond. */
export const stepsAtOnce = 20_000;

/** Compressed sound, at the highest rate anybody uses. */
export const densestSound = 64_000;

/** Bytes of a second at the lowest rate that a codec has: of silence, mostly. */
export const thinnestOf = {
  opus: 15,
  vorbis: 4,
  flac: 1,
  aac: 8,
  mp3: 900,
  amr: 50,
  speex: 30,
  adpcm: 500,
  unknown: 50,
} as const;

/** Uncompressed, as far as the format gives its rate. */
export const uncompressed = (seconds: number | null, bytes: number, rate: number): Measured => ({
  seconds,
  bytes,
  densest: Math.max(rate, densestSound),
  thinnest: Math.max(rate * 0.9, 1),
});

export const compressed = (seconds: number | null, bytes: number, thinnest: number, announced?: number): Measured => ({
  seconds: seconds !== null && seconds > 0 ? seconds : null,
  bytes,
  densest: densestSound,
  thinnest,
  ...(announced !== undefined && { announced }),
});

/** A codec that falls silent leaves out so much of what it could send, and no more. */
const sparsest = 25;

/**
 * By time codes, unless these cannot be: fewer seconds than the frames have, which a decoder plays one after the other,
 * or more than silence between them explains. `counted`: seconds of the frames; null: unknown.
 */
export function plausible(span: number, counted: number | null): number {
  if (counted === null || counted <= 0) return span;
  return counted > span * 1.05 + 0.5 || span > counted * sparsest + 1 ? counted : span;
}

/** Files have one, and some that were joined have several. */
const maxTags = 16;

/** Where ID3 tags in front end; 0: there is none. */
export function tagEnd(file: Buffer): number {
  let at = 0;
  for (let tag = 0; tag < maxTags && file.toString('latin1', at, at + 3) === 'ID3'; tag++) {
    const size = [6, 7, 8, 9].reduce((sum, byte) => sum * 128 + ((file[at + byte] ?? 0) & 0x7f), 0);
    at += 10 + size + ((file[at + 5] ?? 0) & 0x10 ? 10 : 0);
  }
  return at;
}
