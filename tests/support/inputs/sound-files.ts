/* Sound files as short as they can be made, and such as lie about their length. */

/** Uncompressed silence, 16 kHz, 16 bits. `announced`: bytes of sound, as the header says. */
export function wav(seconds: number, announced = seconds * 32_000): Buffer {
  const file = Buffer.alloc(44 + seconds * 32_000);
  file.write('RIFF', 0);
  file.writeUInt32LE(36 + announced, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(16_000, 24);
  file.writeUInt32LE(32_000, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(announced, 40);
  return file;
}

/** 44.1 kHz, mono, at 64 kbit/s. */
const mp3Frame = (): Buffer => {
  const frame = Buffer.alloc(208);
  frame.writeUInt32BE(0xfffb50c0, 0);
  return frame;
};
export const mp3FrameSeconds = 1_152 / 44_100;

export const mp3 = (frames: number): Buffer => Buffer.concat(Array.from({ length: frames }, mp3Frame));

/** The first frame says that so many follow. */
export function mp3WithFrameCount(announced: number, frames: number): Buffer {
  const file = mp3(frames);
  file.write('Xing', 21);
  file.writeUInt32BE(1, 25);
  file.writeUInt32BE(announced, 29);
  return file;
}

/** How the lengths of packets stand in front of a page. */
const lacing = (length: number): number[] => [...Array<number>(Math.floor(length / 255)).fill(255), length % 255];

function oggPage(type: number, granule: number, sequence: number, packets: readonly Buffer[], serial = 7): Buffer {
  const segments = packets.flatMap(({ length }) => lacing(length));
  const head = Buffer.alloc(27);
  head.write('OggS');
  head[5] = type;
  head.writeBigInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(serial, 14);
  head.writeUInt32LE(sequence, 18);
  head[26] = segments.length;
  return Buffer.concat([head, Buffer.from(segments), ...packets]);
}

/** The longest packet of Opus there is. */
const packetSeconds = 0.12;
/** As many packets as last so long, of so many bytes together. */
function opusPackets(seconds: number, bytes: number): Buffer[] {
  const count = Math.max(1, Math.ceil(seconds / packetSeconds - 1e-9));
  return Array.from({ length: count }, () => {
    const packet = Buffer.alloc(Math.max(1, Math.floor(bytes / count)));
    // Two frames of 60 ms.
    packet[0] = (3 << 3) | 1;
    return packet;
  });
}

/**
 * Opus in Ogg: pages of so many bytes, the last of which says when it ends. `from`: seconds that had passed before, in
 * the stream it was cut out of.
 */
export function ogg(seconds: number, pages: number, bytesPerPage: number, from = 0): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead');
  head[8] = 1;
  head[9] = 1;
  head.writeUInt32LE(48_000, 12);
  const sound = Array.from({ length: pages }, (_, index) =>
    oggPage(
      index === pages - 1 ? 4 : 0,
      Math.round(48_000 * (from + (seconds * (index + 1)) / pages)),
      index + 2,
      opusPackets(seconds / pages, bytesPerPage),
    ),
  );
  const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)]);
  return Buffer.concat([oggPage(2, 0, 0, [head]), oggPage(0, 0, 1, [tags]), ...sound]);
}

/** Vorbis in Ogg: a page a second. Its packets do not say how long they are. */
export function vorbis(seconds: number, from = 0): Buffer {
  const head = Buffer.alloc(30);
  head.write('\x01vorbis', 'latin1');
  head[11] = 1;
  head.writeUInt32LE(16_000, 12);
  const page = (second: number): Buffer =>
    oggPage(0, 16_000 * (from + second + 1), second + 2, Array<Buffer>(20).fill(Buffer.alloc(100)));
  const setup = [Buffer.from('\x03vorbis', 'latin1'), Buffer.from('\x05vorbis', 'latin1')];
  return Buffer.concat([
    oggPage(2, 0, 0, [head]),
    oggPage(0, 0, 1, setup),
    ...Array.from({ length: seconds }, (_, second) => page(second)),
  ]);
}

/** 16 kHz, mono, 16 bits: a header that says its length, and so many bytes after it. */
export function flac(seconds: number, bytes: number): Buffer {
  const file = Buffer.alloc(42 + bytes);
  file.write('fLaC');
  file.writeUInt8(0x80, 4);
  file.writeUIntBE(34, 5, 3);
  file.writeUInt16BE(4_096, 8);
  file.writeUInt16BE(4_096, 10);
  file.writeBigUInt64BE((16_000n << 44n) | (15n << 36n) | BigInt(seconds * 16_000), 18);
  return file;
}

export const box = (name: string, ...content: Buffer[]): Buffer => {
  const head = Buffer.alloc(8);
  const body = Buffer.concat(content);
  head.writeUInt32BE(8 + body.length);
  head.write(name, 4);
  return Buffer.concat([head, body]);
};
export const words = (...values: number[]): Buffer => {
  const buffer = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) buffer.writeUInt32BE(value, 4 * at);
  return buffer;
};

/** AAC in MPEG-4, at 16 kHz. */
export function m4a(seconds: number, bytes: number): Buffer {
  const scale = 16_000;
  const movie = box('mvhd', words(0, 0, 0, scale, seconds * scale), Buffer.alloc(80));
  const media = box('mdhd', words(0, 0, 0, scale, seconds * scale, 0));
  const handler = box('hdlr', words(0, 0), Buffer.from('soun'), Buffer.alloc(13));
  const sample = box('mp4a', words(0, 1), words(0, 0), words(0x0001_0010, 0, scale * 65_536));
  const table = box('stbl', box('stsd', words(0, 1), sample), box('stts', words(0, 0)), box('stsz', words(0, 0, 0)));
  const track = box('trak', box('tkhd', Buffer.alloc(84)), box('mdia', media, handler, box('minf', table)));
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A \0\0\0\0M4A mp42')),
    box('moov', movie, track),
    box('mdat', Buffer.alloc(bytes)),
  ]);
}

const element = (id: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE((1n << 56n) | BigInt(content.length));
  return Buffer.concat([Buffer.from(id, 'hex'), size, content]);
};
const double = (value: number): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleBE(value);
  return buffer;
};

/** Opus in WebM. null: without its length, as browsers record it. */
export function webm(seconds: number | null, bytes: number): Buffer {
  const info = element(
    '1549a966',
    Buffer.concat([
      element('2ad7b1', Buffer.from('0f4240', 'hex')),
      ...(seconds === null ? [] : [element('4489', double(seconds * 1_000))]),
    ]),
  );
  const audio = element('e1', Buffer.concat([element('b5', double(48_000)), element('9f', Buffer.from([1]))]));
  const kind = [element('d7', Buffer.from([1])), element('83', Buffer.from([2])), element('86', Buffer.from('A_OPUS'))];
  const track = element('ae', Buffer.concat([...kind, audio]));
  const cluster = element('1f43b675', element('a3', Buffer.alloc(bytes)));
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm'))),
    element('18538067', Buffer.concat([info, element('1654ae6b', track), cluster])),
  ]);
}

/** A fragment of MPEG-4 that announces four thousand million samples, and holds none. */
export const fragmentDeclaringBillions = (): Buffer =>
  Buffer.concat([
    m4a(1, 100),
    box('moof', box('traf', box('tfhd', words(0, 0)), box('trun', words(0, 0xffff_ffff, 0, 0)))),
  ]);

/** Of no format that is known, and full of what may be the beginning of a frame. */
export const endlessForLibraries = (): Buffer => Buffer.alloc(8 * 1024 * 1024, 0xff);
