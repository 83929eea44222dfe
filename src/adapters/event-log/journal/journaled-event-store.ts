import type {
  AppendResult,
  DurableEventStore,
  DurableResult,
  EventStore,
  ExpectedRevision,
  OnCommitted,
} from '../../../application/ports/storage-ports.js';
import type { NewEvent, Position, Recorded, Revision, StreamName } from '../../../domain/events/events.js';
import { currentPayloads, type PayloadVersions } from '../../../domain/events/upcast.js';
import { Failure } from '../../../domain/kernel/failure.js';
import { checkAppend } from '../append-request.js';
import { encodeEvent } from '../encoded-event.js';
import type { Journal } from './journal.js';
import { JournaledCommit, type JournaledCommitOptions } from './journaled-commit.js';

/*
 * Any engine of the log with a journal before it: an event of a call is durable as soon as the journal has it, and
 * committed to the log a moment later. Who reads here finds it there all the same: it is committed first.
 */

interface JournaledOptions extends JournaledCommitOptions {
  /** Of this log, for this process alone, as soon as it is there; null: every event waits for the log. */
  readonly journal: Promise<Journal | null>;
  /** How the engine stores payloads. Left out: in their newest versions. */
  readonly payloads?: PayloadVersions;
}

const closed = (): Failure => new Failure('store-unavailable', { reason: 'the event store is closed' });

/** Closes the engine with it. */
export const withJournal = (engine: EventStore, options: JournaledOptions): DurableEventStore =>
  new JournaledEventStore(engine, options);

class JournaledEventStore implements DurableEventStore {
  private readonly commits: JournaledCommit;
  private readonly payloads: PayloadVersions;
  private closing: Promise<void> | null = null;

  constructor(
    private readonly engine: EventStore,
    { journal, payloads = currentPayloads, ...options }: JournaledOptions,
  ) {
    this.payloads = payloads;
    this.commits = new JournaledCommit(engine, options);
    void journal.then((opened) => opened && this.commits.use(opened));
  }

  append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    return this.closing === null ? this.commits.add(stream, events, expected) : Promise.reject(closed());
  }

  async appendDurable(
    stream: StreamName,
    event: NewEvent,
    expected: ExpectedRevision,
    onCommitted: OnCommitted = () => {},
  ): Promise<DurableResult> {
    checkAppend(stream, [event]);
    if (this.closing !== null) throw closed();
    return this.commits.addDurable({ stream, event: encodeEvent(event, this.payloads), expected }, onCommitted);
  }

  async readStream(stream: StreamName): Promise<readonly Recorded[]> {
    await this.commits.flushed();
    return this.engine.readStream(stream);
  }

  async *streamPages(stream: StreamName, after?: Revision): AsyncGenerator<readonly Recorded[], void, undefined> {
    await this.commits.flushed();
    yield* this.engine.streamPages(stream, after);
  }

  readAll(after: Position, limit: number): Promise<readonly Recorded[]> {
    return this.engine.readAll(after, limit);
  }

  async readNewest(limit: number): Promise<readonly Recorded[]> {
    await this.commits.flushed();
    return this.engine.readNewest(limit);
  }

  async head(): Promise<Position> {
    await this.commits.flushed();
    return this.engine.head();
  }

  estimateBetween(after: Position, upTo: Position): number {
    return this.engine.estimateBetween(after, upTo);
  }

  subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]> {
    return this.engine.subscribe(after, signal);
  }

  close(): Promise<void> {
    this.closing ??= this.commits.close();
    return this.closing;
  }
}
