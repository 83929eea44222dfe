import { compressed, stepsAtOnce, tagEnd, thinnestOf, type Walk } from './measured.js';

/* Sound that is frame after frame, each of which says how long it is: MPEG audio, AAC with ADTS headers, AMR. */

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
  readonly codec: 'mp3' | 'aac';
}

/** kbit/s by version 1 or 2, layer, and index. */
const bitRates: Readonly<Record<string, readonly number[]>> = {
  '1.1': [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1.2': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1.3': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2.1': [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2.2': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  '2.3': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
/** By the two bits of the version: 2.5, none, 2, 1. */
const sampleRates = [[11_025, 12_000, 8_000], [], [22_050, 24_000, 16_000], [44_100, 48_000, 32_000]];
const aacRates = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000],
  ...[22_050, 16_000, 12_000, 11_025, 8_000, 7_350],
];

function adtsFrame(file: Buffer, at: number): Frame | null {
  if (at + 7 > file.length) return null;
  const rate = aacRates[((file[at + 2] ?? 0) >> 2) & 15];
  const bytes = (((file[at + 3] ?? 0) & 3) << 11) | ((file[at + 4] ?? 0) << 3) | ((file[at + 5] ?? 0) >> 5);
  if (rate === undefined || bytes < 7) return null;
  return { bytes, seconds: (1_024 * (((file[at + 6] ?? 0) & 3) + 1)) / rate, codec: 'aac' };
}

/** null: there is none at this place, or one of a free rate, which does not say how long it is. */
function frameAt(file: Buffer, at: number): Frame | null {
  if (file[at] !== 0xff || at + 4 > file.length) return null;
  const [second, third] = [file[at + 1] ?? 0, file[at + 2] ?? 0];
  if ((second & 0xf6) === 0xf0) return adtsFrame(file, at);
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const rate = sampleRates[version]?.[(third >> 2) & 3];
  if ((second & 0xe0) !== 0xe0 || layer === 4 || rate === undefined) return null;
  const kilobits = bitRates[`${version === 3 ? 1 : 2}.${layer}`]?.[third >> 4] ?? 0;
  if (kilobits === 0) return null;
  const padding = (third >> 1) & 1;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1_152;
  const bytes =
    layer === 1
      ? (Math.floor((12_000 * kilobits) / rate) + padding) * 4
      : Math.floor((samples * 125 * kilobits) / rate) + padding;
  return { bytes, seconds: samples / rate, codec: 'mp3' };
}

/** Further in than this nobody looks for the first frame. */
const maxInFront = 64 * 1024;

/** A frame that two others of its kind follow, unless the file ends: single ones are found in anything. */
function beginsAt(file: Buffer, at: number): boolean {
  let offset = at;
  for (let count = 0; count < 3; count++) {
    if (count > 0 && offset >= file.length) return true;
    const frame = frameAt(file, offset);
    if (frame === null) return false;
    offset += frame.bytes;
  }
  return true;
}

/** null: there are no such frames. */
export function* frames(file: Buffer): Walk {
  let at = tagEnd(file);
  const first = at;
  let seconds = 0;
  let steps = 0;
  let synchronised = false;
  let codec: Frame['codec'] = 'mp3';
  while (at < file.length) {
    if (++steps % stepsAtOnce === 0) yield;
    const frame = synchronised || beginsAt(file, at) ? frameAt(file, at) : null;
    if (frame !== null) {
      seconds += frame.seconds;
      at += frame.bytes;
      ({ codec } = frame);
      synchronised = true;
      continue;
    }
    synchronised = false;
    at = file.indexOf(0xff, at + 1);
    if (at < 0 || (seconds === 0 && at > first + maxInFront)) break;
  }
  return seconds === 0 ? null : compressed(seconds, file.length, thinnestOf[codec]);
}

/** Bytes of a frame of 20 ms, its first byte included, by its type. */
const amrKinds: readonly (readonly [magic: string, bytes: readonly number[]])[] = [
  ['#!AMR\n', [13, 14, 16, 18, 20, 21, 27, 32, 6, 7, 6, 6, 1, 1, 1, 1]],
  ['#!AMR-WB\n', [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1]],
];

/** Silence has frames as well, shorter ones. null: it is none. */
export function* amr(file: Buffer): Walk {
  const kind = amrKinds.find(([magic]) => file.toString('latin1', 0, magic.length) === magic);
  if (kind === undefined) return null;
  const [magic, sizes] = kind;
  let count = 0;
  for (let at = magic.length; at < file.length; count++) {
    if (count % stepsAtOnce === 0) yield;
    at += sizes[((file[at] ?? 0) >> 3) & 15] ?? 1;
  }
  return compressed(count / 50, file.length, thinnestOf.amr);
}
