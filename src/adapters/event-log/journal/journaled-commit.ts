import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AppendResult,
  DurableResult,
  EventStore,
  ExpectedRevision,
  OnCommitted,
} from '../../../application/ports/storage-ports.js';
import { isTransient } from '../../../domain/errors/transient-error.js';
import { isCallStream, type NewEvent, type Position, type StreamName } from '../../../domain/events/events.js';
import { Failure } from '../../../domain/kernel/failure.js';
import type { Log } from '../../log.js';
import { busy } from '../group-commit.js';
import { byStream } from './by-stream.js';
import { type CallStream, CallStreams } from './call-streams.js';
import type { Journal } from './journal.js';
import { type JournaledAppend, lineOf } from './journaled-append.js';
import { patienceOf, replacedJournal } from './replaced-journal.js';

/*
 * Resolves appends of calls as soon as a journal on the disk holds them, and commits them to the log later, many at a
 * time. Only what cannot fail there is resolved so: one event to a call that this process begins, or has begun and nobody
 * has continued. All else is judged by the log, after what was resolved for its stream.
 */

export interface JournaledCommitOptions {
  readonly log: Log;
  /** How long somebody waits for the disk, or for the log to have what the journal has. */
  readonly patienceMs: number;
  /** What has been answered cannot be brought into the log, or another process has the journal: this one must not go on. */
  readonly onLost: (reason: string) => void;
  /** A new journal in the place of one that could not be written; null: there can be none now. Left out: there is none. */
  readonly reopen?: () => Promise<Journal | null>;
  /** How long events are gathered before they are brought into the log. */
  readonly gatherMs?: number;
  /** How long it is waited before the first attempt at a new journal. */
  readonly reopenMs?: number;
}

interface Asked {
  readonly append: JournaledAppend;
  readonly stream: CallStream;
  readonly onCommitted: OnCommitted;
  readonly resolve: (result: DurableResult | Promise<DurableResult>) => void;
  readonly reject: (error: Failure) => void;
}

interface Unflushed {
  readonly append: JournaledAppend;
  readonly stream: CallStream;
  readonly onCommitted: OnCommitted;
  /** Of the record in the journal. */
  readonly number: number;
}

const usualGatherMs = 20;
/** What one record of the journal, and one batch for the log, holds at most. */
const maxTogether = 500;
const maxCharacters = 1024 * 1024;
/** Answered and not in the log: what a database that is away for a while may leave behind. */
const maxUnflushed = 20_000;
/** What waits for the disk. */
const maxAskedCharacters = 32 * 1024 * 1024;
const retryMs = 500;

const busyWithEarlier = (): Failure => busy('the event log does not take what was there before');

const takenOver = 'Another Tallygate process has taken over the journal of this one.';

