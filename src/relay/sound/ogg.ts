import { compressed, densestSound, plausible, stepsAtOnce, thinnestOf, type Walk } from './measured.js';
import { opusSeconds } from './opus.js';

/*
 * Ogg: pages that say where their stream is. A stream may begin anywhere, having been cut out of a longer one, and one
 * may follow another.
 */

interface Codec {
  readonly rate: number;
  readonly thinnest: number;
  readonly opus: boolean;
  /** Samples at its beginning that nobody hears. */
  readonly skipped: number;
  /** Bytes of a second, uncompressed; 0: does not matter. */
  readonly raw: number;
}

interface Stream {
  readonly codec: Codec;
  bytes: number;
  packets: number;
  /** Seconds of its packets, where these say. */
  counted: number;
  firstGranule: number | null;
  /** Packets up to the first granule, and their seconds. */
  firstPackets: number;
  firstCounted: number;
  lastGranule: number;
}

const headerPackets = 2;

/** By the first packet; null: no sound, or none that is known. */
function codecAt(file: Buffer, at: number): Codec | null {
  const name = file.toString('latin1', at, at + 8);
  const plain = { opus: false, skipped: 0, raw: 0 };
  const number = (offset: number): number => (offset + 4 <= file.length ? file.readUInt32LE(offset) : 0);
  if (name === 'OpusHead')
    return { rate: 48_000, thinnest: thinnestOf.opus, opus: true, skipped: number(at + 10) & 0xffff, raw: 0 };
  if (name.startsWith('\x01vorbis')) return { ...plain, rate: number(at + 12), thinnest: thinnestOf.vorbis };
  if (name === 'Speex   ') return { ...plain, rate: number(at + 36), thinnest: thinnestOf.speex };
  if (!name.startsWith('\x7fFLAC') || at + 35 > file.length) return null;
  const packed = file.readBigUInt64BE(at + 27);
  const rate = Number(packed >> 44n);
  const raw = (rate * (Number((packed >> 41n) & 7n) + 1) * (Number((packed >> 36n) & 31n) + 1)) / 8;
  return { ...plain, rate, thinnest: thinnestOf.flac, raw };
}

/** Each end of a packet on this page is one more; in Opus each has its seconds. */
function takePackets(stream: Stream, file: Buffer, page: number): void {
  const segments = file[page + 26] ?? 0;
  const continued = ((file[page + 5] ?? 0) & 1) !== 0;
  let at = page + 27 + segments;
  let begins = !continued;
  for (let segment = 0; segment < segments; segment++) {
    const length = file[page + 27 + segment] ?? 0;
    if (begins) {
      stream.packets++;
      if (stream.codec.opus && stream.packets > headerPackets && length > 0) stream.counted += opusSeconds(file, at);
    }
    begins = length < 255;
    at += length;
  }
}

function secondsOf(stream: Stream): number {
  const { codec, counted, firstGranule, firstPackets, firstCounted, lastGranule, packets } = stream;
  if (firstGranule === null || codec.rate === 0) return counted;
  const rest = packets - firstPackets;
  // What the first page holds is known of Opus, and of others as much as of the later packets on the average.
  const first = codec.opus
    ? firstCounted * codec.rate
    : rest > 0
      ? ((lastGranule - firstGranule) / rest) * Math.max(firstPackets - headerPackets, 1)
      : firstPackets * 4_096;
  const start = Math.max(firstGranule - first, 0);
  const span = (lastGranule - start - (start < codec.skipped ? codec.skipped : 0)) / codec.rate;
  // A hole in the numbers is nothing that anybody hears.
  if (codec.opus && span > counted + 0.5) return counted;
  return plausible(span, codec.opus ? counted : null);
}

/** null: it is none. */
export function* ogg(file: Buffer): Walk {
  if (file.toString('latin1', 0, 4) !== 'OggS') return null;
  let chain = new Map<number, Stream | null>();
  let [seconds, bytes, thinnest, raw, steps] = [0, 0, Number.POSITIVE_INFINITY, 0, 0];
  let dataSeen = false;
  const endChain = (): void => {
    let [maxSeconds, maxBytes] = [0, 0];
    for (const stream of chain.values()) {
      if (stream === null) continue;
      maxSeconds = Math.max(maxSeconds, secondsOf(stream));
      maxBytes = Math.max(maxBytes, stream.bytes);
      thinnest = Math.min(thinnest, stream.codec.thinnest);
      raw = Math.max(raw, stream.codec.raw);
    }
    seconds += maxSeconds;
    bytes += maxBytes;
    chain = new Map();
    dataSeen = false;
  };
  for (let at = 0; at >= 0 && at + 27 <= file.length; ) {
    if (file.readUInt32BE(at) !== 0x4f676753) {
      at = file.indexOf('OggS', at + 1, 'latin1');
      continue;
    }
    const [flags, serial, segments] = [file[at + 5] ?? 0, file.readUInt32LE(at + 14), file[at + 26] ?? 0];
    const granule = Number(file.readBigInt64LE(at + 6));
    let size = 0;
    for (let segment = 0; segment < segments; segment++) size += file[at + 27 + segment] ?? 0;
    if ((flags & 2) !== 0) {
      // Streams that sound together begin together.
      if (dataSeen) endChain();
      const codec = codecAt(file, at + 27 + segments);
      const fresh = { bytes: 0, packets: 0, counted: 0, firstGranule: null, firstPackets: 0, firstCounted: 0 };
      if (chain.size < 64) chain.set(serial, codec === null ? null : { ...fresh, codec, lastGranule: 0 });
    } else dataSeen = true;
    const stream = chain.get(serial);
    if (stream) {
      takePackets(stream, file, at);
      stream.bytes += size;
      if (granule > 0) {
        stream.lastGranule = Math.max(stream.lastGranule, granule);
        if (stream.firstGranule === null)
          [stream.firstGranule, stream.firstPackets, stream.firstCounted] = [granule, stream.packets, stream.counted];
      }
    }
    at += 27 + segments + size;
    steps += segments + 1;
    if (steps > stepsAtOnce) {
      steps = 0;
      yield;
    }
  }
  endChain();
  if (bytes === 0) return null;
  return { ...compressed(seconds, bytes, thinnest), densest: Math.max(densestSound, raw) };
}
