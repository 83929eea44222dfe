import { describe, expect, test } from 'vitest';
import { SoundLengths } from '../../../src/relay/sound/sound-length.js';
import {
  endlessForLibraries,
  flac,
  fragmentDeclaringBillions,
  m4a,
  mp3,
  mp3FrameSeconds,
  mp3WithFrameCount,
  ogg,
  wav,
  webm,
} from '../../support/inputs/sound-files.js';

const lengths = new SoundLengths();
const mebibyte = 1024 * 1024;

describe('the duration in the header of a file is used', () => {
  test.each([
    ['WAVE', wav(3), 3],
    ['MP3 of a constant rate', mp3(100), 100 * mp3FrameSeconds],
    ['MP3 that states its number of frames', mp3WithFrameCount(100, 100), 100 * mp3FrameSeconds],
    ['Opus in Ogg', ogg(12, 10, 4_000), 12],
    ['FLAC', flac(10, 20_000), 10],
    ['AAC in MPEG-4', m4a(8, 20_000), 8],
    ['WebM', webm(7, 20_000), 7],
  ])('%s', async (_name, file, seconds) => {
    const { said, expected, max } = await lengths.of(file, 1);
    expect(said).toBeCloseTo(seconds, 1);
    expect([expected, max >= expected]).toEqual([Math.ceil(seconds - 0.1), true]);
  });
});

describe('a file that hides its duration', () => {
  test.each([
    ['states one second, with 25 MiB of compressed audio', ogg(1, 400, 64_000), null],
    ['states a tenth of a second, with 25 MiB of lossless audio', flac(0.1, 25 * mebibyte), 0.1],
    ['states five frames of 100,000', mp3WithFrameCount(5, 100_000), null],
    ['states a hundredth of its audio', wav(600, 192_000), 6],
  ])('and %s is reserved for at the minimum that so many bytes allow', async (_name, file, seconds) => {
    const { said, expected } = await lengths.of(file, 1);
    if (seconds !== null) expect(said).toBeCloseTo(seconds, 0);
    expect(expected).toBeGreaterThanOrEqual(Math.floor(file.length / 64_000));
  });

  test.each([
    ['is recorded by a browser, without its duration', webm(null, 20_000)],
    ['is not audio', Buffer.from('hello there '.repeat(2_000))],
    ['is cut off in its header', wav(10).subarray(0, 30)],
    ['is empty', Buffer.alloc(0)],
  ])('and %s is counted as speech of so many bytes', async (_name, file) => {
    expect(await lengths.of(file, 1)).toMatchObject({ said: null, expected: Math.ceil(file.length / 2_000) });
  });

  test('and states an infinite duration is limited to a countable number', async () => {
    const file = webm(Number.POSITIVE_INFINITY, 100);
    const { expected } = await lengths.of(file, 1);
    expect(Number.isSafeInteger(expected)).toBe(true);
  });
});

describe('the inspection of a file', () => {
  test('ignores announced sizes beyond the possible', async () => {
    const announcing = await lengths.of(fragmentDeclaringBillions(), 1);
    expect(announcing.expected).toBeLessThan(60);
  });

  test('is refused temporarily where the library does not terminate, and the next file is inspected', async () => {
    const hasty = new SoundLengths(50);
    const [endless, honest] = await Promise.allSettled([hasty.of(endlessForLibraries(), 1), hasty.of(wav(3), 1)]);
    expect(endless).toMatchObject({ status: 'rejected', reason: { status: 503, code: 'sound_file_not_read' } });
    expect(honest).toMatchObject({ status: 'fulfilled', value: { said: 3 } });
  });

  test('yields to other work', async () => {
    let turns = 0;
    let looking = true;
    const others = (async () => {
      for (; looking; turns++) await new Promise((resolve) => setImmediate(resolve));
    })();
    await lengths.of(ogg(1, 30_000, 40), 1);
    looking = false;
    await others;
    expect(turns).toBeGreaterThan(2);
  });

  test('handles one file at a time, with a bounded number waiting', async () => {
    expect(lengths.noRoomFor(1)).toBeNull();
    const waiting = Array.from({ length: 16 }, () => lengths.of(wav(3), 1));
    expect([lengths.noRoomFor(1), lengths.noRoomFor(2)]).toEqual(['holder', null]);
    for (let holder = 2; holder < 50; holder++) waiting.push(lengths.of(wav(3), holder));
    expect([lengths.noRoomFor(1), lengths.noRoomFor(99)]).toEqual(['holder', 'process']);
    for (const { said } of await Promise.all(waiting)) expect(said).toBe(3);
    expect(lengths.noRoomFor(1)).toBeNull();
  });

  test('alternates between senders: one with many files waits for its own', async () => {
    const seen: string[] = [];
    const bring = (holder: number, name: string) => lengths.of(wav(1), holder).then(() => seen.push(name));
    await Promise.all([bring(1, 'a1'), bring(1, 'a2'), bring(1, 'a3'), bring(2, 'b1'), bring(3, 'c1')]);
    expect(seen).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
  });

  test('terminates whatever the file contains', async () => {
    const whole = [wav(1), mp3(20), ogg(2, 4, 300), flac(1, 500), m4a(2, 500), webm(2, 500)];
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    for (let round = 0; round < 300; round++) {
      const file = Buffer.from(whole[round % whole.length] ?? []);
      for (let changes = 0; changes < 8; changes++) file[random(Math.min(file.length, 400))] = random(256);
      const { expected, max } = await lengths.of(file.subarray(0, file.length - random(100)), 1);
      expect(Number.isSafeInteger(expected) && expected > 0 && max >= expected).toBe(true);
    }
  });
});
