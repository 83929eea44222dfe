import { type PictureType, pictureType } from './picture-type.js';

/* How large an image is, from the first bytes of its file. */

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** As much of a file as is looked at; in a JPEG the size comes after a preview and camera data. */
export const headerLength = 64 * 1024;
/** As much as a JPEG may have before its size: several segments of previews, profiles and notes. */
export const longHeaderLength = 1024 * 1024;

const sized = (width: number, height: number): ImageSize | null => (width > 0 && height > 0 ? { width, height } : null);

const png = (bytes: Buffer): ImageSize | null =>
  bytes.length >= 24 ? sized(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) : null;

/** Bytes of a table of colours, by the flags that announce it. */
const colours = (flags: number): number => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);

/** A picture may be larger than its screen: readers make room for it. */
function gif(bytes: Buffer): ImageSize | null {
  if (bytes.length < 13) return null;
  const screen = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  for (let at = 13 + colours(bytes[10] ?? 0); at + 10 <= bytes.length; ) {
    if (bytes[at] === 0x2c) {
      const [left, top] = [bytes.readUInt16LE(at + 1), bytes.readUInt16LE(at + 3)];
      const [width, height] = [bytes.readUInt16LE(at + 5), bytes.readUInt16LE(at + 7)];
      return sized(Math.max(screen.width, left + width), Math.max(screen.height, top + height));
    }
    if (bytes[at] !== 0x21) break;
    // An extension: blocks that begin with their length, and an empty one.
    for (at += 2; (bytes[at] ?? 0) > 0; ) at += 1 + (bytes[at] ?? 0);
    at++;
  }
  return sized(screen.width, screen.height);
}

function webp(bytes: Buffer): ImageSize | null {
  if (bytes.length < 30) return null;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return sized(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return sized((packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return sized(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return null;
  }
}

/** Start-of-frame markers; the three numbers between them mean something else. */
const startsFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function jpeg(bytes: Buffer): ImageSize | null {
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) at++;
    else if (startsFrame(marker)) return sized(bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

const readers: Readonly<Record<PictureType, (bytes: Buffer) => ImageSize | null>> = {
  'image/png': png,
  'image/gif': gif,
  'image/webp': webp,
  'image/jpeg': jpeg,
};

/** null: not a PNG, GIF, WebP or JPEG, or the size lies further in. */
export function imageSize(bytes: Buffer): ImageSize | null {
  const type = pictureType(bytes);
  return type === null ? null : readers[type](bytes);
}
