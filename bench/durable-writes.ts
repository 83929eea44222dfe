import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Percentiles, percentilesOf } from './figures.js';

/*
 * What a durable write takes on a disk when nothing else happens, as a gateway's journal makes them: into a file that
 * has its size already, synchronous, one after the other with a pause between.
 */

/** About what the event of a call takes. */
export const writeBytes = 512;
const fileBytes = 1024 * 1024;
const pauseMs = 1;

/** Milliseconds of each of so many writes to a file in `directory`, which is removed again. */
export async function durableWrites(directory: string, count: number): Promise<Percentiles> {
  const path = join(directory, 'durable-writes');
  const made = openSync(path, 'wx', 0o600);
  writeSync(made, Buffer.alloc(fileBytes));
  fsyncSync(made);
  closeSync(made);
  const file = openSync(path, constants.O_RDWR | (constants.O_DSYNC ?? constants.O_SYNC));
  try {
    const content = Buffer.alloc(writeBytes, 'x');
    const took: number[] = [];
    for (let index = 0; index < count; index++) {
      await pause(pauseMs);
      const startedAt = performance.now();
      writeSync(file, content, 0, writeBytes, (index * writeBytes) % fileBytes);
      took.push(performance.now() - startedAt);
    }
    return percentilesOf(took);
  } finally {
    closeSync(file);
    await rm(path);
  }
}
