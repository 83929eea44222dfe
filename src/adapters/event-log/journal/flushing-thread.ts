import { accessSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type FlushingMemory, slots, verdicts } from './flushing-memory.js';

/*
 * Writes what it is given and answers when it is on the disk: the files are open for synchronous writing. A thread of its
 * own, as a disk takes its time, and others must not be able to keep it waiting.
 */

const { control, bytes } = workerData as FlushingMemory;
const signals = new Int32Array(control);
const content = new Uint8Array(bytes);

/**
 * Whether the file still is where it was made: else another process has taken the journal over, which renames its folder,
 * and nobody else gives one that name. Nothing more is asked of it: who has been shown when a file was written (stat) has
 * Linux note that exactly at the next write, which then brings the inode to the disk as well.
 */
function isInPlace(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function flush(paths: readonly string[]): number {
  const [file, place, offset, length] = [slots.file, slots.place, slots.offset, slots.length].map(
    (slot) => signals[slot] ?? 0,
  ) as [number, number, number, number];
  try {
    for (let done = 0; done < length; ) done += writeSync(file, content, done, length - done, offset + done);
    return isInPlace(paths[place] ?? '') ? verdicts.written : verdicts.taken;
  } catch {
    return verdicts.failed;
  }
}

if (parentPort === null) throw new Error('This is a thread of the gateway, not a program');
parentPort.once('message', (paths: readonly string[]) => {
  for (let answered = 0; ; ) {
    Atomics.wait(signals, slots.asked, answered);
    const asked = Atomics.load(signals, slots.asked);
    if (asked < 0) return;
    if (asked === answered) continue;
    Atomics.store(signals, slots.verdict, flush(paths));
    answered = asked;
    Atomics.store(signals, slots.answered, answered);
    Atomics.notify(signals, slots.answered);
  }
});
