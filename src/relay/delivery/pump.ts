import type { CallOutcome } from '../../domain/call/call.js';
import { isUnavailable } from '../../domain/kernel/failure.js';
import type { FirstStep, StreamReading } from '../answers/answer-reading.js';
import { noRoomHere } from '../answers/lost-answer.js';
import { countKept, takeFirst } from '../answers/stream-start.js';
import { errorForCaller, fromUpstream, internalError, RelayError, storeUnavailable } from '../contracts/errors.js';
import { type AnswerStream, hasEnded, type StreamStep } from '../contracts/protocol.js';
import type { AccountWatch } from '../pipeline/channels/account-watch.js';
import { isSilence, Lost } from '../upstream/upstream-response.js';
import type { CallerConnection } from './caller-connection.js';
import type { Growth } from './growth.js';
import type { Heartbeat } from './heartbeats.js';
import type { SilentTime } from './silent-time.js';
import type { StalledCallers } from './stalled-callers.js';
import { write } from './write-answer.js';

/* A begun stream, passed on frame by frame, and how it ended. */

const unknownQuota = 'the quota for more of this answer cannot be reserved now: the answer ends here; try again later';

interface Pumped {
  readonly outcome: CallOutcome;
  /** The failure that the caller gets in the stream; null: nothing went wrong. */
  readonly error: RelayError | null;
  /** Something of the answer was sent. */
  readonly begun: boolean;
  /** Upstream was stopped by us before it had come to its end. */
  readonly cutShort: boolean;
  /** A mistake of ours that ended it; null: none. */
  readonly bug: unknown;
}

interface PumpOptions {
  readonly stalledCallers: StalledCallers;
  readonly growth: Growth;
  /** Called with what is written. */
  readonly heartbeat: Pick<Heartbeat, 'wrote'>;
  /** Longest a stream is read on when its caller has gone. */
  readonly callerGoneMs: number;
  /** What the call costs can only be learned from upstream. */
  readonly costsUnseen: boolean;
  /** Called with the words that come; null: nothing can go unseen. */
  readonly silence: SilentTime | null;
  /** Called with a failure that upstream reports. */
  readonly faulted: AccountWatch;
}

/** A departed caller's stream is read on for this many bytes at most. */
const maxReadOn = 4 * 1024 * 1024;

const broken = (): RelayError => new RelayError(500, 'stream_response_error', 'the upstream broke off its answer');
const silent = (): RelayError =>
  new RelayError(500, 'stream_response_error', 'the upstream broke off its answer: it fell silent');
const unaffordable = (): RelayError =>
  new RelayError(403, 'insufficient_user_quota', 'the quota is used up: the answer ends here');

/** What upstream has reported before it was lost, else that it was. */
function lostError({ failure = null }: Pick<AnswerStream, 'failure'>, lost: Lost, faulted: AccountWatch): RelayError {
  if (failure === null) return isSilence(lost) ? silent() : broken();
  faulted(failure);
  return errorForCaller(failure, failure.status);
}

/**
 * Forwards a begun stream to its end. Everything is sent but the end mark: that waits for the settlement. When the caller
 * leaves, upstream is stopped, unless what the call cost can only be learned from its end: then it is read on, within
 * bounds, and nothing of it kept.
 */
export async function pump(
  connection: CallerConnection,
  reading: StreamReading,
  options: PumpOptions,
): Promise<Pumped> {
  const { decoder, chunks, slot, cancel, staysOpen } = reading;
  const { stalledCallers, growth, heartbeat, callerGoneMs, costsUnseen, silence, faulted } = options;
  let readingOn: NodeJS.Timeout | null = null;
  let readOn = 0;
  const leave = (): void => {
    silence?.left();
    // After its finish reason there is nothing left to come but the usage.
    if (!hasEnded(decoder.generated) && !costsUnseen) cancel();
    else readingOn = setTimeout(cancel, callerGoneMs).unref();
  };
  silence?.said(decoder.generated.said.length);
  const forget = connection.whenGone(leave);
  if (connection.gone) leave();

  let first: FirstStep | null = takeFirst(reading);
  let begun = first.bytes !== null;
  const departure = (): CallOutcome => (connection.stalled ? 'caller-stalled' : 'caller-left');
  const stop = (outcome: CallOutcome, error: RelayError | null, cutShort: boolean, bug: unknown = null): Pumped => {
    cancel();
    return { outcome, error, begun, cutShort, bug };
  };

  try {
    if (first.bytes !== null) await write(connection, first.bytes, stalledCallers);
    let { finished } = first;
    // A suspended function keeps what its variables hold: each open stream would keep what came first and last.
    first = null;
    while (!finished) {
      let next: IteratorResult<Buffer, undefined> | null = await chunks.next();
      if (connection.gone && !next.done) readOn += next.value.length;
      if (readOn > maxReadOn) return stop(departure(), null, true);
      let step: StreamStep | null = next.done ? decoder.end() : decoder.push(next.value);
      silence?.said(decoder.generated.said.length);
      const full = countKept(slot, decoder, step, next.value?.length ?? 0);
      if (full !== null && connection.gone) return stop(departure(), null, true);
      if (full !== null) return stop('upstream-broke', fromUpstream(noRoomHere(full), 503), false);
      if (step.bytes !== null) {
        begun = true;
        const waiting = write(connection, step.bytes, stalledCallers);
        if (waiting !== null) {
          await waiting;
          silence?.resumed();
        }
        heartbeat.wrote();
      }
      if (step.error !== null) {
        faulted(step.error);
        return stop('upstream-broke', errorForCaller(step.error, step.error.status), false);
      }
      const covered = growth.covers(decoder.generated.said);
      if (covered !== true && !(await covered)) return stop('quota-ran-out', unaffordable(), true);
      finished = step.finished;
      if (next.done && !finished) {
        if (!hasEnded(decoder.generated)) return stop('upstream-broke', broken(), false);
        break;
      }
      next = null;
      step = null;
    }
    if (staysOpen) cancel();
    return { outcome: connection.gone ? departure() : 'completed', error: null, begun, cutShort: false, bug: null };
  } catch (error) {
    // Nobody can say whether there is quota for more.
    if (isUnavailable(error)) return stop('gateway-failed', storeUnavailable(unknownQuota), true);
    if (!(error instanceof Lost)) return stop('gateway-failed', internalError(), false, error);
    if (connection.gone) return stop(departure(), null, true);
    // Of an answer that has ended nothing is missing; any other is half of one, and nobody shall take it for whole.
    if (hasEnded(decoder.generated)) return stop('completed', null, false);
    return stop('upstream-broke', lostError(decoder, error, faulted), false);
  } finally {
    if (readingOn !== null) clearTimeout(readingOn);
    forget();
  }
}
