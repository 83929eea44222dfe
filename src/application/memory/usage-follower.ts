import { setTimeout as sleep } from 'node:timers/promises';
import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import type { Position } from '../../domain/events/events.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';

/** What a reader that is not where the others are reads for itself. */
export interface OwnReading {
  readonly lines: readonly UsageLogEntry[];
  /** Nothing that is wanted is missing up to here. */
  readonly through: Position;
}

interface FollowerTerms {
  /** Only later lines are wanted. */
  readonly start: Position;
  /** Where the log ended when the follower began to be offered what comes. */
  readonly joined: Position;
  readonly isWanted: (line: UsageLogEntry) => boolean;
  readonly maxWaiting: number;
  readonly behindMs: number;
}

interface FollowerPorts {
  /** How far lines have been offered to all. */
  readonly given: () => Position;
  /** Reads what is wanted, `upTo` included; as far as it can be read now. */
  readonly read: (
    range: { readonly after: Position; readonly upTo: Position },
    signal: AbortSignal,
  ) => Promise<OwnReading>;
  readonly left: () => void;
}

/**
 * One reader of the usage log. It is offered every line as it comes, and a bounded number of them waits for it. One that
 * begins in the past, or reads so slowly that more would have to wait, reads on by itself until it is where the others
 * are. So it gets each line once and in order, and nobody keeps anything for it.
 */
export class UsageFollower {
  /** Everything wanted up to here has been handed over or waits. */
  private through: Position;
  private waiting: UsageLogEntry[] = [];
  /** It has missed what was offered, and reads for itself. */
  private isBehind: boolean;
  private failure: { readonly error: unknown } | null = null;
  private readonly news = new WakeUpSignal();

  constructor(
    private readonly terms: FollowerTerms,
    private readonly ports: FollowerPorts,
  ) {
    this.through = terms.start;
    this.isBehind = terms.start < terms.joined;
  }

  offer(line: UsageLogEntry): void {
    if (this.isBehind || line.id <= this.through || !this.terms.isWanted(line)) return;
    if (this.waiting.length === this.terms.maxWaiting) {
      this.isBehind = true;
      return;
    }
    this.waiting.push(line);
    this.through = line.id;
    this.news.ring();
  }

  /** The log cannot be read any more: `next` rejects with the reason. */
  fail(error: unknown): void {
    this.failure = { error };
    this.news.ring();
  }

  /** The lines that have come, at least one; null once the signal aborts. One caller at a time. */
  async next(signal: AbortSignal): Promise<readonly UsageLogEntry[] | null> {
    while (!signal.aborted) {
      if (this.failure !== null) throw this.failure.error;
      if (this.waiting.length > 0) {
        const lines = this.waiting;
        this.waiting = [];
        return lines;
      }
      if (this.isBehind) {
        const lines = await this.readOn(signal);
        if (lines.length > 0) return lines;
      } else if (!(await this.news.received(signal))) return null;
    }
    return null;
  }

  leave(): void {
    this.ports.left();
  }

  private async readOn(signal: AbortSignal): Promise<readonly UsageLogEntry[]> {
    const given = this.ports.given();
    // Whatever was offered before it joined, and whatever it has been offered and did not take since.
    const upTo = given > this.terms.joined ? given : this.terms.joined;
    if (this.through >= upTo) {
      this.isBehind = false;
      return [];
    }
    const { lines, through } = await this.ports.read({ after: this.through, upTo }, signal);
    if (through === this.through) await sleep(this.terms.behindMs, null, { signal }).catch(() => null);
    this.through = through;
    return lines;
  }
}
