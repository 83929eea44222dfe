import type { AppendResult, Clock, EventStore, ExpectedRevision } from '../../application/ports/storage-ports.js';
import { atIntervals } from '../../concurrency/at-intervals.js';
import { isCallStream, type NewEvent, type Revision, type StreamName, streams } from '../../domain/events/events.js';
import { isUnavailable } from '../../domain/kernel/failure.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { CallRefused, CallsRefused, Refusal } from '../../domain/kernel/refusal.js';
import { maxRecordedOneByOne, RefusalTally, type RefusedKind } from './refusal-tally.js';

/*
 * The one writer of refusals. Once a second it takes what was counted, here and by workers, and writes the first ones of
 * each kind in a minute to the streams of their calls; what more there were is one event a kind when the minute is over.
 * No answer waits for it. What a crash takes along is the last second, and of the minute's sums what was not written.
 */

const everyMs = 1_000;
const minuteMs = 60_000;
/** Events of their own in a minute, and of them those of callers that nobody knows. */
const maxRecorded = 250;
const maxRecordedOfUnknown = 50;
/** Appends that wait while the log does not answer. */
const maxWaiting = 300;
/** Appends at once: calls go first, so there is never much of this in their way. */
const atOnce = 20;

interface RefusalPorts {
  readonly store: Pick<EventStore, 'append'>;
  readonly clock: Clock;
  readonly newEventId: (at: Instant) => string;
  /** Called with what was refused when it is known here, whatever of it is written. */
  readonly counted: (refusal: Refusal, count: number) => void;
  readonly warn: (facts: Record<string, unknown>, message: string) => void;
}

export interface RefusalRecord {
  /** Of the calls that this process serves. */
  readonly own: Pick<RefusalTally, 'count'>;
  /** What a worker has counted. */
  take(kinds: readonly RefusedKind[]): void;
  /** Writes what is due. Never rejects. */
  write(): Promise<void>;
  /** Starts writing once a second. The result stops it, and writes what there is. */
  startWriting(): () => Promise<void>;
}

interface Waiting {
  readonly stream: StreamName;
  readonly events: readonly NewEvent<CallRefused | CallsRefused>[];
  readonly expected: ExpectedRevision;
}

/** What a minute of refusals has come to. */
class MinuteOfRefusals {
  private readonly kinds = new RefusalTally();
  /** Since when it counts; null: nothing was refused in it. */
  since: Instant | null = null;
  private recorded = 0;
  private recordedOfUnknown = 0;

  /**
   * Counts a kind. The result are those of its refusals that are recorded by themselves; `waiting`: appends that wait.
   */
  take({ refusal, first, more, last }: RefusedKind, waiting: number): RefusedKind['first'] {
    const kind = this.kinds.kindOf(refusal);
    const alone: RefusedKind['first'] = [];
    for (const call of first) {
      this.since ??= call.at;
      if (this.hasRoomFor(refusal, kind, waiting + alone.length)) {
        this.recorded++;
        if (refusal.userId === null) this.recordedOfUnknown++;
        kind.first.push(call);
        alone.push(call);
      } else {
        kind.more++;
        kind.last = call.at;
      }
    }
    if (last === 0) return alone;
    this.since ??= last;
    kind.more += more;
    kind.last = last;
    return alone;
  }

  /** It is over: those that were not recorded by themselves, by kind. It begins anew. */
  end(now: Instant): readonly { readonly at: Instant; readonly event: CallsRefused }[] {
    const since = this.since ?? now;
    this.since = null;
    this.recorded = 0;
    this.recordedOfUnknown = 0;
    return this.kinds
      .take()
      .flatMap(({ refusal, more, last }) =>
        last === 0 ? [] : [{ at: last, event: { type: 'CallsRefused', refusal, count: more, since } }],
      );
  }

  private hasRoomFor({ userId }: Refusal, { first }: RefusedKind, waiting: number): boolean {
    return (
      first.length < maxRecordedOneByOne &&
      this.recorded < maxRecorded &&
      (userId !== null || this.recordedOfUnknown < maxRecordedOfUnknown) &&
      waiting < maxWaiting
    );
  }
}

class RefusalWriter implements RefusalRecord {
  readonly own = new RefusalTally();
  private readonly minute = new MinuteOfRefusals();
  private readonly waiting: Waiting[] = [];
  /** The log did not answer when it was last asked. */
  private away = false;
  /** Where the stream of sums has come to that was written last. */
  private summed: { readonly stream: StreamName; readonly revision: Revision } | null = null;

  constructor(private readonly ports: RefusalPorts) {}

  take(kinds: readonly RefusedKind[]): void {
    const { counted, newEventId } = this.ports;
    for (const kind of kinds) {
      const { refusal, first, more } = kind;
      counted(refusal, first.length + more);
      for (const { callId, at } of this.minute.take(kind, this.waiting.length)) {
        const events = [{ id: newEventId(at), at, event: { type: 'CallRefused', refusal } as const }];
        this.waiting.push({ stream: streams.call(callId), events, expected: 'no-stream' });
      }
    }
  }

  async write(): Promise<void> {
    this.take(this.own.take());
    const { since } = this.minute;
    const now = this.ports.clock.now();
    // While the log does not answer, the minute lasts.
    if (since !== null && Math.abs(now - since) >= minuteMs && this.waiting.length < maxWaiting) this.sum(now);
    await this.append();
  }

  startWriting(): () => Promise<void> {
    const stop = atIntervals(everyMs, () => this.write());
    return async () => {
      await stop();
      // Nobody waits for a log that has not answered before.
      if (this.away) return;
      this.take(this.own.take());
      this.sum(this.ports.clock.now());
      await this.append();
    };
  }

  /** The minute is over: what more there were. */
  private sum(now: Instant): void {
    const { newEventId } = this.ports;
    const events = this.minute.end(now).map(({ at, event }) => ({ id: newEventId(at), at, event }));
    if (events.length === 0) return;
    const stream = streams.refusals(now);
    const expected = this.summed?.stream === stream ? this.summed.revision : 'no-stream';
    this.waiting.push({ stream, events, expected });
  }

  /**
   * An append whose answer was lost is repeated; the ids of its events make that harmless. A call that has a stream
   * already is recorded there; sums go on where an earlier node, or an earlier minute, has come to in the hour.
   */
  private async append(): Promise<void> {
    const { store, warn } = this.ports;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, atOnce);
      const written = await Promise.allSettled(
        batch.map(({ stream, events, expected }) => store.append(stream, events, expected)),
      );
      this.away = false;
      const again = batch.flatMap((waiting, index): Waiting[] => {
        const outcome = written[index];
        if (outcome?.status === 'fulfilled') return this.goneOn(waiting, outcome.value);
        if (isUnavailable(outcome?.reason)) {
          this.away = true;
          return [waiting];
        }
        warn({ err: outcome?.reason }, 'a refusal could not be written and is left out');
        return [];
      });
      this.waiting.unshift(...again);
      if (this.away) return;
    }
  }

  /** What is to be appended instead: a sum where its stream has come to, if that is not where it was expected. */
  private goneOn(waiting: Waiting, result: AppendResult): Waiting[] {
    const { stream } = waiting;
    if (isCallStream(stream)) return [];
    if (!result.ok) return [{ ...waiting, expected: result.conflict.actual ?? 'no-stream' }];
    this.summed = { stream, revision: result.revision };
    return [];
  }
}

export const recordRefusals = (ports: RefusalPorts): RefusalRecord => new RefusalWriter(ports);
