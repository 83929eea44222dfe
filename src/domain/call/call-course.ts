import type { Recorded } from '../events/events.js';
import { assertNever } from '../kernel/failure.js';
import type { CallId, ChannelId } from '../kernel/ids.js';
import { Instant } from '../kernel/instant.js';
import type { CallRefused } from '../kernel/refusal.js';
import type { CallEvent, CallRefunded, CallReleased, CallReserved, CallSettled, FailedAttempt } from './call.js';
import type { CallCorrected } from './call-correction.js';

/* How one call went, by the events of its own stream: for whoever looks at it, not for deciding. */

export interface CallCourse {
  readonly reserved: Recorded<CallReserved>;
  /** null: it is under way, or nobody has found yet that who served it died. */
  readonly outcome: Recorded<CallSettled> | Recorded<CallReleased> | null;
  readonly refund: Recorded<CallRefunded> | null;
  /** Of what it was charged, oldest first. */
  readonly corrections: readonly Recorded<CallCorrected>[];
}

/** null: these events are of no call that was reserved. */
export function courseOf(events: readonly Recorded<CallEvent | CallRefused>[]): CallCourse | null {
  let reserved: CallCourse['reserved'] | null = null;
  let outcome: CallCourse['outcome'] = null;
  let refund: CallCourse['refund'] = null;
  const corrections: Recorded<CallCorrected>[] = [];
  for (const recorded of events) {
    switch (recorded.event.type) {
      case 'CallReserved':
        reserved = recorded as Recorded<CallReserved>;
        break;
      case 'CallSettled':
      case 'CallReleased':
        outcome = recorded as Recorded<CallSettled> | Recorded<CallReleased>;
        break;
      case 'CallRefunded':
        refund = recorded as Recorded<CallRefunded>;
        break;
      case 'CallCorrected':
        corrections.push(recorded as Recorded<CallCorrected>);
        break;
      case 'CallRefused':
        break;
      default:
        assertNever(recorded.event);
    }
  }
  return reserved === null ? null : { reserved, outcome, refund, corrections };
}

export type CallStatus = 'under-way' | 'settled' | 'released' | 'refunded';

export function callStatus({ outcome, refund }: CallCourse): CallStatus {
  if (refund !== null) return 'refunded';
  if (outcome === null) return 'under-way';
  return outcome.event.type === 'CallSettled' ? 'settled' : 'released';
}

/** Beyond this, a clock was set between the request and its reservation: the body is read within seconds. */
const maxAdmissionMs = 10 * 60_000;

/** When the request arrived, which its id says; never after the reservation. */
export function receivedAt(callId: CallId, { reserved }: CallCourse): Instant {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})/.exec(callId)?.map(Number) ?? [];
  if (year === undefined || month === undefined) return reserved.at;
  const time = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  return time <= reserved.at && reserved.at - time <= maxAdmissionMs ? Instant(time) : reserved.at;
}

/**
 * `admitting`: from the request's arrival to the durable reservation. `waiting`: for the first token, or for all of an
 * answer that comes whole. `answering`: from the first token to the last. `concluding`: until the outcome was written.
 * `refunding`: until what was charged for a withheld answer was given back.
 */
export type CallStepKind = 'admitting' | 'waiting' | 'answering' | 'concluding' | 'refunding';

/** Milliseconds since the request arrived. */
export interface CallStep {
  readonly kind: CallStepKind;
  readonly from: number;
  /** null: it goes on. */
  readonly to: number | null;
}

/** In order, each beginning where the one before ends; what took no time at the end is left out. */
export function stepsOf(course: CallCourse, arrived: Instant): readonly CallStep[] {
  const { reserved, outcome, refund } = course;
  const sent = reserved.at - arrived;
  const steps: CallStep[] = [{ kind: 'admitting', from: 0, to: sent }];
  let from = sent;
  const step = (kind: CallStepKind, until: number): void => {
    const to = Math.max(from, until);
    steps.push({ kind, from, to });
    from = to;
  };
  if (outcome === null) return [...steps, { kind: 'waiting', from, to: null }];
  const { event } = outcome;
  const firstToken = event.type === 'CallSettled' ? event.firstTokenMs : null;
  const ended = sent + Math.round(event.useTimeMs);
  step('waiting', firstToken === null ? ended : sent + Math.round(firstToken));
  if (firstToken !== null) step('answering', ended);
  if (outcome.at - arrived > from) step('concluding', outcome.at - arrived);
  if (refund !== null) step('refunding', refund.at - arrived);
  return steps;
}

/** A channel that was tried. */
export interface CallAttempt {
  readonly channelId: ChannelId;
  /** How it failed; null: it answered, or nobody knows. */
  readonly failure: Pick<FailedAttempt, 'status' | 'code' | 'durationMs'> | null;
  /** Milliseconds since the request arrived; null: not known. */
  readonly from: number | null;
  readonly to: number | null;
}

/** In the order tried, each beginning where the one before failed; the last one lasts until the answer did. */
export function attemptsOf({ reserved, outcome }: CallCourse, arrived: Instant): readonly CallAttempt[] {
  if (outcome === null) return [];
  const { attempts, failedAttempts = [], useTimeMs } = outcome.event;
  const sent = reserved.at - arrived;
  const ended = sent + Math.round(useTimeMs);
  // The failed ones come in the same order, and what answered is not among them.
  const failed = [...failedAttempts];
  let from: number | null = sent;
  return attempts.map((channelId, index) => {
    const failure = failed[0]?.channelId === channelId ? (failed.shift() ?? null) : null;
    const began = from;
    if (failure === null) {
      from = null;
      return { channelId, failure, from: began, to: index === attempts.length - 1 ? ended : null };
    }
    const { status, code, durationMs } = failure;
    from = began === null ? null : Math.min(ended, began + Math.round(durationMs));
    return { channelId, failure: { status, code, durationMs }, from: began, to: from };
  });
}
