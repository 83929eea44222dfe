import type { Clock, EventStore, ExpectedRevision } from '../../application/ports/storage-ports.js';
import { atIntervals } from '../../concurrency/at-intervals.js';
import { type NewEvent, type StreamName, streams } from '../../domain/events/events.js';
import { isUnavailable } from '../../domain/kernel/failure.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { CallRefused, CallsRefused, Refusal } from '../../domain/kernel/refusal.js';
import { RefusalTally, type RefusedKind, toldOneByOne } from './refusal-tally.js';

/*
 * The one writer of refusals. Once a second it takes what was counted, here and by workers, and writes the first ones of
 * each kind in a minute to the streams of their calls; what more there were is one event a kind when the minute is over.
 * No answer waits for it. What a crash takes along is the last second, and of the minute's sums what was not written.
 */

const everyMs = 1_000;
const minuteMs = 60_000;
/** Events of their own in a minute, and of them those of callers that nobody knows. */
const maxTold = 250;
const maxToldOfNobody = 50;
/** Appends that wait while the log does not answer. */
const maxWaiting = 300;
/** Appends at once: calls go first, so there is never much of this in their way. */
const atOnce = 20;

interface RefusalPorts {
  readonly store: Pick<EventStore, 'append'>;
  readonly clock: Clock;
  readonly newEventId: (at: Instant) => string;
  /** Told of what was refused when it is known here, whatever of it is written. */
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
  keepWriting(): () => Promise<void>;
}

interface Waiting {
  readonly stream: StreamName;
  readonly events: readonly NewEvent<CallRefused | CallsRefused>[];
  readonly expected: ExpectedRevision;
}

export function recordRefusals({ store, clock, newEventId, counted, warn }: RefusalPorts): RefusalRecord {
  const own = new RefusalTally();
  const minute = new RefusalTally();
  /** Since when the present minute counts; null: nothing was refused in it. */
  let since: Instant | null = null;
  let told = 0;
  let toldOfNobody = 0;
  const waiting: Waiting[] = [];
  /** The log did not answer when it was last asked. */
  let away = false;

  const hasRoomFor = ({ userId }: Refusal, { first }: RefusedKind): boolean =>
    first.length < toldOneByOne &&
    told < maxTold &&
    (userId !== null || toldOfNobody < maxToldOfNobody) &&
    waiting.length < maxWaiting;

  const take: RefusalRecord['take'] = (kinds) => {
    for (const { refusal, first, more, last } of kinds) {
      counted(refusal, first.length + more);
      const kind = minute.kindOf(refusal);
      for (const call of first) {
        since ??= call.at;
        if (hasRoomFor(refusal, kind)) {
          told++;
          if (refusal.userId === null) toldOfNobody++;
          kind.first.push(call);
          const event = { type: 'CallRefused', refusal } as const;
          const events = [{ id: newEventId(call.at), at: call.at, event }];
          waiting.push({ stream: streams.call(call.callId), events, expected: 'no-stream' });
        } else {
          kind.more++;
          kind.last = call.at;
        }
      }
      if (last === 0) continue;
      since ??= last;
      kind.more += more;
      kind.last = last;
    }
  };

  /** The minute is over: what more there were. */
  const sum = (now: Instant): void => {
    const kinds = minute.take();
    const from = since ?? now;
    since = null;
    told = 0;
    toldOfNobody = 0;
    const events = kinds.flatMap(({ refusal, more, last }) =>
      last === 0
        ? []
        : [
            {
              id: newEventId(last),
              at: last,
              event: { type: 'CallsRefused', refusal, count: more, since: from } as const,
            },
          ],
    );
    if (events.length > 0) waiting.push({ stream: streams.refusals(now), events, expected: 'any' });
  };

  /**
   * An append whose answer was lost is repeated; the ids of its events make that harmless. A call that has a stream
   * already is told there.
   */
  const append = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, atOnce);
      const written = await Promise.allSettled(
        batch.map(({ stream, events, expected }) => store.append(stream, events, expected)),
      );
      const again = batch.filter((_, index) => {
        const outcome = written[index];
        if (outcome?.status !== 'rejected') return false;
        if (isUnavailable(outcome.reason)) return true;
        warn({ err: outcome.reason }, 'a refusal could not be written and is left out');
        return false;
      });
      waiting.unshift(...again);
      away = again.length > 0;
      if (away) return;
    }
  };

  const write = async (): Promise<void> => {
    take(own.take());
    const now = clock.now();
    // While the log does not answer, the minute lasts.
    if (since !== null && Math.abs(now - since) >= minuteMs && waiting.length < maxWaiting) sum(now);
    await append();
  };

  return {
    own,
    take,
    write,
    keepWriting() {
      const stop = atIntervals(everyMs, write);
      return async () => {
        await stop();
        // Nobody waits for a log that has not answered before.
        if (away) return;
        take(own.take());
        sum(clock.now());
        await append();
      };
    },
  };
}
