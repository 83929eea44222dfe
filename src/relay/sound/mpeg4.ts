import { compressed, densestSound, type Measured, plausible, stepsAtOnce, thinnestOf, type Walk } from './measured.js';

/*
 * MPEG-4 and QuickTime: tables of samples, and fragments with tables of their own. A film's pictures do not count.
 */

const entered: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf', 'mvex']);

interface Track {
  id: number;
  isSound: boolean;
  codec: string;
  /** Units of a second, and samples. */
  scale: number;
  rate: number;
  /** Bytes of a second, uncompressed. */
  raw: number;
  /** Units, as the header says. */
  announced: number;
  units: number;
  samples: number;
  bytes: number;
  usualUnits: number;
  usualBytes: number;
}

const newTrack = (): Track => ({
  id: 0,
  isSound: false,
  codec: '',
  scale: 0,
  rate: 0,
  raw: 0,
  announced: 0,
  units: 0,
  samples: 0,
  bytes: 0,
  usualUnits: 0,
  usualBytes: 0,
});

interface Movie {
  readonly tracks: Track[];
  /** The one that is described at this place, or whose fragment it is. */
  track: Track;
  /** What a sample of this fragment has unless it says otherwise. */
  units: number;
  bytes: number;
  announced: number;
}

const uncompressedCodecs: ReadonlySet<string> = new Set([
  ...['sowt', 'twos', 'in24', 'in32', 'fl32', 'fl64', 'lpcm', 'raw ', 'NONE', 'ipcm', 'fpcm', 'ulaw', 'alaw'],
]);
const losslessCodecs: ReadonlySet<string> = new Set(['alac', 'fLaC']);
/** Samples of a frame, of codecs whose frames are all as long. */
const frameSamples: ReadonlyMap<string, number> = new Map([
  ...([
    ['mp4a', 1_024],
    ['samr', 160],
    ['sawb', 320],
    ['.mp3', 1_152],
  ] as const),
]);

/** A box of the file, from its content to its end, within the file. */
interface Box {
  readonly file: Buffer;
  readonly at: number;
  readonly end: number;
}

const u32 = ({ file, end }: Box, at: number): number => (at + 4 <= end ? file.readUInt32BE(at) : 0);
const u64 = (box: Box, at: number): number => u32(box, at) * 2 ** 32 + u32(box, at + 4);
const isLong = ({ file, at }: Box): boolean => file[at] === 1;

/** The time scale and the duration of a header of a movie or of a medium. */
const timesOf = (box: Box): readonly [scale: number, duration: number] => {
  if (isLong(box)) return [u32(box, box.at + 20), u64(box, box.at + 24)];
  const duration = u32(box, box.at + 16);
  return [u32(box, box.at + 12), duration === 0xffff_ffff ? 0 : duration];
};

function describe(track: Track, box: Box): void {
  const { file, at } = box;
  // The first description, after the version and the number of them.
  const entry = at + 8;
  if (entry + 36 > box.end) return;
  track.codec = file.toString('latin1', entry + 4, entry + 8);
  track.rate = file.readUInt32BE(entry + 32) / 65_536;
  const bits = Math.max(file.readUInt16BE(entry + 26), 8);
  track.raw = track.rate * file.readUInt16BE(entry + 24) * Math.ceil(bits / 8);
  // QuickTime's second version has these further on.
  if (file.readUInt16BE(entry + 16) !== 2 || entry + 72 > box.end) return;
  track.rate = file.readDoubleBE(entry + 40);
  track.raw = (track.rate * file.readUInt32BE(entry + 48) * file.readUInt32BE(entry + 56)) / 8;
}

function* timeTable(track: Track, box: Box): Generator<void, void> {
  const entries = Math.min(u32(box, box.at + 4), Math.floor((box.end - box.at - 8) / 8));
  for (let entry = 0; entry < entries; entry++) {
    if (entry % stepsAtOnce === stepsAtOnce - 1) yield;
    const samples = u32(box, box.at + 8 + entry * 8);
    track.samples += samples;
    track.units += samples * u32(box, box.at + 12 + entry * 8);
  }
}

function* sizeTable(track: Track, box: Box): Generator<void, void> {
  const [each, samples] = [u32(box, box.at + 4), u32(box, box.at + 8)];
  if (each > 0) {
    track.bytes += each * samples;
    return;
  }
  const entries = Math.min(samples, Math.floor((box.end - box.at - 12) / 4));
  for (let entry = 0; entry < entries; entry++) {
    if (entry % stepsAtOnce === stepsAtOnce - 1) yield;
    track.bytes += u32(box, box.at + 12 + entry * 4);
  }
}

function fragmentHeader(movie: Movie, box: Box): void {
  const flags = u32(box, box.at) & 0xff_ffff;
  const id = u32(box, box.at + 4);
  movie.track = movie.tracks.find((track) => track.id === id) ?? newTrack();
  let at = box.at + 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
  movie.units = movie.track.usualUnits;
  movie.bytes = movie.track.usualBytes;
  if (flags & 8) {
    movie.units = u32(box, at);
    at += 4;
  }
  if (flags & 16) movie.bytes = u32(box, at);
}

