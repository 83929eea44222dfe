import { flac } from './flac.js';
import { amr, frames } from './frames.js';
import { matroska } from './matroska.js';
import type { Measured, Walk } from './measured.js';
import { programStream, transportStream } from './mpeg-stream.js';
import { mpeg4 } from './mpeg4.js';
import { ogg } from './ogg.js';
import { wave } from './wave.js';

/** Each knows its files by how they begin. MPEG audio comes last: its frames are found in much that is none. */
const walks: readonly ((file: Buffer) => Walk | Measured | null)[] = [
  ...[wave, flac, ogg, matroska, mpeg4, amr, programStream, transportStream, frames],
];

const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * How much sound a file of one of the usual formats has. The work is bounded by the file's bytes and goes on in slices,
 * so that a file costs the same however busy the machine is. null: another format.
 */
export async function measure(bytes: Uint8Array): Promise<Measured | null> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const walk of walks) {
    const walking = walk(file);
    if (walking === null) continue;
    if (!('next' in walking)) return walking;
    for (let step = walking.next(); ; step = walking.next()) {
      if (step.done !== true) await pause();
      else if (step.value === null) break;
      else return step.value;
    }
  }
  return null;
}

/** Pauses that may be left out where none can be made: a hundred thousand steps, half an hour of most sound. */
const maxAtOnce = 5;

/** The same, without a pause. null: another format, or it takes too many steps. */
export function measureNow(file: Buffer): Measured | null {
  for (const walk of walks) {
    const walking = walk(file);
    if (walking === null) continue;
    if (!('next' in walking)) return walking;
    let step = walking.next();
    for (let pauses = 0; step.done !== true; step = walking.next()) if (++pauses > maxAtOnce) return null;
    if (step.value !== null) return step.value;
  }
  return null;
}
