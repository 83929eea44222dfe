import type { AppendResult, ExpectedRevision } from '../../application/ports/storage-ports.js';
import type { StreamName } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { EncodedEvent } from './encoded-event.js';

/* Collects concurrent appends and has them written together: one round trip, one commit, many callers. */

export interface Append {
  readonly stream: StreamName;
  readonly events: readonly EncodedEvent[];
  readonly expected: ExpectedRevision;
  /** Characters of all its payloads: what it weighs while it waits. */
  readonly size: number;
  /** When it was asked for, on the clock of performance.now(). */
  readonly since: number;
}

/** What became of one append of a batch; an Error when it alone could not be decided. */
export type AppendOutcome = AppendResult | Error;

interface Waiting {
  readonly append: Append;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Larger batches gain nothing more and make everyone in them wait for the slowest. */
const maxAppends = 500;
const maxEvents = 2_000;
const maxBatchSize = 4 * 1024 * 1024;

export interface WaitingLimits {
  /** Appends that may wait for their batch, and the size of all of them. */
  readonly appends: number;
  readonly size: number;
  /**
   * Who has waited longer gets the error that nothing was written; a log that has stood still longer is not waited for.
   */
  readonly patienceMs: number;
  /** What is being written is waited for so much longer: a server ends an attempt by itself, and then all is certain. */
  readonly outcomeGraceMs: number;
}

export const busy = (reason: string): Failure => new Failure('store-busy', { reason });

export class GroupCommit {
  private queue: Waiting[] = [];
  private scheduled = false;
  private writing = false;
  private idle: (() => void)[] = [];
  /** Of all that wait. */
  private size = 0;
  /** Since when the log has owed a success; null while it keeps up. */
  private owedSince: number | null = null;
  /** The batch that is being written. */
  private inFlight: readonly Waiting[] = [];
  /** Set while something waits or is in flight: one timer for all, due when the oldest has waited long enough. */
  private deadline: NodeJS.Timeout | null = null;

  /** `write` answers one outcome per append, in order; a batch never holds two appends to one stream. */
  constructor(
    private readonly write: (batch: readonly Append[]) => Promise<readonly AppendOutcome[]>,
    private readonly limits: WaitingLimits,
  ) {}

  /** Rejects at once with `store-busy` when too much waits, or the log has stood still for too long. */
  add(append: Append): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      const refusal = this.refusalOf(append);
      if (refusal !== null) {
        reject(refusal);
        return;
      }
      this.queue.push({ append, resolve, reject });
      this.size += append.size;
      if (this.deadline === null) this.watchDeadline(append.since + this.limits.patienceMs);
      this.schedule();
    });
  }

  private refusalOf({ size, since }: Append): Failure | null {
    const { appends, size: max, patienceMs } = this.limits;
    if (this.queue.length >= appends || (this.queue.length > 0 && this.size + size > max))
      return busy('too much waits for the event log');
    // One batch goes on asking; as soon as the log takes it, everybody is let in again.
    if (this.writing && this.owedSince !== null && since - this.owedSince > patienceMs)
      return busy('the event log stands still');
    return null;
  }

  /** Resolves once nothing is queued or being written. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.idle.push(resolve);
      this.schedule();
    });
  }

  /** Not at once: whatever else this turn of the event loop appends shall travel in the same batch. */
  private schedule(): void {
    if (this.scheduled || this.writing) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      void this.flush();
    });
  }

  private async flush(): Promise<void> {
    const batch = this.take();
    if (batch.length === 0) {
      for (const resolve of this.idle.splice(0)) resolve();
      return;
    }
    this.writing = true;
    this.inFlight = batch;
    this.owedSince ??= performance.now();
    try {
      const outcomes = await this.write(batch.map(({ append }) => append));
      if (outcomes.some((outcome) => !(outcome instanceof Error))) this.owedSince = null;
      batch.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error('The batch was answered without this append'));
        else if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.writing = false;
    this.inFlight = [];
    if (this.queue.length > 0 || this.idle.length > 0) this.schedule();
  }

  /** A batch that hangs must not keep those behind it, nor its own callers for long, beyond their patience. */
  private watchDeadline(due: number): void {
    if (!Number.isFinite(due)) return;
    const dueMs = Math.max(0, due - performance.now());
    this.deadline = setTimeout(() => this.expire(), Math.ceil(dueMs) + 1).unref();
  }

  private expire(): void {
    this.deadline = null;
    this.dropExpired();
    const { patienceMs, outcomeGraceMs } = this.limits;
    let due = (this.queue[0]?.append.since ?? Number.POSITIVE_INFINITY) + patienceMs;
    for (const { append, reject } of this.inFlight) {
      const latest = append.since + patienceMs + outcomeGraceMs;
      // It may have been carried out; what the log answers later is not waited for.
      if (latest <= performance.now())
        reject(new Failure('store-unavailable', { reason: 'the event log has not answered in time' }));
      else due = Math.min(due, latest);
    }
    this.watchDeadline(due);
  }

  /** Who has waited too long; the queue is in the order of time. */
  private dropExpired(): void {
    const oldest = performance.now() - this.limits.patienceMs;
    const kept = this.queue.findIndex(({ append }) => append.since >= oldest);
    for (const { append, reject } of this.queue.splice(0, kept < 0 ? this.queue.length : kept)) {
      this.size -= append.size;
      reject(busy('the event log did not get round to it'));
    }
  }

  /** The next batch, oldest first. Of each stream only the first append; what follows it keeps its turn. */
  private take(): Waiting[] {
    this.dropExpired();
    const batch: Waiting[] = [];
    const later: Waiting[] = [];
    const seen = new Set<StreamName>();
    let events = 0;
    let size = 0;
    let index = 0;
    for (; index < this.queue.length && batch.length < maxAppends && events < maxEvents; index++) {
      const waiting = this.queue[index];
      if (waiting === undefined) break;
      const { append } = waiting;
      const fits =
        batch.length === 0 || (events + append.events.length <= maxEvents && size + append.size <= maxBatchSize);
      // Whatever comes behind it stays behind it.
      if (!fits) break;
      if (seen.has(append.stream)) later.push(waiting);
      else {
        batch.push(waiting);
        events += append.events.length;
        size += append.size;
        this.size -= append.size;
        seen.add(append.stream);
      }
    }
    this.queue = later.length === 0 && index === this.queue.length ? [] : [...later, ...this.queue.slice(index)];
    return batch;
  }
}
