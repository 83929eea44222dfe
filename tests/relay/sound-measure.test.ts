import { describe, expect, test } from 'vitest';
import { SoundLengths } from '../../src/relay/sound/sound-length.js';
import {
  amrOf,
  film,
  flacFrames,
  fragmented,
  programStreamOf,
  recording,
  rf64,
  transportStreamOf,
  waveOf,
} from '../support/inputs/recordings.js';
import { mp3, mp3FrameSeconds, ogg, vorbis, webm } from '../support/inputs/sound-files.js';

/** The library has no time at all: what is found here does not depend on it, nor on any clock. */
const lengths = new SoundLengths(0);

const concat = (...files: Buffer[]): Buffer => Buffer.concat(files);
const flacSeconds = (frames: number): number => (frames * 4_096) / 16_000;

describe('a file that does not state its duration is parsed to its end', () => {
  test.each([
    ['WAV whose writer never wrote the size', waveOf(20, { size: 0 }), 20],
    ['WAV from a pipe', waveOf(20, { size: 0xffff_ffff }), 20],
    ['WAV in floating point', waveOf(20, { tag: 3, bits: 32 }), 20],
    ['WAV in µ-law', waveOf(20, { tag: 7, bits: 8 }), 20],
    ['WAV in ADPCM, with a wrong average', waveOf(20, { tag: 0x11, bits: 4, block: [505, 256] }), 20],
    ['RF64', rf64(20), 20],
    ['FLAC without a total', flacFrames(80), flacSeconds(80)],
    ['FLAC whose header states a quarter of its length', flacFrames(800, 0, 200 * 4_096), flacSeconds(800)],
    ['FLAC cut from a longer stream', flacFrames(80, 1_000), flacSeconds(80)],
    ['a variable-rate MP3 of half an hour', mp3(70_000), 70_000 * mp3FrameSeconds],
    ["a browser's recording in slices", recording(20), 20],
    ['a recording whose timestamps begin in its tenth hour', recording(20, 5, 36_000), 20],
    ['two recordings, one after the other', concat(recording(20), recording(13)), 33],
    ['MPEG-4 in fragments', fragmented(20), 20.48],
    ['MPEG-4 whose table states a thousandth', film(20, 0, 1), 20],
    ['a film of QuickTime, most of it pictures', film(20, 8_000_000), 20],
    ['AMR with silence suppression', amrOf(1_000, 2_300), 66],
    ['Opus cut from a long stream', ogg(66, 55, 4_000, 36_000), 66],
    ['Vorbis cut from a long stream', vorbis(66, 36_000), 66],
    ['chained Ogg', concat(ogg(12, 10, 4_000), ogg(30, 25, 4_000), vorbis(20)), 62],
    ['an MPEG program stream', programStreamOf(20, 3_000), 20],
    ['an MPEG transport stream', transportStreamOf(20, 3_000), 20],
    ['a stream whose clock restarts', transportStreamOf(20, 2 ** 33 / 90_000 - 10), 20],
    ['two transport streams, one after the other', concat(transportStreamOf(20, 900), transportStreamOf(5)), 25],
  ])('%s', async (_which, file, seconds) => {
    const { said, expected } = await lengths.of(file, 1);
    expect(said).toBeGreaterThan(seconds - 0.25);
    expect(said).toBeLessThan(seconds + 0.25);
    expect(expected).toBeLessThanOrEqual(Math.ceil(seconds + 0.25));
  });

  test('the duration is the same however often it is measured, and however busy the process is', async () => {
    const file = mp3(70_000);
    const all = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const busyUntil = performance.now() + 20;
        while (performance.now() < busyUntil);
        return await lengths.of(file, 1);
      }),
    );
    expect(new Set(all.map(({ expected }) => expected))).toEqual(new Set([1_829]));
  });
});

describe('seconds that the upstream reports are believed up to the maximum of the codec', () => {
  test.each([
    ['a nearly silent recording without time codes', webm(null, 254 * 30), 30],
    ['silence in Opus', ogg(30, 30, 250), 30],
    ['silence in FLAC', flacFrames(4), 8],
    ['a WAV, rounded up to the next second', waveOf(20, {}), 21],
  ])('%s', async (_which, file, measured) => {
    expect((await lengths.of(file, 1)).max).toBeGreaterThanOrEqual(measured);
  });

  test.each([
    ['a WAV', waveOf(20, {}), 30],
    ['an MP3', mp3(100), 60],
    ['AMR', amrOf(100, 0), 120],
  ])('but no further: %s', async (_which, file, measured) => {
    expect((await lengths.of(file, 1)).max).toBeLessThan(measured);
  });
});

describe('a parser of durations', () => {
  const whole = [
    ...[waveOf(1, {}), rf64(1), flacFrames(20), recording(2), fragmented(3), film(2, 100), amrOf(20, 20)],
    ...[ogg(2, 4, 300), vorbis(2), programStreamOf(2), transportStreamOf(2), mp3(20)],
  ];

  test('terminates whatever is changed in a file, or cut off', async () => {
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    const patient = new SoundLengths();
    for (let round = 0; round < 600; round++) {
      const file = Buffer.from(whole[round % whole.length] ?? []);
      for (let changes = 0; changes < 8; changes++) file[random(Math.min(file.length, 600))] = random(256);
      const { expected, max } = await patient.of(file.subarray(0, file.length - random(100)), 1);
      expect(Number.isFinite(expected) && expected >= 0 && max >= expected).toBe(true);
    }
  });

  test('finds no more than the file can contain in boxes that announce more', async () => {
    const box = Buffer.from('000000147472756e00000000ffffffff00000000', 'hex');
    const { said } = await lengths.of(Buffer.concat([fragmented(2), box]), 1);
    expect(said).toBeLessThan(10_000);
  });
});
