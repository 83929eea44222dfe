import { earliestOf, type Position, type Recorded, sizeOf } from '../../domain/events/events.js';
import type { EventFeed } from './projection.js';

/*
 * The part of the log that this node's projectors are working on, read and parsed once for all of them: the pages that
 * they have asked for.
 */

interface Stretch {
  /** Holds every event after this position up to the last one in `events`. */
  readonly after: Position;
  readonly events: Recorded[];
  /** Characters of their payloads. */
  size: number;
}

interface LogWindowOptions {
  /** Events read at once by whoever is behind. */
  readonly pageSize: number;
  /** Events kept; more are forgotten, least recently used first, and read again when needed. */
  readonly capacity: number;
}

/** Characters of payloads handed out at once, and kept; as with events, what exceeds the first is still handed out. */
const batchSize = 4 * 1024 * 1024;
const maxHeldSize = 32 * 1024 * 1024;

const lastOf = ({ after, events }: Stretch): Position => events.at(-1)?.position ?? after;

/** It has the event that comes after this position. */
const holds = (stretch: Stretch, after: Position): boolean => stretch.after <= after && after < lastOf(stretch);

/** The index of the first event after `position`. */
function indexAfter(events: readonly Recorded[], position: Position): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const event = events[middle];
    if (event !== undefined && event.position <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How long whoever is ahead waits for those behind: then the stretches they need are forgotten after all. */
const patienceMs = 1_000;

export class LogWindow {
  /** Least recently used first. */
  private stretches: Stretch[] = [];
  private held = 0;
  private heldSize = 0;
  /** Room for pages that are on their way. */
  private promised = 0;
  private readonly loading = new Map<Position, Promise<Stretch>>();
  /** Where each reader was when it last asked. */
  private readonly readers = new Map<object, Position>();
  private readonly waiting = new Set<() => void>();

  /** `head`: the newest position there is; `skipTo` moves it on. */
  constructor(
    private readonly feed: Pick<EventFeed, 'readAll' | 'estimateBetween'>,
    private head: Position,
    private readonly options: LogWindowOptions,
  ) {}

  /** The newest position known. */
  get newest(): Position {
    return this.head;
  }

  /** The log has come to `head` meanwhile; what lies between is read when somebody asks for it. */
  skipTo(head: Position): void {
    if (head > this.head) this.head = head;
  }

  /** About how many events lie between `after` and the newest position known. */
  estimateBehind(after: Position): number {
    return this.feed.estimateBetween(after, this.head);
  }

  /** Up to `limit` events after `after`, oldest first, fewer when they are large; none when there are none yet. */
  async read(reader: object, after: Position, limit: number): Promise<readonly Recorded[]> {
    this.readers.set(reader, after);
    this.wakeWaiting();
    if (after >= this.head) return [];
    const pieces: (readonly Recorded[])[] = [];
    let [position, left, size] = [after, limit, 0];
    let stretch: Stretch | undefined = this.find(after) ?? (await this.load(after));
    while (stretch !== undefined && left > 0 && size < batchSize) {
      const { events } = stretch;
      const first = indexAfter(events, position);
      let end = first;
      for (; end < events.length && end - first < left && size < batchSize; end++) size += events[end]?.size ?? 0;
      pieces.push(events.slice(first, end));
      left -= end - first;
      position = lastOf(stretch);
      stretch = this.find(position);
    }
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : pieces.flat();
  }

  /** Begins to read what comes after `after`, which somebody is about to ask for. Whether that fails they will see. */
  readAhead(after: Position): void {
    if (after >= this.head || this.stretches.some((stretch) => holds(stretch, after))) return;
    this.load(after).catch(() => {});
  }

  /** This reader asks no more for now; nothing is kept for it. */
  leave(reader: object): void {
    this.readers.delete(reader);
    this.wakeWaiting();
  }

  private find(after: Position): Stretch | undefined {
    const index = this.stretches.findIndex((stretch) => holds(stretch, after));
    const [stretch] = index < 0 ? [] : this.stretches.splice(index, 1);
    if (stretch !== undefined) this.stretches.push(stretch);
    return stretch;
  }

  private load(after: Position): Promise<Stretch> {
    const loading = this.loading.get(after) ?? this.loadPage(after);
    this.loading.set(after, loading);
    return loading;
  }

  private async loadPage(after: Position): Promise<Stretch> {
    const { pageSize } = this.options;
    await this.makeRoom(after);
    this.promised += pageSize;
    try {
      const events = await this.feed.readAll(after, pageSize);
      // The reported end of the log is late by a moment.
      this.skipTo(events.at(-1)?.position ?? after);
      return this.extended(after, events) ?? this.keep({ after, events: [...events], size: sizeOf(events) });
    } finally {
      this.promised -= pageSize;
      this.loading.delete(after);
    }
  }

  /**
   * Before a page is read: forgets what everybody has read. Where there is no such stretch the ones ahead wait for the
   * ones behind, or catching up would mean reading the log as many times as there are readers. Who has caught up waits
   * for nobody: calls and sign-ins are decided by it while others are built.
   */
  private async makeRoom(after: Position): Promise<void> {
    const { pageSize, capacity } = this.options;
    const deadline = Date.now() + patienceMs;
    while (this.held + this.promised + pageSize > capacity || this.heldSize + batchSize > maxHeldSize) {
      const slowest = earliestOf(after, ...this.readers.values());
      const read = this.stretches.find((stretch) => lastOf(stretch) <= slowest);
      if (read !== undefined) this.forget(read);
      else if (after <= slowest || this.estimateBehind(after) < pageSize || Date.now() >= deadline) return;
      else await this.someoneMoves(deadline - Date.now());
    }
  }

  /** The stretch that ended where these begin, with them; null where there is none with room: many are slow to search. */
  private extended(after: Position, events: readonly Recorded[]): Stretch | null {
    const size = sizeOf(events);
    const before = this.stretches.find((stretch) => lastOf(stretch) === after);
    if (before === undefined || before.events.length + events.length > this.options.pageSize) return null;
    if (before.size + size > batchSize) return null;
    before.events.push(...events);
    before.size += size;
    this.held += events.length;
    this.heldSize += size;
    return before;
  }

  private keep(stretch: Stretch): Stretch {
    if (stretch.events.length === 0) return stretch;
    this.stretches.push(stretch);
    this.held += stretch.events.length;
    this.heldSize += stretch.size;
    for (const oldest of [...this.stretches]) {
      if (oldest === stretch || (this.held <= this.options.capacity && this.heldSize <= maxHeldSize)) break;
      this.forget(oldest);
    }
    return stretch;
  }

  private forget(stretch: Stretch): void {
    this.stretches = this.stretches.filter((one) => one !== stretch);
    this.held -= stretch.events.length;
    this.heldSize -= stretch.size;
  }

  private someoneMoves(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.waiting.add(wake);
    });
  }

  private wakeWaiting(): void {
    for (const wake of [...this.waiting]) wake();
  }
}
