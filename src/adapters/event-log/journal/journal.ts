import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type FlushingMemory, slots, verdicts } from './flushing-memory.js';
import { headBytes, headOf, writeRecord } from './record.js';

/*
 * Texts on the disk before they are anywhere else: two files of fixed size in turns, of which one is written while the
 * other one waits until all of it is elsewhere too.
 */

/** `full`: nothing was written, there is no room until more is forgotten. `taken`: another process has the journal. */
export type Written =
  | { readonly kind: 'written'; readonly number: number }
  | { readonly kind: 'full' | 'taken' | 'failed' };

export interface Journal {
  /** Resolves once the text is on the disk; one at a time. After `taken` or `failed` it is not to be written to any more. */
  write(text: string): Promise<Written>;
  /** Whatever was written up to this number is not needed any more. */
  forget(number: number): void;
  /** From now on nothing is written. Resolves once nothing is being written any more, however long the disk takes. */
  end(): Promise<void>;
  /** `keep`: the files stay, for the next start to read. */
  close(options: { readonly keep: boolean }): Promise<void>;
}

export const journalFiles = ['a', 'b'] as const;
/** How the name of a journal's folder begins while a process writes it. */
export const currentPrefix = 'current-';
/** A disk that stands still keeps the thread from ending. */
const maxEndMs = 10_000;
const usualFileBytes = 8 * 1024 * 1024;

/** Synchronous for each write: one call brings the data to the disk. */
const writing = constants.O_RDWR | (constants.O_DSYNC ?? constants.O_SYNC);

interface Segment {
  readonly file: FileHandle;
  /** Where the next record goes. */
  offset: number;
  /** The newest number in it; -1: it is empty. */
  newest: number;
}

const isSource = import.meta.url.endsWith('.ts');
const ownEntry = new URL(isSource ? './thread-from-source.cjs' : './flushing-thread.js', import.meta.url);

interface JournalOptions {
  /** Where journals are; this one gets a folder of its own there. */
  readonly directory: string;
  /** What distinguishes this log from another; a short plain text. */
  readonly log: string;
  readonly fileBytes?: number;
}

/** By blocks: a buffer as long as the file has V8 collect everything there is, in the midst of a start. */
function* blocksOf(head: Buffer, bytes: number): Generator<Buffer> {
  yield head;
  const zeros = Buffer.alloc(256 * 1024);
  for (let left = bytes - head.length; left > 0; left -= zeros.length)
    yield zeros.subarray(0, Math.min(left, zeros.length));
}

/**
 * A new file as long as it will ever be, with every byte written, so that writing to it again changes nothing but content;
 * open so that a write is on the disk when it returns. `head`: what it begins with.
 */
export async function createFile(path: string, head: Buffer, bytes: number): Promise<FileHandle> {
  const made = await open(path, 'wx', 0o600);
  try {
    await writeFile(made, blocksOf(head, bytes));
    await made.sync();
  } finally {
    await made.close();
  }
  return open(path, writing);
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  await handle.sync().finally(() => handle.close());
}

/** Throws what the file system has against it. */
export async function openJournal({ directory, log, fileBytes = usualFileBytes }: JournalOptions): Promise<Journal> {
  const folder = join(directory, `${currentPrefix}${randomUUID()}`);
  await mkdir(folder, { mode: 0o700, recursive: true });
  const paths = journalFiles.map((name) => join(folder, name));
  const segments: Segment[] = [];
  try {
    for (const path of paths)
      segments.push({ file: await createFile(path, headOf(log), fileBytes), offset: headBytes, newest: -1 });
    for (const each of [folder, directory]) await syncDirectory(each);
  } catch (error) {
    for (const { file } of segments) await file.close();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return new TwoFiles(folder, segments, paths, fileBytes);
}

class TwoFiles implements Journal {
  private readonly memory: FlushingMemory;
  private readonly control: Int32Array;
  private readonly content: Buffer;
  private readonly thread: Worker;
  private readonly ended: Promise<void>;
  private active = 0;
  private next = 0;
  private forgotten = -1;
  private over = false;

  constructor(
    private readonly directory: string,
    private readonly segments: readonly Segment[],
    paths: readonly string[],
    private readonly fileBytes: number,
  ) {
    this.memory = { control: new SharedArrayBuffer(64), bytes: new SharedArrayBuffer(fileBytes - headBytes) };
    this.control = new Int32Array(this.memory.control);
    this.content = Buffer.from(this.memory.bytes);
    this.thread = new Worker(ownEntry, {
      name: 'journal',
      workerData: this.memory,
      execArgv: isSource ? [] : undefined,
    });
    this.thread.postMessage(paths);
    this.thread.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.thread.once('exit', () => {
        this.over = true;
        // Who waits for an answer gets one.
        Atomics.store(this.control, slots.verdict, verdicts.failed);
        Atomics.store(this.control, slots.answered, Atomics.load(this.control, slots.asked));
        Atomics.notify(this.control, slots.answered);
        resolve();
      });
    });
  }

  async write(text: string): Promise<Written> {
    if (this.over) return { kind: 'failed' };
    const number = this.next;
    const prepared = this.prepare(number, text);
    if (prepared === null) return { kind: 'full' };
    const { segment, length } = prepared;
    const verdict = await this.flush(length);
    if (verdict !== verdicts.written) {
      this.over = true;
      return { kind: verdict === verdicts.taken ? 'taken' : 'failed' };
    }
    segment.offset += length;
    segment.newest = number;
    this.next++;
    return { kind: 'written', number };
  }

  forget(number: number): void {
    this.forgotten = number;
  }

  end(): Promise<void> {
    this.over = true;
    Atomics.store(this.control, slots.asked, -1);
    Atomics.notify(this.control, slots.asked);
    return this.ended;
  }

  async close({ keep }: { readonly keep: boolean }): Promise<void> {
    const ended = this.end();
    let impatient: NodeJS.Timeout | undefined;
    const standsStill = new Promise((resolve) => {
      impatient = setTimeout(resolve, maxEndMs);
    });
    await Promise.race([ended, standsStill]);
    clearTimeout(impatient);
    for (const { file } of this.segments) await file.close();
    if (!keep) await rm(this.directory, { recursive: true, force: true });
  }

  /** The record in the memory of the thread, and where it will go; null: both files are full. */
  private prepare(number: number, text: string): { readonly segment: Segment; readonly length: number } | null {
    for (let tries = 0; tries < this.segments.length; tries++) {
      const segment = this.segments[this.active];
      if (segment === undefined) return null;
      const room = this.content.subarray(0, this.fileBytes - segment.offset);
      const length = writeRecord(room, number, this.forgotten + 1, text);
      if (length !== null) return { segment, length };
      const other = this.segments[1 - this.active];
      if (other === undefined || other.newest > this.forgotten) return null;
      other.offset = headBytes;
      this.active = 1 - this.active;
    }
    return null;
  }

  private async flush(length: number): Promise<number> {
    const { control, segments, active } = this;
    const segment = segments[active];
    const asked = (Atomics.load(control, slots.asked) + 1) & 0x7fff_ffff;
    control[slots.file] = segment?.file.fd ?? -1;
    control[slots.place] = active;
    control[slots.offset] = segment?.offset ?? 0;
    control[slots.length] = length;
    const before = Atomics.load(control, slots.answered);
    const answer = Atomics.waitAsync(control, slots.answered, before);
    Atomics.store(control, slots.asked, asked);
    Atomics.notify(control, slots.asked);
    if (answer.async) await answer.value;
    return control[slots.verdict] ?? verdicts.failed;
  }
}
