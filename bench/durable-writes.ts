import { writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createFile } from '../src/adapters/event-log/journal/journal.js';
import { type Percentiles, percentilesOf } from './figures.js';

/*
 * What a durable write takes on a disk when nothing else happens: into a file as the journal has it, but without its
 * thread, so that the figure is the disk's and not the gateway's.
 */

/** About what the event of a call takes. */
export const writeBytes = 512;
const fileBytes = 1024 * 1024;
const pauseMs = 1;

/** Milliseconds of each of so many writes to a file in `directory`, which is removed again. */
export async function durableWrites(directory: string, count: number): Promise<Percentiles> {
  const path = join(directory, 'durable-writes');
  const file = await createFile(path, Buffer.alloc(0), fileBytes);
  try {
    const content = Buffer.alloc(writeBytes, 'x');
    const took: number[] = [];
    for (let index = 0; index < count; index++) {
      await pause(pauseMs);
      const startedAt = performance.now();
      writeSync(file.fd, content, 0, writeBytes, (index * writeBytes) % fileBytes);
      took.push(performance.now() - startedAt);
    }
    return percentilesOf(took);
  } finally {
    await file.close();
    await rm(path);
  }
}
