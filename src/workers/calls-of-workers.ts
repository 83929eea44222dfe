import type { CallProgress, CallProgressNotes } from '../application/ports.js';
import { beginning, type Position } from '../domain/events.js';
import type { CallId } from '../domain/ids.js';
import { type CallsUnderWay, CallUnderWay } from '../relay/call/under-way.js';
import { atIntervals } from '../waiting/at-intervals.js';

/*
 * The calls that workers serve, as the primary knows them: which are under way, and how far each worker has said that
 * its calls have come. It is noted for all workers together, because it is up to one position of the log that whoever
 * comes after this node relies on the notes.
 */

const noteEveryMs = 250;

/** Where a worker is lost nobody knows whether its call had gone upstream: it counts as one attempt. */
const nothingKnown: CallProgress = { attempts: [], unknownAttempts: 0, upstreamModel: null, delivered: null };

/** The calls of one worker. */
export interface CallsOfWorker extends Pick<CallsUnderWay, 'begin' | 'reserved' | 'end' | 'lose'> {
  /** Of the reservation of a call under way. */
  positionOf(callId: CallId): Position;
  /** See CallProgressNotes. */
  note(notedTo: Position, progressed: readonly { readonly callId: CallId; readonly progress: CallProgress }[]): void;
  /** The worker is gone, and will say nothing more. The position of its newest reservation; null: it never had one. */
  leave(): Position | null;
}

interface Worker {
  /** Its newest reservation. */
  newest: Position;
  /** Of its calls up to there everything has been said. */
  notedTo: Position;
}

interface OpenCall {
  readonly worker: Worker;
  /** null: it is not known yet whether it is reserved. */
  position: Position | null;
  noted: boolean;
}

export class CallsOfWorkers {
  private readonly open = new Map<CallId, OpenCall>();
  private readonly workers = new Set<Worker>();
  private progressed = new Map<CallId, CallProgress>();
  private ended: CallId[] = [];
  private notedTo: Position = beginning;
  private notes: Pick<CallProgressNotes, 'note'> | null = null;
  private writing: Promise<void> = Promise.resolve();

  /** A worker that has just been started. */
  enter(): CallsOfWorker {
    const { open } = this;
    const worker: Worker = { newest: beginning, notedTo: beginning };
    this.workers.add(worker);
    return {
      begin(callId) {
        open.set(callId, { worker, position: null, noted: false });
        return new CallUnderWay();
      },
      reserved(callId, position) {
        const call = open.get(callId);
        if (call !== undefined) call.position = position;
        if (position > worker.newest) worker.newest = position;
      },
      end: (callId) => this.end(callId),
      lose: (callId) => void open.delete(callId),
      positionOf: (callId) => open.get(callId)?.position ?? beginning,
      note: (notedTo, progressed) => {
        for (const { callId, progress } of progressed) this.note(callId, progress);
        worker.notedTo = notedTo;
      },
      leave: () => {
        this.forget(worker);
        return worker.newest === beginning ? null : worker.newest;
      },
    };
  }

  has(callId: CallId): boolean {
    return this.open.has(callId);
  }

  /** Starts writing what is noted. The result stops it. */
  keepNoting(notes: Pick<CallProgressNotes, 'note'>, warn: (error: unknown) => void): () => Promise<void> {
    this.notes = notes;
    const stop = atIntervals(noteEveryMs, () => this.noted().catch(warn));
    return async () => {
      await stop();
      // What has ended since shall leave no note behind.
      await this.noted().catch(warn);
    };
  }

  /** Resolves once all that has been said is written down. Rejects where it cannot be; it is tried again. */
  noted(): Promise<void> {
    const { notes } = this;
    if (notes === null) return Promise.resolve();
    // One after the other: what one of them has taken along is not written yet when the next one finds nothing left.
    const written = this.writing.then(() => this.write(notes));
    this.writing = written.catch(() => {});
    return written;
  }

  private note(callId: CallId, progress: CallProgress): void {
    const call = this.open.get(callId);
    // It may have ended while its worker was saying so.
    if (call === undefined) return;
    call.noted = true;
    this.progressed.set(callId, progress);
  }

  private end(callId: CallId): void {
    if (this.open.get(callId)?.noted) this.ended.push(callId);
    this.progressed.delete(callId);
    this.open.delete(callId);
  }

  private forget(worker: Worker): void {
    this.workers.delete(worker);
    for (const [callId, call] of this.open)
      if (call.worker === worker && !call.noted && (call.position ?? Number.POSITIVE_INFINITY) > worker.notedTo)
        this.note(callId, nothingKnown);
  }

  private async write(notes: Pick<CallProgressNotes, 'note'>): Promise<void> {
    const due = this.due();
    const { progressed, ended } = this;
    if (progressed.size === 0 && ended.length === 0 && due === this.notedTo) return;
    this.progressed = new Map();
    this.ended = [];
    try {
      const told = [...progressed].map(([callId, progress]) => ({ callId, progress }));
      await notes.note(due, told, ended);
      this.notedTo = due;
    } catch (error) {
      // What has been said since is newer.
      this.progressed = new Map([...progressed, ...this.progressed]);
      this.ended = [...ended, ...this.ended];
      for (const callId of this.ended) this.progressed.delete(callId);
      throw error;
    }
  }

  /** Up to where every worker has said everything. */
  private due(): Position {
    let newest = this.notedTo;
    let least: Position | null = null;
    for (const worker of this.workers) {
      if (worker.newest > newest) newest = worker.newest;
      if (worker.notedTo < worker.newest && (least === null || worker.notedTo < least)) least = worker.notedTo;
    }
    if (least === null) return newest;
    return least > this.notedTo ? least : this.notedTo;
  }
}
