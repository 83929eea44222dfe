import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from '../../domain/errors/transient-error.js';
import type { Position, Recorded } from '../../domain/events/events.js';
import type { Log } from '../log.js';
import { EventQueue } from './event-queue.js';

/*
 * Follows the end of the log once, for all subscribers of the process: own appends are handed in (offer), those of
 * others read when woken (wake). A subscriber reads for itself until it has caught up, then from its queue. One that is
 * too slow loses its queue and catches up again: it neither delays others nor fills the memory.
 */

interface FeedSource {
  readAll(after: Position, limit: number): Promise<readonly Recorded[]>;
  head(): Promise<Position>;
}

type Batch = readonly Recorded[];

const pageSize = 1_000;
const retryPauseMs = 200;

export class EventSubscriptions {
  /** Everything up to here has been given to the queues; null while nobody listens. */
  private position: Position | null = null;
  private readonly queues = new Set<EventQueue>();
  private reading = false;
  private readAgain = false;
  private readonly closing = new AbortController();

  /** `queueCapacity`: events a subscriber may be behind before it is sent back to reading. */
  constructor(
    private readonly source: FeedSource,
    private readonly log: Log,
    private readonly queueCapacity: number,
  ) {}

  /** Events this process has just appended: all that come behind `after`, in order. */
  offer(after: Position, batch: Batch): void {
    if (this.position === null || batch.length === 0) return;
    // Something of another process lies in between: read it, and these with it.
    if (after > this.position) this.wake();
    else this.deliver(batch);
  }

  /** Something may have been appended elsewhere. */
  wake(): void {
    if (this.position === null) return;
    this.readAgain = true;
    if (!this.reading) void this.readOn();
  }

  /** Ends all subscriptions. */
  close(): void {
    this.closing.abort();
  }

  /** See EventStore.subscribe. */
  async *subscribe(after: Position, callerSignal: AbortSignal): AsyncGenerator<Batch, void, undefined> {
    const signal = AbortSignal.any([callerSignal, this.closing.signal]);
    let position = after;
    while (!signal.aborted) {
      const joined = await this.persist(signal, () => this.join());
      if (joined === null) return;
      const { queue, joinedAt } = joined;
      const stop = () => queue.end();
      signal.addEventListener('abort', stop);
      try {
        // The queue holds what comes after `joinedAt`; what lies before it is read here.
        while (position < joinedAt) {
          const page = await this.persist(signal, () => this.source.readAll(position, pageSize));
          if (page === null) return;
          const last = page.at(-1);
          if (last === undefined) throw new Error(`The log ends at ${position}, but it has been at ${joinedAt}`);
          yield page;
          position = last.position;
        }
        while (!signal.aborted) {
          const batch = await queue.next();
          if (batch === null) break;
          const fresh = eventsAfter(position, batch);
          const last = fresh.at(-1);
          if (last === undefined) continue;
          yield fresh;
          position = last.position;
        }
      } finally {
        signal.removeEventListener('abort', stop);
        this.leave(queue);
      }
    }
  }

  private async join(): Promise<{ readonly queue: EventQueue; readonly joinedAt: Position }> {
    if (this.position === null) {
      const head = await this.source.head();
      if (this.position === null) {
        this.position = head;
        // Offers made while the answer was on its way found nobody listening.
        this.wake();
      }
    }
    const queue = new EventQueue(this.queueCapacity);
    this.queues.add(queue);
    return { queue, joinedAt: this.position };
  }

  private leave(queue: EventQueue): void {
    this.queues.delete(queue);
    if (this.queues.size === 0) this.position = null;
  }

  private deliver(batch: Batch): void {
    if (this.position === null) return;
    const fresh = eventsAfter(this.position, batch);
    const last = fresh.at(-1);
    if (last === undefined) return;
    this.position = last.position;
    for (const queue of this.queues) if (!queue.push(fresh)) this.queues.delete(queue);
  }

  private async readOn(): Promise<void> {
    this.reading = true;
    try {
      while (this.readAgain && this.position !== null) {
        this.readAgain = false;
        const page = await this.source.readAll(this.position, pageSize);
        this.deliver(page);
        // A page is short also before an event that cannot be read; only an empty one is surely the end.
        if (page.length > 0) this.readAgain = true;
      }
    } catch (error) {
      if (isTransient(error)) this.log.warn({ err: error }, 'could not read the newest events; will try again');
      // An event nobody here can read must stop its readers, not be skipped.
      else for (const queue of this.queues) queue.fail(error);
    } finally {
      this.reading = false;
    }
  }

  /** Tries until the store answers; null once the signal aborts. */
  private async persist<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T | null> {
    while (!signal.aborted) {
      try {
        const result = await attempt();
        return result;
      } catch (error) {
        if (!isTransient(error)) throw error;
        this.log.warn({ err: error }, 'a subscription could not read the event log; will try again');
        // Rejects only when the signal aborts, which the loop sees.
        await sleep(retryPauseMs, null, { signal }).catch(() => null);
      }
    }
    return null;
  }
}

/** The part of a batch behind a position: usually all of it, and then the batch itself. */
const eventsAfter = (position: Position, batch: Batch): Batch => {
  const first = batch[0];
  return first === undefined || first.position > position ? batch : batch.filter((event) => event.position > position);
};
