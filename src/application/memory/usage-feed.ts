import { setTimeout as sleep } from 'node:timers/promises';
import { Semaphore } from '../../concurrency/semaphore.js';
import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import { isTransient } from '../../domain/errors/transient-error.js';
import { beginning, type Position, type Recorded } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { lineMatch } from '../../projections/models/usage-log/line-match.js';
import { lineOwner } from '../../projections/models/usage-log/line-owner.js';
import type { UsageLogFilter } from '../../projections/models/usage-log/usage-log-filter.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';
import type { Tail } from './tail.js';
import { type OwnReading, UsageFollower } from './usage-follower.js';

/*
 * The usage log as it grows, for all who follow it. The tail of the log of events says that there is something new about
 * somebody who is followed; the lines are then read once, from the read model, and each goes to whoever asked for its
 * like. So what a line costs the database does not grow with its readers, and the feed and the list show the same lines.
 */

interface UsageFeedPorts {
  readonly tail: Pick<Tail, 'add' | 'position'>;
  /** Oldest first, as far as the read model has come. */
  readonly read: (filter: UsageLogFilter, range: LineRange) => Promise<readonly UsageLogEntry[]>;
  /**
   * Waits, bounded, until the log of usage and the names in it hold the event at `position`; resolves with whether they
   * do.
   */
  readonly holds: (position: Position) => Promise<boolean>;
  /** While the log is being made anew nobody follows it: all of its past would come as if it had just happened. */
  readonly isBuilding: () => boolean;
  readonly pace?: Partial<FeedPace>;
}

export interface LineRange {
  readonly after: Position;
  /** Inclusive. */
  readonly upTo: Position;
  readonly limit: number;
}

export interface FeedPace {
  /** Between two readings: what comes meanwhile is read together. */
  readonly gatherMs: number;
  /** Before another look at a read model that is behind, or away, or stopped for as long as it takes to mend it. */
  readonly behindMs: number;
  /** Lines of one reading. */
  readonly pageSize: number;
  /** Lines that wait for a reader; also those of a reading of its own. */
  readonly maxWaiting: number;
}

const usualPace: FeedPace = { gatherMs: 100, behindMs: 1_000, pageSize: 500, maxWaiting: 100 };

/** Readings of readers that have fallen behind, at the same time. */
const ownReadings = 2;

/** Beyond so many users it costs less to read everybody's lines than to name them. */
const maxNamed = 50;

export class UsageFeed {
  private readonly pace: FeedPace;
  private readonly turns = new Semaphore(ownReadings);
  /** By whose lines they see; null: everybody's. */
  private readonly followers = new Map<UserId | null, Set<UsageFollower>>();
  /** Of the reading for all; null while nobody follows. */
  private reading: AbortController | null = null;
  private leaveTail: () => void = () => {};
  private news = new WakeUpSignal();
  /** Every line about somebody who is followed has been given out up to here. */
  private given = beginning;
  /** The last event that the tail has delivered. */
  private passed = beginning;
  /** The newest event that is not; null: there is none. */
  private received: Position | null = null;

  constructor(private readonly ports: UsageFeedPorts) {
    this.pace = { ...usualPace, ...ports.pace };
  }

  /** Lines after `after` that the filter lets through. Throws `invalid-field`. Whoever follows must leave. */
  follow(filter: UsageLogFilter, after: Position): UsageFollower {
    const whose = filter.userId ?? null;
    const follower = new UsageFollower(
      { start: after, joined: this.ports.tail.position(), isWanted: lineMatch(filter), ...this.pace },
      {
        given: () => this.given,
        read: (range, signal) => this.readOn(filter, range, signal),
        left: () => this.leave(whose, follower),
      },
    );
    const others = this.followers.get(whose) ?? new Set();
    this.followers.set(whose, others.add(follower));
    if (this.reading === null) this.begin();
    return follower;
  }

