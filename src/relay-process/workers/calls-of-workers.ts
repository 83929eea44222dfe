import type { CallProgressNotes } from '../../application/ports/storage-ports.js';
import { atIntervals } from '../../concurrency/at-intervals.js';
import { CompactingMap } from '../../data-structures/compacting-map.js';
import type { CallProgress } from '../../domain/call/call-progress.js';
import { beginning, type Position } from '../../domain/events/events.js';
import type { CallId } from '../../domain/kernel/ids.js';
import { InFlightCall, type InFlightCalls } from '../../relay/metering/in-flight-calls.js';

/*
 * The calls that workers serve, as the primary knows them: which are under way, and how far each worker has said that
 * its calls have come. It is noted for all workers together, because it is up to one position of the log that whoever
 * comes after this node relies on the notes.
 */

const noteEveryMs = 250;

/** Where a worker is lost nobody knows whether its call had gone upstream: it counts as one attempt. */
const nothingKnown: CallProgress = { attempts: [], unknownAttempts: 0, upstreamModel: null, delivered: null };

/** Number of a reservation among those of one worker: the worker is sent them in this order. */
export type Turn = number;

/** The calls of one worker. */
export interface CallsOfWorker extends Pick<InFlightCalls, 'begin' | 'reserved' | 'end' | 'lose'> {
  /** The worker is now sent that the call is reserved. */
  announce(callId: CallId): Turn;
  /** As of CallProgressNotes; `notedTo`: of the calls up to this turn. */
  note(notedTo: Turn, progressed: readonly { readonly callId: CallId; readonly progress: CallProgress }[]): void;
  /** The worker is gone, and will say nothing more. Whether it ever had a reservation. */
  leave(): boolean;
}

interface LogPosition {
  readonly position: Position;
  /** That of a reservation before it; all between the two are known of. `beginning`: none was sent. */
  readonly before: Position;
}

interface Reserved {
  readonly turn: Turn;
  /** null: it has no position in the log yet. */
  logged: LogPosition | null;
}

interface Worker {
  /** How many reservations it has been sent. */
  turns: Turn;
  /** Of these it has not said everything, in their order. */
  unsaid: Reserved[];
}

interface OpenCall {
  readonly worker: Worker;
  /** null: its worker has not been sent whether it is reserved. */
  reserved: Reserved | null;
  /** In the log, once it is known. */
  logged: LogPosition | null;
  noted: boolean;
}

export class CallsOfWorkers {
  private readonly open = new CompactingMap<CallId, OpenCall>();
  private readonly workers = new Set<Worker>();
  private progressed = new Map<CallId, CallProgress>();
  private ended: CallId[] = [];
  private notedTo: Position = beginning;
  /** Of all reservations. */
  private newest: Position = beginning;
  private notes: Pick<CallProgressNotes, 'note'> | null = null;
  private writing: Promise<void> = Promise.resolve();

  /** A worker that has just been started. */
  enter(): CallsOfWorker {
    const { open } = this;
    const worker: Worker = { turns: 0, unsaid: [] };
    this.workers.add(worker);
    return {
      begin(callId) {
        open.set(callId, { worker, reserved: null, logged: null, noted: false });
        return new InFlightCall();
      },
      reserved: (callId, position) => {
        const call = open.get(callId);
        if (call !== undefined) {
          // Most are sent in the order of the log; where one is not, notes are relied on no further until it is said.
          call.logged = { position, before: position > this.newest ? this.newest : beginning };
          if (call.reserved !== null) call.reserved.logged = call.logged;
        }
        if (position > this.newest) this.newest = position;
      },
      announce(callId) {
        const call = open.get(callId);
        const reserved = { turn: ++worker.turns, logged: call?.logged ?? null };
        if (call !== undefined) {
          call.reserved = reserved;
          worker.unsaid.push(reserved);
        }
        return reserved.turn;
      },
      end: (callId) => this.end(callId),
      lose: (callId) => void open.delete(callId),
      note: (notedTo, progressed) => {
        for (const { callId, progress } of progressed) this.note(callId, progress);
        const rest = worker.unsaid.findIndex(({ turn }) => turn > notedTo);
        worker.unsaid.splice(0, rest < 0 ? worker.unsaid.length : rest);
      },
      leave: () => {
        this.forget(worker);
        return worker.turns > 0;
      },
    };
  }

  has(callId: CallId): boolean {
    return this.open.has(callId);
  }

  /** Starts writing what is noted. The result stops it. */
  startNoting(notes: Pick<CallProgressNotes, 'note'>, warn: (error: unknown) => void): () => Promise<void> {
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
    const unsaid = new Set(worker.unsaid);
    for (const [callId, call] of this.open)
      if (call.worker === worker && !call.noted && (call.reserved === null || unsaid.has(call.reserved)))
        this.note(callId, nothingKnown);
  }

  private async write(notes: Pick<CallProgressNotes, 'note'>): Promise<void> {
    const due = this.due();
    const { progressed, ended } = this;
    if (progressed.size === 0 && ended.length === 0 && due === this.notedTo) return;
    this.progressed = new Map();
    this.ended = [];
    try {
      const progresses = [...progressed].map(([callId, progress]) => ({ callId, progress }));
      await notes.note(due, progresses, ended);
      this.notedTo = due;
    } catch (error) {
      // What has been said since is newer.
      this.progressed = new Map([...progressed, ...this.progressed]);
      this.ended = [...ended, ...this.ended];
      for (const callId of this.ended) this.progressed.delete(callId);
      throw error;
    }
  }

  /** Up to where every worker has said everything. What has no position in the log yet will get one behind all others. */
  private due(): Position {
    let due = this.newest;
    for (const { unsaid } of this.workers)
      for (const { logged } of unsaid) if (logged !== null && logged.position <= due) due = logged.before;
    return due > this.notedTo ? due : this.notedTo;
  }
}
