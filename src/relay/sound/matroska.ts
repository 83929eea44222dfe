import { compressed, densestSound, type Measured, plausible, stepsAtOnce, thinnestOf, type Walk } from './measured.js';
import { opusSeconds } from './opus.js';

/*
 * Matroska and WebM. What is written while it is recorded says nowhere how long it lasts, nor how large its parts are:
 * so parts are entered rather than measured, and the time codes of the blocks count.
 */

/** Elements that are entered; all others are read or skipped. */
const entered: ReadonlySet<number> = new Set([0x18538067, 0x1f43b675, 0x1654ae6b, 0xae, 0xe1, 0x1549a966, 0xa0]);
const [ebml, trackEntry, blockGroup] = [0x1a45dfa3, 0xae, 0xa0];
const [simpleBlock, block] = [0xa3, 0xa1];

interface Track {
  number: number;
  isSound: boolean;
  codec: string;
  rate: number;
  channels: number;
  bits: number;
  bytes: number;
  frames: number;
  /** Seconds of Opus's packets. */
  opus: number;
  first: number | null;
  last: number;
  /** Units of the last block. */
  lastDuration: number;
}

const newTrack = (): Track => ({
  number: 0,
  isSound: false,
  codec: '',
  rate: 8_000,
  channels: 1,
  bits: 0,
  bytes: 0,
  frames: 0,
  opus: 0,
  first: null,
  last: 0,
  lastDuration: 0,
});

interface Segment {
  readonly file: Buffer;
  tracks: Track[];
  track: Track;
  /** Nanoseconds of a unit. */
  scale: number;
  announced: number;
  cluster: number;
  lastBlock: Track | null;
}

const newSegment = (file: Buffer): Segment => ({
  file,
  ...{ tracks: [], track: newTrack(), scale: 1_000_000, announced: 0, cluster: 0, lastBlock: null },
});

const uint = (file: Buffer, at: number, size: number): number => {
  let value = 0;
  for (let byte = 0; byte < Math.min(size, 8); byte++) value = value * 256 + (file[at + byte] ?? 0);
  return value;
};
const float = (file: Buffer, at: number, size: number): number =>
  size === 8 && at + 8 <= file.length
    ? file.readDoubleBE(at)
    : size === 4 && at + 4 <= file.length
      ? file.readFloatBE(at)
      : 0;

/** A number with its length in front; null: there is none. `value` null: unknown, which is allowed of sizes. */
function vint(file: Buffer, at: number): { readonly value: number | null; readonly length: number } | null {
  const first = file[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || at + length > file.length) return null;
  let value = first & (0xff >> length);
  let ones = value === 0xff >> length;
  for (let byte = 1; byte < length; byte++) {
    const next = file[at + byte] ?? 0;
    ones &&= next === 0xff;
    value = value * 256 + next;
  }
  return { value: ones ? null : value, length };
}

function takeBlock(segment: Segment, file: Buffer, at: number, size: number): void {
  const number = vint(file, at);
  if (number === null || size < number.length + 3) return;
  const track = segment.tracks.find((one) => one.number === number.value);
  if (track === undefined || !track.isSound) return;
  const head = at + number.length;
  const time = segment.cluster + file.readInt16BE(head);
  const lacing = ((file[head + 2] ?? 0) >> 1) & 3;
  const frames = lacing === 0 ? 1 : (file[head + 3] ?? 0) + 1;
  track.frames += frames;
  track.bytes += size;
  // The packets of a lace are alike; where they begin need not be found out.
  if (track.codec === 'A_OPUS') track.opus += frames * opusSeconds(file, head + (lacing === 0 ? 3 : 4 + frames - 1));
  track.lastDuration = track.first === null || time <= track.last ? 0 : time - track.last;
  track.first = track.first === null ? time : Math.min(track.first, time);
  track.last = Math.max(track.last, time);
  segment.lastBlock = track;
}

const isUncompressed = (track: Track): boolean => track.codec.startsWith('A_PCM') && track.bits > 0;
const rawRate = ({ rate, channels, bits }: Track): number => (rate * channels * (bits || 16)) / 8;

/** Samples of a frame, of codecs whose frames are all as long. */
function samplesOf(codec: string): number {
  if (codec.startsWith('A_AAC')) return 1_024;
  return codec === 'A_MPEG/L3' || codec === 'A_MPEG/L2' ? 1_152 : 0;
}

/** Seconds by the frames; null: they do not say. */
function countedOf(track: Track): number | null {
  if (track.codec === 'A_OPUS') return track.opus;
  if (isUncompressed(track)) return track.bytes / rawRate(track);
  const samples = samplesOf(track.codec);
  return samples > 0 && track.rate > 0 ? (track.frames * samples) / track.rate : null;
}

