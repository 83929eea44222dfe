import { BloomFilter } from '../../data-structures/bloom-filter.js';

/* Whether streams are whole: no revision is missing or there twice, and no call ends more than once. */

/** An event as far as its stream is concerned. */
export interface RevisionStep {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
}

export interface StreamFinding {
  readonly code: 'revision-missing' | 'revision-twice' | 'second-outcome' | 'outcome-without-reservation';
  readonly first: number;
  readonly last: number;
  readonly reason: string;
}

interface StepOutOfStep {
  readonly step: RevisionStep;
  /** Ahead of it in the log its stream has this revision already; or else it lacks the one before. */
  readonly twice: boolean;
}

/** Asks the log about events long before: those of `steps` that do not follow what their stream has ahead of them. */
export type OutOfStep = (steps: readonly RevisionStep[]) => Promise<readonly StepOutOfStep[]>;

/** Streams remembered; of others the log is asked. */
const maxStreams = 50_000;
const outcomes: ReadonlySet<string> = new Set(['CallSettled', 'CallReleased']);

interface StreamWalkParts {
  readonly outOfStep: OutOfStep;
  readonly found: (finding: StreamFinding) => void;
  /** How many events the log has about, where it is read from the first one; null: from a later one. */
  readonly fromFirst: number | null;
}

/** Goes along the log once, from whatever position. */
export class StreamWalk {
  private readonly outOfStep: OutOfStep;
  private readonly found: (finding: StreamFinding) => void;
  /** The revision each stream has come to, for those seen last. */
  private readonly known = new Map<string, number>();
  /** Every stream that has been read; null: others lie ahead of what is read. */
  private readonly seen: BloomFilter | null;
  private asked: RevisionStep[] = [];

  constructor({ outOfStep, found, fromFirst }: StreamWalkParts) {
    this.outOfStep = outOfStep;
    this.found = found;
    this.seen = fromFirst === null ? null : new BloomFilter(fromFirst);
  }

  take(step: RevisionStep): void {
    const { stream, revision, type } = step;
    const known = this.known.get(stream);
    if (known === undefined) this.takeUnknown(step);
    else if (revision > known + 1)
      this.find('revision-missing', step, `${stream} goes from revision ${known} to ${revision}`);
    else if (revision <= known) this.find('revision-twice', step, `${stream} has revision ${revision} behind ${known}`);
    if (outcomes.has(type)) {
      if (revision > 1) this.find('second-outcome', step, `${stream} has an outcome at revision ${revision}: ${type}`);
      if (revision < 1) this.find('outcome-without-reservation', step, `${stream} begins with its outcome, ${type}`);
      // Nothing but a refund should follow, and about all that does the log is asked.
      if (revision === 1) {
        this.known.delete(stream);
        return;
      }
    }
    if (known === undefined && this.known.size >= maxStreams) this.forgetOldest();
    this.known.set(stream, revision);
  }

  /** To be called now and then, and at the end: asks the log about what could not be told from memory. */
  async settle(): Promise<void> {
    const { asked } = this;
    if (asked.length === 0) return;
    this.asked = [];
    for (const { step, twice } of await this.outOfStep(asked)) {
      const { stream, revision } = step;
      if (twice) this.find('revision-twice', step, `${stream} has revision ${revision} already`);
      else this.findWithoutEarlier(step);
    }
  }

  /** The log is asked only where the stream may have been read before and forgotten. */
  private takeUnknown(step: RevisionStep): void {
    if (this.seen === null || this.seen.add(step.stream)) this.asked.push(step);
    else if (step.revision > 0) this.findWithoutEarlier(step);
  }

  private findWithoutEarlier(step: RevisionStep): void {
    this.find('revision-missing', step, `${step.stream} has revision ${step.revision} and none before it`);
  }

  private forgetOldest(): void {
    for (const stream of this.known.keys()) {
      this.known.delete(stream);
      return;
    }
  }

  private find(code: StreamFinding['code'], { position }: RevisionStep, reason: string): void {
    this.found({ code, first: position, last: position, reason });
  }
}
