import { compressed, stepsAtOnce, thinnestOf, type Walk } from './measured.js';

/* MPEG program and transport streams: pieces with time stamps, which may begin anywhere and start anew. */

const ticks = 90_000;
/** Stamps have 33 bits. */
const wrap = 2 ** 33;
/** What lies further apart belongs to another recording. */
const farthest = 10 * ticks;

class Stamps {
  private last: number | null = null;
  private sum = 0;
  private steps = 0;
  bytes = 0;

  constructor(readonly isSound: boolean) {}

  take(stamp: number): void {
    const passed = this.last === null ? 0 : (stamp - this.last + wrap) % wrap;
    // Pictures come in another order than they are shown in.
    if (passed > wrap / 2 && wrap - passed < farthest) return;
    if (passed < farthest) {
      this.sum += passed;
      if (passed > 0) this.steps++;
    }
    this.last = stamp;
  }

  /** The last piece lasts as long as the others do. */
  get seconds(): number {
    return this.steps === 0 ? 0 : (this.sum + this.sum / this.steps) / ticks;
  }
}

const stampAt = (file: Buffer, at: number): number =>
  (((file[at] ?? 0) >> 1) & 7) * 2 ** 30 +
  (file[at + 1] ?? 0) * 2 ** 22 +
  ((file[at + 2] ?? 0) >> 1) * 2 ** 15 +
  (file[at + 3] ?? 0) * 2 ** 7 +
  ((file[at + 4] ?? 0) >> 1);

/** MPEG sound, and what is carried as private. */
const isSound = (id: number): boolean => (id >= 0xc0 && id <= 0xdf) || id === 0xbd || id === 0xfd;
const hasStamps = (id: number): boolean => isSound(id) || (id >= 0xe0 && id <= 0xef);

/** Of a piece that begins at this place; null: it has none. */
function pieceStamp(file: Buffer, at: number): number | null {
  if (at + 14 > file.length) return null;
  if (((file[at + 6] ?? 0) & 0xc0) === 0x80) return (file[at + 7] ?? 0) & 0x80 ? stampAt(file, at + 9) : null;
  // MPEG-1: filling, perhaps the size of a buffer, then the stamp.
  let offset = at + 6;
  for (let filling = 0; filling < 16 && file[offset] === 0xff; filling++) offset++;
  if (((file[offset] ?? 0) & 0xc0) === 0x40) offset += 2;
  return ((file[offset] ?? 0) & 0xe0) === 0x20 && offset + 5 <= file.length ? stampAt(file, offset) : null;
}

const measured = (streams: Iterable<Stamps>) => {
  let best: Stamps | null = null;
  for (const stream of streams) {
    if (stream.seconds === 0) continue;
    // Sound where there is some, else the pictures' time.
    if (
      best === null ||
      (stream.isSound && !best.isSound) ||
      (stream.isSound === best.isSound && stream.seconds > best.seconds)
    )
      best = stream;
  }
  return best === null ? null : compressed(best.seconds, best.bytes, thinnestOf.aac);
};

const packHeader = 0x1ba;

/** null: it is none, or has no stamps. */
export function* programStream(file: Buffer): Walk {
  if (file.length < 14 || file.readUInt32BE(0) !== packHeader) return null;
  const streams = new Map<number, Stamps>();
  let steps = 0;
  for (let at = 0; at >= 0 && at + 14 <= file.length; ) {
    if (++steps % stepsAtOnce === 0) yield;
    const code = file.readUInt32BE(at);
    const id = code & 0xff;
    if (code >>> 8 !== 1 || id < 0xb9) {
      at = file.indexOf('000001', at + 1, 'hex');
      continue;
    }
    if (id === 0xb9) at += 4;
    else if (code === packHeader) at += ((file[at + 4] ?? 0) & 0xc0) === 0x40 ? 14 + ((file[at + 13] ?? 0) & 7) : 12;
    else {
      const length = file.readUInt16BE(at + 4);
      if (hasStamps(id)) {
        const stream = streams.get(id) ?? new Stamps(isSound(id));
        streams.set(id, stream);
        stream.bytes += length;
        const stamp = pieceStamp(file, at);
        if (stamp !== null) stream.take(stamp);
      }
      at += 6 + length;
    }
  }
  return measured(streams.values());
}

const packetSizes = [188, 192, 204];

/** The first packet, and their distance; null: it is no transport stream. */
function packetsOf(file: Buffer): readonly [first: number, distance: number] | null {
  for (const distance of packetSizes)
    for (let first = 0; first < distance; first++)
      if ([0, 1, 2, 3].every((count) => file[first + count * distance] === 0x47)) return [first, distance];
  return null;
}

/** null: it is none, or has no stamps. */
export function* transportStream(file: Buffer): Walk {
  const packets = packetsOf(file);
  if (packets === null) return null;
  const [first, distance] = packets;
  const streams = new Map<number, Stamps>();
  let steps = 0;
  for (let at = first; at + 188 <= file.length; ) {
    if (++steps % stepsAtOnce === 0) yield;
    if (file[at] !== 0x47) {
      at = file.indexOf(0x47, at + 1);
      if (at < 0) break;
      continue;
    }
    const head = file.readUInt32BE(at);
    const id = (head >>> 8) & 0x1fff;
    const payload = at + 4 + (head & 0x20 ? 1 + (file[at + 4] ?? 0) : 0);
    const begins = (head & 0x40_0000) !== 0 && (head & 0x10) !== 0 && payload + 14 <= at + 188;
    if (begins && file.readUIntBE(payload, 3) === 1 && hasStamps(file[payload + 3] ?? 0)) {
      const stream = streams.get(id) ?? new Stamps(isSound(file[payload + 3] ?? 0));
      streams.set(id, stream);
      const stamp = pieceStamp(file, payload);
      if (stamp !== null) stream.take(stamp);
    }
    const stream = streams.get(id);
    if (stream !== undefined) stream.bytes += Math.max(at + 188 - payload, 0);
    at += distance;
  }
  return measured(streams.values());
}