const thinnest = ({ codec }: Track): number => {
  if (codec === 'A_OPUS') return thinnestOf.opus;
  if (codec.startsWith('A_AAC')) return thinnestOf.aac;
  return codec === 'A_VORBIS' ? thinnestOf.vorbis : codec === 'A_FLAC' ? thinnestOf.flac : thinnestOf.unknown;
};

function measuredTrack(segment: Segment, track: Track): Measured {
  const span = ((track.last - (track.first ?? 0) + track.lastDuration) * segment.scale) / 1e9;
  const lossless = isUncompressed(track) || /^A_(FLAC|ALAC|TTA|WAVPACK)/.test(track.codec);
  return {
    ...compressed(track.frames === 0 ? null : plausible(span, countedOf(track)), track.bytes, thinnest(track)),
    densest: Math.max(lossless ? rawRate(track) : 0, densestSound),
  };
}

/** The longest track counts, and what the header says where there are no blocks to be read. */
function measuredSegment(segment: Segment): Measured | null {
  const announced = (segment.announced * segment.scale) / 1e9;
  let longest: Measured | null = null;
  for (const track of segment.tracks) {
    if (!track.isSound) continue;
    const one = measuredTrack(segment, track);
    if (longest === null || (one.seconds ?? 0) > (longest.seconds ?? 0)) longest = one;
  }
  if (longest === null) return null;
  return { ...longest, announced, seconds: longest.seconds ?? (announced > 0 ? announced : null) };
}

/** What the element says whose content begins at `at`. */
function read(segment: Segment, id: number, at: number, size: number): void {
  const { file, track } = segment;
  switch (id) {
    case 0xd7:
      track.number = uint(file, at, size);
      return;
    case 0x83:
      track.isSound = uint(file, at, size) === 2;
      return;
    case 0x86:
      track.codec = file.toString('latin1', at, at + Math.min(size, 32));
      return;
    case 0xb5:
      track.rate = float(file, at, size);
      return;
    case 0x9f:
      track.channels = uint(file, at, size);
      return;
    case 0x6264:
      track.bits = uint(file, at, size);
      return;
    case 0x2ad7b1:
      segment.scale = uint(file, at, size);
      return;
    case 0x4489:
      segment.announced = float(file, at, size);
      return;
    case 0xe7:
      segment.cluster = uint(file, at, size);
      return;
    case 0x9b:
      if (segment.lastBlock !== null) segment.lastBlock.lastDuration = uint(file, at, size);
      return;
    case simpleBlock:
    case block:
      takeBlock(segment, file, at, size);
  }
}

const maxTracks = 128;

/** Recordings one after the other last as long as they do together. */
function joined(parts: readonly (Measured | null)[], bytes: number): Measured | null {
  const found = parts.filter((part) => part !== null);
  const [first] = found;
  if (first === undefined) return null;
  const sound = found.reduce((sum, part) => sum + part.bytes, 0);
  const seconds = found.reduce((sum, part) => sum + (part.seconds ?? 0), 0);
  const announced = found.reduce((sum, part) => sum + (part.announced ?? 0), 0);
  return { ...first, announced, seconds: seconds > 0 ? seconds : null, bytes: sound > 0 ? sound : bytes };
}

/** null: it is none, or has no sound. */
export function* matroska(file: Buffer): Walk {
  if (file.length < 4 || file.readUInt32BE(0) !== ebml) return null;
  const parts: (Measured | null)[] = [];
  let segment = newSegment(file);
  let steps = 0;
  for (let at = 0; at < file.length; ) {
    if (++steps % stepsAtOnce === 0) yield;
    const idLength = Math.clz32(file[at] ?? 0) - 23;
    const size = idLength > 4 ? null : vint(file, at + idLength);
    if (size === null) {
      // Something broken: the next cluster goes on.
      at = file.indexOf('1f43b675', at + 1, 'hex');
      if (at < 0) break;
      continue;
    }
    const id = uint(file, at, idLength);
    const content = at + idLength + size.length;
    if (id === ebml) {
      if (parts.length < 1_000) parts.push(measuredSegment(segment));
      segment = newSegment(file);
    }
    if (entered.has(id)) {
      if (id === trackEntry && segment.tracks.length < maxTracks) {
        segment.track = newTrack();
        segment.tracks.push(segment.track);
      }
      if (id === blockGroup) segment.lastBlock = null;
      at = content;
      continue;
    }
    const length = Math.min(size.value ?? 0, file.length - content);
    read(segment, id, content, length);
    at = content + (size.value ?? 0);
  }
  parts.push(measuredSegment(segment));
  return joined(parts, file.length);
}
