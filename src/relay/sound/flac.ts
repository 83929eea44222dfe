import { densestSound, stepsAtOnce, tagEnd, thinnestOf, type Walk } from './measured.js';

/* FLAC: each frame has its number. A header without a total, or with a false one, does not matter. */

const crcTable = Uint8Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : (crc << 1) & 0xff;
  return crc;
});

interface FrameHeader {
  /** Of the frame, or of its first sample where blocks differ in size. */
  readonly number: number;
  readonly samples: number;
  readonly variable: boolean;
  /** What is the same in all frames of a stream. */
  readonly kind: number;
}

/** As UTF-8 would code it, up to 36 bits. */
function codedNumber(file: Buffer, at: number): readonly [value: number, bytes: number] | null {
  const first = file[at] ?? 0xff;
  if (first < 0x80) return [first, 1];
  const bytes = Math.clz32(~(first << 24));
  if (bytes < 2 || bytes > 7) return null;
  let value = first & (0x7f >> bytes);
  for (let next = 1; next < bytes; next++) {
    const byte = file[at + next] ?? 0;
    if ((byte & 0xc0) !== 0x80) return null;
    value = value * 64 + (byte & 0x3f);
  }
  return [value, bytes];
}

function samplesBy(code: number, file: Buffer, at: number): number {
  if (code === 1) return 192;
  if (code < 6) return 576 << (code - 2);
  if (code >= 8) return 256 << (code - 8);
  return (code === 6 ? (file[at] ?? 0) : file.readUInt16BE(at)) + 1;
}

/** null: there is none at this place. */
function frameAt(file: Buffer, at: number): FrameHeader | null {
  if (file[at] !== 0xff || ((file[at + 1] ?? 0) & 0xfe) !== 0xf8 || at + 6 > file.length) return null;
  const [second, third, fourth] = [file[at + 1] ?? 0, file[at + 2] ?? 0, file[at + 3] ?? 0];
  const [sizeCode, rateCode] = [third >> 4, third & 15];
  if (sizeCode === 0 || rateCode === 15 || fourth >> 4 > 10 || (fourth & 1) === 1) return null;
  const coded = codedNumber(file, at + 4);
  if (coded === null) return null;
  const [number, length] = coded;
  let end = at + 4 + length;
  const samplesAt = end;
  end += (sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0) + (rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0);
  if (end >= file.length) return null;
  let crc = 0;
  for (let byte = at; byte < end; byte++) crc = crcTable[crc ^ (file[byte] ?? 0)] ?? 0;
  if (crc !== file[end]) return null;
  const samples = samplesBy(sizeCode, file, samplesAt);
  const kind = ((second & 1) << 8) | (rateCode << 4) | (fourth & 0x0e);
  return { number, samples, variable: (second & 1) === 1, kind };
}

/** Of what stands before the sound: texts, pictures, places. */
const maxBlocks = 1_024;
/** No frame is longer: as much is searched for the last one. */
const maxFrameLength = 4 * 1024 * 1024;

function* lastFrame(file: Buffer, kind: number): Generator<void, FrameHeader | null> {
  const stop = Math.max(0, file.length - maxFrameLength);
  let steps = 0;
  for (let at = file.lastIndexOf(0xff); at >= stop; at = at === 0 ? -1 : file.lastIndexOf(0xff, at - 1)) {
    if (++steps % stepsAtOnce === 0) yield;
    const frame = frameAt(file, at);
    if (frame?.kind === kind) return frame;
  }
  return null;
}

/** null: it is none. */
export function* flac(file: Buffer): Walk {
  const start = tagEnd(file);
  if (file.toString('latin1', start, start + 4) !== 'fLaC' || start + 42 > file.length) return null;
  const blockSize = file.readUInt16BE(start + 8);
  const packed = file.readBigUInt64BE(start + 18);
  const rate = Number(packed >> 44n);
  const channels = Number((packed >> 41n) & 7n) + 1;
  const bits = Number((packed >> 36n) & 31n) + 1;
  if (rate === 0) return null;
  let at = start + 4;
  for (let block = 0, last = false; !last && block < maxBlocks && at + 4 <= file.length; block++) {
    last = (file[at] ?? 0) >= 0x80;
    at += 4 + file.readUIntBE(at + 1, 3);
  }
  const first = frameAt(file, at);
  const end = first === null ? null : yield* lastFrame(file, first.kind);
  const reported = Number(packed & 0xf_ffff_ffffn);
  let samples = reported;
  if (first !== null && end !== null) {
    const each = first.variable ? 1 : blockSize;
    samples = (end.number - first.number) * each + end.samples;
  }
  return {
    ...{ seconds: samples > 0 ? samples / rate : null, announced: reported / rate, bytes: file.length },
    ...{ densest: Math.max((rate * channels * bits) / 8, densestSound), thinnest: thinnestOf.flac },
  };
}
