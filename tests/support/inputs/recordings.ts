import { box, words } from './sound-files.js';

/* Recordings of the kinds that do not say how long they last, as short as they can be made. */

const riffChunk = (id: string, content: Buffer, size = content.length): Buffer => {
  const head = Buffer.alloc(8);
  head.write(id);
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, content]);
};

interface Wave {
  readonly tag?: number;
  readonly rate?: number;
  readonly bits?: number;
  /** As the header says. */
  readonly size?: number;
  /** Samples of a block of so many bytes, compressed. */
  readonly block?: readonly [samples: number, bytes: number];
}

/** Mono. */
export function waveOf(seconds: number, { tag = 1, rate = 8_000, bits = 16, size, block }: Wave): Buffer {
  const bytes = block === undefined ? (seconds * rate * bits) / 8 : Math.ceil((seconds * rate) / block[0]) * block[1];
  const format = Buffer.alloc(20);
  format.writeUInt16LE(tag, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate, 8);
  format.writeUInt16LE(block?.[1] ?? bits / 8, 12);
  format.writeUInt16LE(bits, 14);
  format.writeUInt16LE(2, 16);
  format.writeUInt16LE(block?.[0] ?? 0, 18);
  const data = riffChunk('data', Buffer.alloc(bytes), size ?? bytes);
  return Buffer.concat([riffChunk('RIFF', Buffer.from('WAVE'), 0xffff_ffff), riffChunk('fmt ', format), data]);
}

export function rf64(seconds: number): Buffer {
  const sizes = Buffer.alloc(28);
  sizes.writeBigUInt64LE(BigInt(seconds * 16_000), 8);
  const [, ...rest] = [0, waveOf(seconds, { size: 0xffff_ffff }).subarray(12)];
  return Buffer.concat([riffChunk('RF64', Buffer.from('WAVE'), 0xffff_ffff), riffChunk('ds64', sizes), ...rest]);
}

/** 16 kHz, blocks of 4,096 samples from a number on; the header says nothing of the total, or something else. */
export function flacFrames(frames: number, from = 0, total = 0): Buffer {
  const head = Buffer.alloc(42);
  head.write('fLaC');
  head.writeUInt8(0x80, 4);
  head.writeUIntBE(34, 5, 3);
  head.writeUInt16BE(4_096, 8);
  head.writeUInt16BE(4_096, 10);
  head.writeBigUInt64BE((16_000n << 44n) | (15n << 36n) | BigInt(total), 18);
  const frame = (number: number): Buffer => {
    const coded = number < 0x80 ? [number] : [0xc0 | (number >> 6), 0x80 | (number & 0x3f)];
    const header = [0xff, 0xf8, 0xc5, 0x08, ...coded];
    let crc = 0;
    for (const byte of header) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : (crc << 1) & 0xff;
    }
    return Buffer.from([...header, crc, 0, 0, 0]);
  };
  return Buffer.concat([head, ...Array.from({ length: frames }, (_, index) => frame(from + index))]);
}

const element = (id: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE((1n << 56n) | BigInt(content.length));
  return Buffer.concat([Buffer.from(id, 'hex'), size, content]);
};
const ofUnknownSize = (id: string): Buffer => Buffer.from(`${id}01ffffffffffffff`, 'hex');

/** Opus as a browser records it: clusters of a second, whose sizes nobody knew. `from`: seconds at its beginning. */
export function recording(seconds: number, bytesPerPacket = 5, from = 0): Buffer {
  const kind = [element('d7', Buffer.from([1])), element('83', Buffer.from([2])), element('86', Buffer.from('A_OPUS'))];
  const packet = (ms: number): Buffer => {
    const content = Buffer.alloc(4 + bytesPerPacket);
    content[0] = 0x81;
    content.writeInt16BE(ms, 1);
    // One frame of 20 ms.
    content[4] = 1 << 3;
    return element('a3', content);
  };
  const cluster = (second: number): Buffer => {
    const time = Buffer.alloc(4);
    time.writeUInt32BE((from + second) * 1_000);
    const packets = Array.from({ length: 50 }, (_, index) => packet(index * 20));
    return Buffer.concat([ofUnknownSize('1f43b675'), element('e7', time), ...packets]);
  };
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm'))),
    ofUnknownSize('18538067'),
    element('1654ae6b', element('ae', Buffer.concat(kind))),
    ...Array.from({ length: seconds }, (_, second) => cluster(second)),
  ]);
}

