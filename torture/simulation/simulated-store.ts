import type {
  AppendResult,
  DurableEventStore,
  DurableResult,
  ExpectedRevision,
  OnCommitted,
} from '../../src/application/ports/storage-ports.js';
import type { NewEvent, Position, Recorded, Revision, StreamName } from '../../src/domain/events/events.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import type { MemoryEventStore } from '../../tests/support/memory/memory-event-store.js';
import type { RawEvent } from '../checker/raw-events.js';
import type { Scheduler } from './scheduler.js';
import { Witness } from './witness.js';

/* The log as one process of a simulation reaches it: with delays, refusals, and answers that get lost. */

/** As the checker reads them. */
export const rawOf = ({ position, stream, revision, event }: Recorded): RawEvent => ({
  ...{ position: BigInt(Number(position)), stream, revision },
  ...{ type: event.type, data: event },
});

interface Waiting {
  readonly owner: symbol;
  readonly wake: () => void;
}

/** The log that outlives processes, who may write it, and who waits for news of it. */
export class SimulatedLog {
  epoch = 0;
  /** Whether anything may fail. */
  faulty = true;
  readonly witness = new Witness();
  private waiting: Waiting[] = [];

  constructor(
    readonly events: MemoryEventStore,
    readonly scheduler: Scheduler,
  ) {}

  /** Once there is something new, at this owner's turn. */
  async news(owner: symbol): Promise<void> {
    await new Promise<void>((wake) => void this.waiting.push({ owner, wake: () => wake() }));
  }

  async append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    const before = await this.events.head();
    const result = await this.events.append(stream, events, expected);
    for (const recorded of await this.events.readAll(before, events.length)) this.witness.wrote(rawOf(recorded));
    const woken = this.waiting.splice(0);
    for (const { owner, wake } of woken) void this.scheduler.turn(owner).then(wake);
    return result;
  }

  forget(owner: symbol): void {
    this.waiting = this.waiting.filter((one) => one.owner !== owner);
  }
}

const away = (): Failure => new Failure('store-unavailable');

export class SimulatedStore implements DurableEventStore {
  private readonly world = Symbol('log');
  /** Appends on their way: what a death may leave written. */
  private readonly underway = new Set<() => Promise<unknown>>();

  constructor(
    private readonly log: SimulatedLog,
    private readonly owner: symbol,
    private readonly epoch: number,
  ) {}

  private get scheduler(): Scheduler {
    return this.log.scheduler;
  }

  private readonly turn = (): Promise<void> => this.scheduler.turn(this.owner);

  private fails(share: number): boolean {
    return this.log.faulty && this.scheduler.chance(share);
  }

  /** Its process has died: of what was on its way some has arrived. */
  async die(): Promise<void> {
    for (const write of this.underway) if (this.scheduler.chance(0.5)) await write();
    this.underway.clear();
    this.log.forget(this.owner);
  }

  async append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    const write = (): Promise<AppendResult> => this.log.append(stream, events, expected);
    this.underway.add(write);
    await this.turn();
    this.underway.delete(write);
    if (this.epoch !== this.log.epoch) throw new Failure('store-busy');
    if (this.fails(0.03)) throw new Failure('store-busy');
    if (this.fails(0.04)) throw away();
    if (this.fails(0.05)) {
      // Written later than its writer has given it up, unless another one has begun to write by then.
      void this.scheduler.turn(this.world).then(() => (this.epoch === this.log.epoch ? write() : null));
      throw away();
    }
    const result = await write();
    await this.turn();
    if (this.fails(0.04)) throw away();
    return result;
  }

  async appendDurable(
    stream: StreamName,
    event: NewEvent,
    expected: ExpectedRevision,
    onCommitted: OnCommitted = () => {},
  ): Promise<DurableResult> {
    const result = await this.append(stream, [event], expected);
    if (result.ok) onCommitted(result.position);
    return result;
  }

  private async reached(): Promise<void> {
    await this.turn();
    if (this.fails(0.04)) throw away();
  }

  async readStream(stream: StreamName): Promise<readonly Recorded[]> {
    await this.reached();
    return this.log.events.readStream(stream);
  }

  async *streamPages(stream: StreamName, after?: Revision): AsyncIterable<readonly Recorded[]> {
    await this.reached();
    yield* this.log.events.streamPages(stream, after);
  }

  async readAll(after: Position, limit: number): Promise<readonly Recorded[]> {
    await this.reached();
    return this.log.events.readAll(after, limit);
  }

  async readNewest(limit: number): Promise<readonly Recorded[]> {
    await this.reached();
    return this.log.events.readNewest(limit);
  }

  async head(): Promise<Position> {
    await this.turn();
    return this.log.events.head();
  }

  estimateBetween(after: Position, upTo: Position): number {
    return this.log.events.estimateBetween(after, upTo);
  }

  /** In batches of any size, now and then with what has been there before. */
  async *subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]> {
    for (let from = after; !signal.aborted; ) {
      const batch = await this.log.events.readAll(from, this.scheduler.whole(1, 8));
      const last = batch.at(-1);
      if (last === undefined) {
        await this.log.news(this.owner);
        continue;
      }
      await this.turn();
      yield batch;
      if (!this.scheduler.chance(0.1)) from = last.position;
    }
  }

  async close(): Promise<void> {}
}