/** Samples of a fragment; no more than the file has bytes, whatever is announced. */
function* run(movie: Movie, box: Box): Generator<void, void> {
  const { track } = movie;
  const flags = u32(box, box.at) & 0xff_ffff;
  const samples = Math.min(u32(box, box.at + 4), box.file.length);
  const fields = [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length;
  let at = box.at + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  if (fields === 0) {
    track.samples += samples;
    track.units += samples * movie.units;
    track.bytes += samples * movie.bytes;
    return;
  }
  for (let sample = 0; sample < samples && at < box.end; sample++, at += 4 * fields) {
    if (sample % stepsAtOnce === stepsAtOnce - 1) yield;
    track.samples++;
    track.units += flags & 0x100 ? u32(box, at) : movie.units;
    track.bytes += flags & 0x200 ? u32(box, at + (flags & 0x100 ? 4 : 0)) : movie.bytes;
  }
}

function* read(movie: Movie, name: string, box: Box): Generator<void, void> {
  const { track } = movie;
  switch (name) {
    case 'mvhd': {
      const [scale, duration] = timesOf(box);
      movie.announced = scale > 0 ? duration / scale : 0;
      return;
    }
    case 'tkhd':
      track.id = u32(box, box.at + (isLong(box) ? 20 : 12));
      return;
    case 'mdhd':
      [track.scale, track.announced] = timesOf(box);
      return;
    case 'hdlr':
      // QuickTime has another one, for how the data are kept.
      if (box.file.toString('latin1', box.at + 4, box.at + 8) !== 'dhlr')
        track.isSound = box.file.toString('latin1', box.at + 8, box.at + 12) === 'soun';
      return;
    case 'stsd':
      describe(track, box);
      return;
    case 'stts':
      yield* timeTable(track, box);
      return;
    case 'stsz':
      yield* sizeTable(track, box);
      return;
    case 'trex': {
      const id = u32(box, box.at + 4);
      const extended = movie.tracks.find((one) => one.id === id);
      if (extended === undefined) return;
      extended.usualUnits = u32(box, box.at + 12);
      extended.usualBytes = u32(box, box.at + 16);
      return;
    }
    case 'tfhd':
      fragmentHeader(movie, box);
      return;
    case 'trun':
      yield* run(movie, box);
  }
}

function measuredTrack(track: Track, movie: Movie, bytes: number): Measured {
  const announced = Math.max(track.scale > 0 ? track.announced / track.scale : 0, movie.announced);
  const span = track.scale > 0 ? track.units / track.scale : 0;
  const samples = frameSamples.get(track.codec) ?? 0;
  const counted = samples > 0 && track.rate > 0 ? (track.samples * samples) / track.rate : null;
  const found = plausible(span, counted);
  const lossless = uncompressedCodecs.has(track.codec) || losslessCodecs.has(track.codec);
  const { codec } = track;
  const thinnest = codec === 'mp4a' ? thinnestOf.aac : codec === 'Opus' ? thinnestOf.opus : thinnestOf.unknown;
  return {
    ...compressed(found > 0 ? found : announced, Math.min(track.bytes, bytes) || bytes, thinnest, announced),
    densest: Math.max(lossless ? track.raw : 0, densestSound),
  };
}

const firstBoxes: ReadonlySet<string> = new Set(['ftyp', 'moov', 'mdat', 'styp', 'wide', 'free', 'skip', 'pnot']);
const maxTracks = 128;

/** null: it is none, or has no sound. */
export function* mpeg4(file: Buffer): Walk {
  if (!firstBoxes.has(file.toString('latin1', 4, 8))) return null;
  const movie: Movie = { tracks: [], track: newTrack(), units: 0, bytes: 0, announced: 0 };
  let steps = 0;
  for (let at = 0; at + 8 <= file.length; ) {
    if (++steps % stepsAtOnce === 0) yield;
    const short = file.readUInt32BE(at);
    const name = file.toString('latin1', at + 4, at + 8);
    const isLarge = short === 1 && at + 16 <= file.length;
    const size = isLarge ? Number(file.readBigUInt64BE(at + 8)) : short === 0 ? file.length - at : short;
    const content = at + (isLarge ? 16 : 8);
    if (name === 'trak' && movie.tracks.length < maxTracks) {
      movie.track = newTrack();
      movie.tracks.push(movie.track);
    }
    if (entered.has(name)) at = content;
    else {
      yield* read(movie, name, { file, at: content, end: Math.min(at + size, file.length) });
      at += Math.max(size, 8);
    }
  }
  let longest: Measured | null = null;
  for (const track of movie.tracks) {
    if (!track.isSound) continue;
    const one = measuredTrack(track, movie, file.length);
    if (longest === null || (one.seconds ?? 0) > (longest.seconds ?? 0)) longest = one;
  }
  return longest;
}