const scale = 16_000;
/** AAC, 1,024 samples a frame. */
const track = (id: number, handler: string, units: number, ...tables: Buffer[]): Buffer => {
  const sample = box('mp4a', words(0, 1), words(0, 0), words(0x0001_0010, 0, scale * 65_536));
  const table = box('stbl', box('stsd', words(0, 1), sample), ...tables);
  const media = [box('mdhd', words(0, 0, 0, scale, units, 0)), box('hdlr', words(0, 0), Buffer.from(handler))];
  const header = box('tkhd', words(0, 0, 0, id), Buffer.alloc(68));
  return box('trak', header, box('mdia', ...media, box('minf', table)));
};

/** MPEG-4 in fragments of a second, of which the header knows the first. */
export function fragmented(seconds: number): Buffer {
  const frames = Math.ceil((seconds * scale) / 1_024 / seconds);
  const fragment = box('moof', box('traf', box('tfhd', words(0x8, 1, 1_024)), box('trun', words(0, frames))));
  const extended = box('mvex', box('trex', words(0, 1, 1, 0, 0, 0)));
  return Buffer.concat([
    box('ftyp', Buffer.from('iso5\0\0\0\0')),
    box('moov', box('mvhd', words(0, 0, 0, scale, scale)), track(1, 'soun', scale), extended),
    ...Array.from({ length: seconds }, () => Buffer.concat([fragment, box('mdat', Buffer.alloc(frames * 20))])),
  ]);
}

/** QuickTime: its tables behind the media, most of which are pictures. `said`: units of a frame of sound. */
export function film(seconds: number, pictureBytes: number, said = 1_024): Buffer {
  const frames = Math.round((seconds * scale) / 1_024);
  const tables = [box('stts', words(0, 1, frames, said)), box('stsz', words(0, 20, frames))];
  return Buffer.concat([
    box('ftyp', Buffer.from('qt  \0\0\0\0')),
    box('mdat', Buffer.alloc(pictureBytes + frames * 20)),
    box('moov', track(1, 'vide', 0), track(2, 'soun', 0, ...tables)),
  ]);
}

/** Speech and silence, 20 ms a frame. */
export const amrOf = (speech: number, silence: number): Buffer =>
  Buffer.concat([
    Buffer.from('#!AMR\n'),
    ...Array.from({ length: speech }, () => Buffer.from([0x3c, ...Array<number>(31).fill(0)])),
    Buffer.alloc(silence, 0x7c),
  ]);

/** 90,000 a second, in 33 bits. */
const stamped = (ticks: number): Buffer => {
  const stamp = ticks % 2 ** 33;
  const bits = (from: number, mask: number): number => Math.floor(stamp / 2 ** from) & mask;
  return Buffer.from([
    0x21 | (bits(30, 7) << 1),
    bits(22, 255),
    (bits(15, 127) << 1) | 1,
    bits(7, 255),
    (bits(0, 127) << 1) | 1,
  ]);
};
/** A piece of sound, with a stamp. */
const piece = (ticks: number, bytes: number): Buffer => {
  const head = Buffer.from([0, 0, 1, 0xc0, 0, 0, 0x80, 0x80, 5]);
  head.writeUInt16BE(8 + bytes, 4);
  return Buffer.concat([head, stamped(ticks), Buffer.alloc(bytes, 0x55)]);
};

/** Ten pieces a second. `from`: seconds on the clock at its beginning. */
export function programStreamOf(seconds: number, from = 0): Buffer {
  const pack = Buffer.from('000001ba440004000401000003f8', 'hex');
  const pieces = Array.from({ length: seconds * 10 }, (_, index) => piece((from + index / 10) * 90_000, 100));
  return Buffer.concat(pieces.flatMap((one) => [pack, one]));
}
export function transportStreamOf(seconds: number, from = 0): Buffer {
  const packet = (index: number): Buffer =>
    Buffer.concat([Buffer.from([0x47, 0x41, 0x00, 0x10]), piece((from + index / 10) * 90_000, 170)]);
  return Buffer.concat(Array.from({ length: seconds * 10 }, (_, index) => packet(index)));
}
