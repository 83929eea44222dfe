import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/* How bodies may be packed, by the names that `Content-Encoding` has for it, both ways. */

type Unpacker = () => Transform;

interface WithZstd {
  /** Not there before Node 22.15. */
  readonly createZstdDecompress?: (options: { readonly params: Readonly<Record<number, number>> }) => Transform;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
}

/** Of zstd on the web: a frame that wants more memory than 8 MiB is refused (RFC 9659). */
const zstdWindowLog = 23;

function zstd(): readonly (readonly [string, Unpacker])[] {
  const { createZstdDecompress: open, constants } = zlib as unknown as WithZstd;
  const { ZSTD_d_windowLogMax: window } = constants;
  if (open === undefined || window === undefined) return [];
  return [['zstd', () => open({ params: { [window]: zstdWindowLog } })]];
}

/** `x-gzip` is an older name of gzip (RFC 9110, 8.4.1.3). */
export const unpackers: ReadonlyMap<string, Unpacker> = new Map<string, Unpacker>([
  ['gzip', zlib.createGunzip],
  ['x-gzip', zlib.createGunzip],
  ['deflate', zlib.createInflate],
  ['br', zlib.createBrotliDecompress],
  ...zstd(),
]);