export class JournaledCommit {
  /** null: every append waits for the log. */
  private journal: Journal | null = null;
  private opened: Journal | null = null;
  /** To be used as soon as the log has taken something: then this process was its writer when it was there already. */
  private prepared: Journal | null = null;
  private replacing: Promise<void> = Promise.resolve();
  private readonly ending = new AbortController();
  private asked: Asked[] = [];
  /** Characters in them. */
  private askedSize = 0;
  private scheduled = false;
  private writing = false;
  /** In the journal, but not known to be in the log; in the order of both. */
  private unflushed: Unflushed[] = [];
  private readonly streams = new CallStreams();
  private flushing: Promise<void> | null = null;
  /** Appends that the log judges, and has not answered. */
  private judging = 0;
  private gathering: NodeJS.Timeout | null = null;
  private closing = false;
  /** The log has refused what was answered. */
  private lost = false;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly log: Pick<EventStore, 'append' | 'close'>,
    private readonly options: JournaledCommitOptions,
  ) {}

  /** From now on. */
  use(journal: Journal): void {
    this.opened = journal;
    if (this.closing) void journal.close({ keep: false });
    else this.journal = journal;
  }

  /** See DurableAppends. */
  addDurable(append: JournaledAppend, onCommitted: OnCommitted): Promise<DurableResult> {
    const stream = this.forJournal(append);
    if (stream === null) return this.addAtOnce(append, onCommitted);
    stream.onTheirWay++;
    return new Promise((resolve, reject) => {
      this.asked.push({ append, stream, onCommitted, resolve, reject });
      this.askedSize += append.event.data.length;
      this.schedule();
    });
  }

  /** Resolves once the log holds all that has been answered. Rejects with `store-unavailable` when that takes too long. */
  async flushed(): Promise<void> {
    const last = this.unflushed.at(-1);
    if (last === undefined) return;
    await this.until(() => !this.unflushed.includes(last));
  }

  /**
   * Nothing more is asked for; the log is closed, too. Where it does not take what the journal has, that stays for the
   * next start.
   */
  async close(): Promise<void> {
    this.closing = true;
    this.ending.abort();
    await this.replacing;
    while (this.asked.length > 0 || this.writing) await this.woken();
    await this.flushing;
    await this.flush();
    // Those that wait for what was before them in the journal can go on now, unless it is there still.
    while (this.judging > 0 && this.unflushed.length === 0) await this.woken();
    await this.log.close();
    await this.opened?.close({ keep: this.unflushed.length > 0 });
  }

  /** The stream that the append begins or continues through the journal; null: the log has to judge it. */
  private forJournal({ stream, expected }: JournaledAppend): CallStream | null {
    if (this.journal === null || this.closing || !isCallStream(stream)) return null;
    if (this.unflushed.length + this.asked.length >= maxUnflushed || this.askedSize >= maxAskedCharacters) return null;
    if (expected === 'no-stream') return this.streams.begin(stream);
    return expected === 0 ? this.streams.goOn(stream) : null;
  }

  /** By the log, which judges it; what was answered before goes first, as this may spend what that gave back. */
  async add(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    this.judging++;
    try {
      const before = isCallStream(stream) ? this.streams.leaveToLog(stream) : null;
      if (before !== null) await this.until(() => before.onTheirWay === 0, busyWithEarlier);
      const last = this.unflushed.at(-1);
      if (last !== undefined) await this.until(() => !this.unflushed.includes(last), busyWithEarlier);
      const { prepared } = this;
      const result = await this.log.append(stream, events, expected);
      if (result.ok && prepared !== null && this.prepared === prepared) this.begin(prepared);
      if (result.ok && expected === 'no-stream' && events.length === 1 && isCallStream(stream))
        this.streams.begunByLog(stream);
      return result;
    } finally {
      this.judging--;
      if (this.closing) this.wake();
    }
  }

  private async addAtOnce(
    { stream, event, expected }: JournaledAppend,
    onCommitted: OnCommitted,
  ): Promise<DurableResult> {
    const result = await this.add(stream, [event], expected);
    if (!result.ok) return result;
    onCommitted(result.position);
    return { ok: true };
  }

  /** Not at once: whatever else this turn of the event loop appends shall travel with it. */
  private schedule(): void {
    if (this.scheduled || this.writing) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      void this.write();
    });
  }

  private async write(): Promise<void> {
    const { journal } = this;
    const batch = this.take();
    if (batch.length > 0) {
      this.writing = true;
      if (journal === null) for (const asked of batch) this.passOn(asked);
      else await this.record(journal, batch);
      this.writing = false;
    }
    if (this.asked.length > 0) this.schedule();
    else this.wake();
  }

  private take(): Asked[] {
    let characters = 0;
    let count = 0;
    while (count < this.asked.length && count < maxTogether && (count === 0 || characters < maxCharacters))
      characters += this.asked[count++]?.append.event.data.length ?? 0;
    this.askedSize -= characters;
    return count === this.asked.length ? this.asked.splice(0) : this.asked.splice(0, count);
  }

  private async record(journal: Journal, batch: readonly Asked[]): Promise<void> {
    const patience = patienceOf(this.options.patienceMs);
    const writing = journal.write(batch.map(({ append }) => lineOf(append)).join('\n'));
    const written = await Promise.race([writing, patience.over]);
    patience.end();
    if (written !== 'failed' && written.kind === 'written') {
      for (const { append, stream, onCommitted, resolve } of batch) {
        this.unflushed.push({ append, stream, onCommitted, number: written.number });
        if (append.expected === 'no-stream') stream.begun = true;
        resolve({ ok: true });
      }
      this.flushSoon();
      return;
    }
    const kind = written === 'failed' ? written : written.kind;
    if (kind === 'full') {
      for (const asked of batch) this.passOn(asked);
      return;
    }
    // Whether the next start would find it there is not known.
    this.journal = null;
    for (const { append, stream, reject } of batch) {
      this.streams.arrived(append.stream, stream);
      reject(new Failure('store-unavailable', { reason: 'the journal cannot be written' }));
    }
    if (kind === 'taken') this.options.onLost(takenOver);
    else this.replace(journal);
  }

  private replace(failed: Journal): void {
    const { log, reopen: open, reopenMs: pauseMs } = this.options;
    log.error({}, 'the journal cannot be written; every event waits for the database until there is a new one');
    if (open === undefined || this.closing) return;
    const isNeeded = (): boolean => this.unflushed.length > 0;
    const { signal } = this.ending;
    this.replacing = replacedJournal({ failed, isNeeded, open, log, signal, pauseMs }).then((journal) => {
      if (journal === null) return;
      this.opened = journal;
      this.prepared = journal;
    });
  }

  private begin(journal: Journal): void {
    this.prepared = null;
    this.use(journal);
    this.options.log.warn({}, 'there is a new journal, which events of calls wait for again');
  }

  /** The journal has no room for it. */
  private passOn({ append, stream, onCommitted, resolve }: Asked): void {
    this.streams.arrived(append.stream, stream);
    resolve(this.addAtOnce(append, onCommitted));
  }

  private flushSoon(): void {
    if (this.flushing !== null) return;
    if (this.unflushed.length >= maxTogether) void this.flush();
    else
      this.gathering ??= setTimeout(() => {
        this.gathering = null;
        void this.flush();
      }, this.options.gatherMs ?? usualGatherMs);
  }

  /** Resolves when the log holds everything that was answered before, or when it does not take it and the store closes. */
  private flush(): Promise<void> {
    if (this.gathering !== null) clearTimeout(this.gathering);
    this.gathering = null;
    this.flushing ??= this.flushAll().finally(() => {
      this.flushing = null;
      // What has come meanwhile is gathered anew.
      if (this.unflushed.length > 0 && !this.closing && !this.lost) this.flushSoon();
    });
    return this.flushing;
  }

  private async flushAll(): Promise<void> {
    for (let left = this.unflushed.length; left > 0 && !this.lost; ) {
      const batch = this.unflushed.slice(0, Math.min(left, maxTogether));
      const failure = await this.flushBatch(batch);
      if (failure === null) {
        left -= batch.length;
        continue;
      }
      if (!isTransient(failure)) {
        this.journal = null;
        this.lost = true;
        this.options.onLost(`What the journal holds cannot be brought into the log: ${String(failure)}`);
        return;
      }
      this.options.log.warn({ reason: String(failure) }, 'the journal waits for the database');
      if (this.closing) return;
      await sleep(retryMs);
      left = this.unflushed.length;
    }
  }

  /** Why not all of it is in the log now; null: it is. */
  private async flushBatch(batch: readonly Unflushed[]): Promise<unknown> {
    const { appends, appendOf } = byStream(batch);
    const results = await Promise.allSettled(
      appends.map(({ stream, events, expected }) => this.log.append(stream, events, expected)),
    );
    let failure: unknown = null;
    const positions = results.map((result, index): Position | null => {
      if (result.status === 'rejected') failure = result.reason;
      else if (result.value.ok) return result.value.position;
      else failure = new Error(`${appends[index]?.stream} has gone on without what was answered for it`);
      return null;
    });
    this.settle(batch, appendOf, positions);
    return failure;
  }

  /** `positions`: where the last event of each append stands; null: it is not in the log. */
  private settle(
    batch: readonly Unflushed[],
    appendOf: readonly number[],
    positions: readonly (Position | null)[],
  ): void {
    const positionOf = (index: number): Position | null => positions[appendOf[index] ?? -1] ?? null;
    this.unflushed.splice(0, batch.length, ...batch.filter((_, index) => positionOf(index) === null));
    for (const [index, { append, stream, onCommitted }] of batch.entries()) {
      const position = positionOf(index);
      if (position === null) continue;
      this.streams.arrived(append.stream, stream);
      onCommitted(position);
    }
    const before = this.unflushed[0]?.number;
    const newest = batch.at(-1)?.number;
    const committed = before === undefined ? newest : before - 1;
    if (committed !== undefined) this.journal?.forget(committed);
    this.wake();
  }

  private woken(): Promise<void> {
    return new Promise((resolve) => this.waiting.add(resolve));
  }

  private wake(): void {
    for (const look of [...this.waiting]) {
      this.waiting.delete(look);
      look();
    }
  }

  /** Brings into the log what waits until `reached`, but not for longer than patience lasts. */
  private async until(
    reached: () => boolean,
    tooLate = () => new Failure('store-unavailable', { reason: 'the event log does not take what was answered' }),
  ): Promise<void> {
    const deadline = performance.now() + this.options.patienceMs;
    while (!reached()) {
      void this.flush();
      const left = deadline - performance.now();
      if (left <= 0) throw tooLate();
      const abort = new AbortController();
      await Promise.race([this.woken(), sleep(left, null, { signal: abort.signal }).catch(() => null)]);
      abort.abort();
    }
  }
}
