import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { IFormat } from 'music-metadata';
import type { NoRoom } from '../../http/body-room.js';
import { RelayError } from '../contracts/errors.js';
import { measure } from './measure.js';
import { densestSound, type Measured, thinnestOf } from './measured.js';

/*
 * How long the audio of a file is. Usual formats are read here, others by a library. A hostile header can announce
 * billions of entries, so the library runs in a process with limits of memory and time, one file at a time, fair among
 * senders. A thread would not do: one that fills its memory fast enough ends the whole process.
 */

type SoundFormat = Pick<
  IFormat,
  'duration' | 'lossless' | 'sampleRate' | 'numberOfChannels' | 'bitsPerSample' | 'hasVideo'
>;

/** Of the library's own processor time for a file, in milliseconds. */
const defaultMaxMs = 3_000;
/** It waits so many times as long where the machine leaves it no time. */
const maxWaits = 5;
/** Of film with sound, bytes that a second takes at most. */
const densestFilm = 1_000_000;
const maxHeapMb = 128;
/** Files that are here to be looked at, of all callers and of each: one who sends slow ones shall not take every place. */
const maxWaiting = 64;
const maxWaitingOfOne = 16;

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

/** Out of memory is the file's fault, and so is what comes of it; out of time may be the machine's. */
type Answer = SoundFormat | null | 'out-of-memory' | 'out-of-time';

/** Uncompressed, a second takes no more than this; what is compressed without loss takes less. */
const rawRate = ({ sampleRate = 0, numberOfChannels = 0, bitsPerSample = 0 }: SoundFormat): number =>
  (sampleRate * numberOfChannels * bitsPerSample) / 8;

function asSaid({ length }: Uint8Array, format: SoundFormat): Measured {
  const { duration, lossless, hasVideo } = format;
  const raw = (lossless && rawRate(format)) || 0;
  return {
    seconds: duration !== undefined && duration > 0 ? duration : null,
    bytes: length,
    densest: hasVideo ? densestFilm : Math.max(raw, densestSound),
    thinnest: raw > 0 ? thinnestOf.flac : thinnestOf.unknown,
  };
}

/** Ticks of a hundredth of a second; null: this system does not say. */
function processorTicks({ pid }: ChildProcess): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return null;
  }
}

const outOfTime = (): RelayError =>
  new RelayError(
    503,
    'sound_file_not_read',
    'how long the file lasts was not found in the time there is for it; try again later, or send it as wav, mp3, m4a, flac, ogg or webm',
    { retryAfter: '5' },
  );

interface Waiting {
  readonly bytes: Uint8Array;
  readonly resolve: (measured: Measured | null) => void;
  readonly reject: (error: unknown) => void;
}

export class SoundFormats {
  private reader: ChildProcess | null = null;
  /** What waits, by holder; whoever's turn it is stands first. */
  private readonly queues = new Map<number, Waiting[]>();
  /** How many of each holder's files are here, the one that is looked at included. */
  private readonly here = new Map<number, number>();
  private looking = false;
  /** Called with what becomes of the file that is looked at. */
  private answered: (answer: Answer) => void = () => {};

  constructor(private readonly maxMs = defaultMaxMs) {}

  /** Whose files are too many for another one of this holder; null: nobody's. */
  noRoomFor(holder: number): NoRoom | null {
    if ((this.here.get(holder) ?? 0) >= maxWaitingOfOne) return 'holder';
    let all = 0;
    for (const files of this.here.values()) all += files;
    return all >= maxWaiting ? 'process' : null;
  }

  /** null: of no known format. Rejects with a refusal where the library does not come to an end. */
  of(bytes: Uint8Array, holder: number): Promise<Measured | null> {
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

  private async read(bytes: Uint8Array): Promise<Measured | null> {
    const measured = await measure(bytes);
    if (measured !== null) return measured;
    const answer = await this.ask(bytes);
    if (answer === 'out-of-time') throw outOfTime();
    return answer === null || answer === 'out-of-memory' ? null : asSaid(bytes, answer);
  }

  private async ask(bytes: Uint8Array): Promise<Answer> {
    this.reader ??= this.started();
    const { reader, maxMs } = this;
    const before = processorTicks(reader);
    let timer: NodeJS.Timeout | undefined;
    let waits = 0;
    const answer = await new Promise<Answer>((resolve) => {
      this.answered = resolve;
      const wait = (): void => {
        const now = processorTicks(reader);
        const worked = before === null || now === null || (now - before) * 10 >= maxMs;
        if (worked || ++waits >= maxWaits) resolve('out-of-time');
        else timer = setTimeout(wait, maxMs);
      };
      timer = setTimeout(wait, maxMs);
      reader.send(bytes, () => {});
    });
    clearTimeout(timer);
    if (answer !== 'out-of-memory' && answer !== 'out-of-time') return answer;
    this.reader = null;
    reader.kill('SIGKILL');
    return answer;
  }

  private started(): ChildProcess {
    const library = pathToFileURL(createRequire(import.meta.url).resolve('music-metadata')).href;
    const child = spawn(process.execPath, [`--max-old-space-size=${maxHeapMb}`, '-e', reader, library], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Lengths without end are numbers there, too.
      serialization: 'advanced',
    });
    const answer = (result: Answer): void => {
      if (this.reader === child) this.answered(result);
    };
    child.on('message', (result) => answer(result as Answer));
    // Out of memory, most likely.
    const end = (): void => {
      answer('out-of-memory');
      if (this.reader === child) this.reader = null;
    };
    child.on('error', end);
    child.on('exit', end);
    child.unref();
    child.channel?.unref();
    return child;
  }
}
