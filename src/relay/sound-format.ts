import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { IFormat } from 'music-metadata';
import type { NoRoom } from '../http/body-room.js';

/*
 * What a sound file says of itself, read by a library that knows the formats. Callers send what they like, and a header
 * of a few bytes can announce billions of entries: so the library works in a process of its own, which has so much memory
 * and so much time for a file, and is given up beyond it. A thread would not do: one that fills its memory faster than it
 * can be stopped ends the process it is in. One file at a time is looked at, in turns of those who sent them.
 */

export type SoundFormat = Pick<
  IFormat,
  'duration' | 'lossless' | 'sampleRate' | 'numberOfChannels' | 'bitsPerSample' | 'hasVideo'
>;

const mostMs = 3_000;
const mostHeapMb = 128;
/** Files that are here to be looked at, of all callers and of each: one who sends slow ones shall not take every place. */
const mostWaiting = 64;
const mostWaitingOfOne = 16;

/** Answers each file with its format, or with null where there is none. Ends with the process that started it. */
const reader = `
const options = { duration: true, skipCovers: true, skipPostHeaders: true };
const loading = import(process.argv[1]);
process.on('message', async (bytes) => {
  const { parseBuffer } = await loading;
  const { format } = await parseBuffer(bytes, undefined, options).catch(() => ({ format: null }));
  if (format === null) return process.send(null);
  const { duration, lossless, sampleRate, numberOfChannels, bitsPerSample, hasVideo } = format;
  process.send({ duration, lossless, sampleRate, numberOfChannels, bitsPerSample, hasVideo });
});`;

type Answer = SoundFormat | null | 'given-up';

interface Waiting {
  readonly bytes: Uint8Array;
  readonly resolve: (format: SoundFormat | null) => void;
  readonly reject: (error: unknown) => void;
}

export class SoundFormats {
  private reader: ChildProcess | null = null;
  /** What waits, by holder; whoever's turn it is stands first. */
  private readonly queues = new Map<number, Waiting[]>();
  /** How many of each holder's files are here, the one that is looked at included. */
  private readonly here = new Map<number, number>();
  private looking = false;
  /** Told what becomes of the file that is looked at. */
  private answered: (answer: Answer) => void = () => {};

  /** Whose files are too many for another one of this holder; null: nobody's. */
  noRoomFor(holder: number): NoRoom | null {
    if ((this.here.get(holder) ?? 0) >= mostWaitingOfOne) return 'holder';
    let all = 0;
    for (const files of this.here.values()) all += files;
    return all >= mostWaiting ? 'process' : null;
  }

  /** null: it says nothing, or not within what it may take. */
  of(bytes: Uint8Array, holder: number): Promise<SoundFormat | null> {
    return new Promise((resolve, reject) => {
      const queue = this.queues.get(holder) ?? [];
      queue.push({ bytes, resolve, reject });
      this.queues.set(holder, queue);
      this.here.set(holder, (this.here.get(holder) ?? 0) + 1);
      if (!this.looking) void this.look();
    });
  }

  private async look(): Promise<void> {
    this.looking = true;
    for (const [holder, queue] of this.queues) {
      const file = queue.shift();
      // The others' turn comes first.
      this.queues.delete(holder);
      if (queue.length > 0) this.queues.set(holder, queue);
      if (file !== undefined) await this.read(file.bytes).then(file.resolve, file.reject);
      const left = (this.here.get(holder) ?? 0) - 1;
      if (left > 0) this.here.set(holder, left);
      else this.here.delete(holder);
    }
    this.looking = false;
  }

  private async read(bytes: Uint8Array): Promise<SoundFormat | null> {
    this.reader ??= this.started();
    const { reader } = this;
    let timer: NodeJS.Timeout | undefined;
    const format = await new Promise<Answer>((resolve) => {
      this.answered = resolve;
      timer = setTimeout(resolve, mostMs, 'given-up');
      reader.send(bytes, () => {});
    });
    clearTimeout(timer);
    if (format !== 'given-up') return format;
    this.reader = null;
    reader.kill('SIGKILL');
    return null;
  }

  private started(): ChildProcess {
    const library = pathToFileURL(createRequire(import.meta.url).resolve('music-metadata')).href;
    const child = spawn(process.execPath, [`--max-old-space-size=${mostHeapMb}`, '-e', reader, library], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Lengths without end are numbers there, too.
      serialization: 'advanced',
    });
    const answer = (told: Answer): void => {
      if (this.reader === child) this.answered(told);
    };
    child.on('message', (told) => answer(told as Answer));
    // Out of memory, most likely.
    const end = (): void => {
      answer('given-up');
      if (this.reader === child) this.reader = null;
    };
    child.on('error', end);
    child.on('exit', end);
    child.unref();
    child.channel?.unref();
    return child;
  }
}
