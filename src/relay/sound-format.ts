import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { IFormat } from 'music-metadata';

/*
 * What a sound file says of itself, read by a library that knows the formats. Callers send what they like, and a header
 * of a few bytes can announce billions of entries: so the library works on a thread of its own, which has so much memory
 * and so much time for a file, and is given up beyond it. One file at a time is looked at.
 */

export type SoundFormat = Pick<
  IFormat,
  'duration' | 'lossless' | 'sampleRate' | 'numberOfChannels' | 'bitsPerSample' | 'hasVideo'
>;

const mostMs = 3_000;
const mostHeapMb = 128;
/** Files that wait for their turn. */
const mostWaiting = 32;

/** Answers each file with its format, or with null where there is none. */
const thread = `
const { parentPort, workerData } = require('node:worker_threads');
const options = { duration: true, skipCovers: true, skipPostHeaders: true };
const loading = import(workerData);
parentPort.on('message', async (bytes) => {
  const { parseBuffer } = await loading;
  const { format } = await parseBuffer(bytes, undefined, options).catch(() => ({ format: null }));
  if (format === null) return parentPort.postMessage(null);
  const { duration, lossless, sampleRate, numberOfChannels, bitsPerSample, hasVideo } = format;
  parentPort.postMessage({ duration, lossless, sampleRate, numberOfChannels, bitsPerSample, hasVideo });
});`;

type Answer = SoundFormat | null | 'given-up';

export class SoundFormats {
  private worker: Worker | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  /** Told what becomes of the file that is looked at. */
  private answered: (answer: Answer) => void = () => {};

  /** As many files wait as should. */
  get busy(): boolean {
    return this.waiting >= mostWaiting;
  }

  /** null: it says nothing, or not within what it may take. */
  of(bytes: Uint8Array): Promise<SoundFormat | null> {
    this.waiting++;
    const found = this.last.then(() => this.read(bytes)).finally(() => this.waiting--);
    this.last = found.catch(() => {});
    return found;
  }

  private async read(bytes: Uint8Array): Promise<SoundFormat | null> {
    this.worker ??= this.started();
    const { worker } = this;
    let timer: NodeJS.Timeout | undefined;
    const format = await new Promise<Answer>((resolve) => {
      this.answered = resolve;
      timer = setTimeout(resolve, mostMs, 'given-up');
      worker.postMessage(bytes);
    });
    clearTimeout(timer);
    if (format !== 'given-up') return format;
    this.worker = null;
    await worker.terminate();
    return null;
  }

  private started(): Worker {
    const library = createRequire(import.meta.url).resolve('music-metadata');
    const worker = new Worker(thread, {
      eval: true,
      workerData: pathToFileURL(library).href,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: mostHeapMb },
    });
    const answer = (told: Answer): void => {
      if (this.worker === worker) this.answered(told);
    };
    worker.on('message', answer);
    // Out of memory, most likely; it ends by itself then.
    worker.on('error', () => answer('given-up'));
    worker.on('exit', () => answer('given-up'));
    worker.unref();
    return worker;
  }
}