  private leave(whose: UserId | null, follower: UsageFollower): void {
    const others = this.followers.get(whose);
    others?.delete(follower);
    if (others?.size === 0) this.followers.delete(whose);
    if (this.followers.size > 0) return;
    this.leaveTail();
    this.reading?.abort();
    this.reading = null;
    this.received = null;
  }

  private begin(): void {
    this.reading = new AbortController();
    // A new one each time: what an earlier reading that has not ended yet hears is not for this one.
    this.news = new WakeUpSignal();
    this.passed = this.ports.tail.position();
    this.leaveTail = this.ports.tail.add({ take: (batch) => this.take(batch) });
    void this.readForAll(this.news, this.reading.signal);
  }

  private take(batch: readonly Recorded[]): void {
    for (const recorded of batch) {
      if (this.isFollowed(recorded)) {
        // What lies before it is about nobody who is followed, and need not be read over.
        if (this.received === null) this.given = this.passed;
        this.received = recorded.position;
        this.news.ring();
      }
      this.passed = recorded.position;
    }
  }

  private isFollowed(recorded: Recorded): boolean {
    const owner = lineOwner(recorded);
    if (owner === null) return false;
    return owner === 'root' || this.followers.has(null) || (owner !== 'nobody' && this.followers.has(owner));
  }

  private async readForAll(news: WakeUpSignal, signal: AbortSignal): Promise<void> {
    while (await news.received(signal)) {
      const upTo = this.received;
      if (upTo === null) continue;
      const whole = await this.readUpTo(upTo, signal).catch((error: unknown) => {
        if (!isTransient(error) && !signal.aborted) this.fail(error);
        return false;
      });
      if (signal.aborted) return;
      if (whole) {
        this.given = upTo;
        if (this.received === upTo) this.received = null;
      } else news.ring();
      await sleep(whole ? this.pace.gatherMs : this.pace.behindMs, null, { signal }).catch(() => null);
    }
  }

  /** False: some of it is not there yet. */
  private async readUpTo(upTo: Position, signal: AbortSignal): Promise<boolean> {
    const whole = await this.ports.holds(upTo);
    if (this.ports.isBuilding()) return false;
    while (!signal.aborted) {
      const users = [...this.followers.keys()];
      const userIds = users.filter((user) => user !== null);
      const isNamed = userIds.length === users.length && userIds.length <= maxNamed;
      const range = { after: this.given, upTo, limit: this.pace.pageSize };
      const lines = await this.ports.read(isNamed ? { userIds } : {}, range);
      // Whoever has come since knows nothing of what these lines were read for.
      if (signal.aborted) return false;
      for (const line of lines) this.give(line);
      if (lines.length < this.pace.pageSize) return whole;
    }
    return false;
  }

  private give(line: UsageLogEntry): void {
    for (const follower of this.followers.get(null) ?? []) follower.offer(line);
    if (line.user_id !== 0) for (const follower of this.followers.get(line.user_id) ?? []) follower.offer(line);
    this.given = line.id;
  }

  private fail(error: unknown): void {
    for (const followers of this.followers.values()) for (const follower of followers) follower.fail(error);
  }

  /** For a reader that is not where the others are. */
  private async readOn(
    filter: UsageLogFilter,
    { after, upTo }: Pick<LineRange, 'after' | 'upTo'>,
    signal: AbortSignal,
  ): Promise<OwnReading> {
    const limit = this.pace.maxWaiting;
    const whole = await this.ports.holds(upTo);
    if (this.ports.isBuilding()) return { lines: [], through: after };
    try {
      const lines = await this.turns.take(async () =>
        signal.aborted ? [] : this.ports.read(filter, { after, upTo, limit }),
      );
      const isAll = whole && lines.length < limit;
      return { lines, through: isAll ? upTo : (lines.at(-1)?.id ?? after) };
    } catch (error) {
      if (isTransient(error)) return { lines: [], through: after };
      throw error;
    }
  }
}
