import { assertNever } from '../kernel/failure.js';
import type { ChannelId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import { max, minus, Quota, representable, zero } from '../kernel/quota.js';
import { chargeOf } from '../pricing/pricing.js';
import { servedPrice } from '../pricing/service-tiers.js';
import type {
  CallOutcome,
  CallRefunded,
  CallReleased,
  CallReserved,
  CallSettled,
  FailedAttempt,
  ReleaseReason,
  SettledTask,
  UsageSource,
} from './call.js';
import { costlyAttempts, deliveredOf, type LastSeen } from './call-progress.js';
import type { KeptObject } from './kept-object.js';
import type { Usage } from './usage.js';

/*
 * How a call ends: from its reservation and what became of it, the one event that is its outcome. Whoever concludes a
 * call, the node that serves it or one that recovers it, does it by `conclude`.
 */

/** An answer to be paid for, or what came of it. */
export interface Settlement {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly outcome: CallOutcome;
  readonly channelId: ChannelId;
  /** Channels in the order tried; the last one answered. */
  readonly attempts: readonly ChannelId[];
  /** Left out: none failed. */
  readonly failedAttempts?: readonly FailedAttempt[] | undefined;
  readonly upstreamModel: string | null;
  readonly useTimeMs: number;
  readonly firstTokenMs: number | null;
  readonly reasoningEffort: string | null;
  /** That it was served at, as its answer reports. Left out: it reports none. */
  readonly serviceTier?: string | undefined;
  /** What its channel keeps of it. Left out: nothing. */
  readonly kept?: readonly KeptObject[] | undefined;
  /** That it has submitted. Left out: none. */
  readonly task?: SettledTask | undefined;
  /** As of `CallSettled`. */
  readonly upstreamCost?: string | undefined;
  /** As of `CallSettled`. */
  readonly claimed?: Usage | undefined;
  /** As of `CallSettled`. */
  readonly answerId?: string | undefined;
  /** Attempts before it that upstream may charge for. */
  readonly unknownAttempts: number;
}

/** The status and code that a caller got; null: nobody was there to get one. */
interface ReturnedError {
  readonly status: number | null;
  readonly code: string | null;
}

/** A call that was served without an answer. */
interface Unanswered {
  readonly attempts: readonly ChannelId[];
  /** Left out: nobody knows, or nobody was asked. */
  readonly failedAttempts?: readonly FailedAttempt[] | undefined;
  readonly useTimeMs: number;
  /** Attempts that upstream may charge for although nobody pays. */
  readonly unknownAttempts: number;
}

/** What is given back with nothing charged. */
export type Release =
  /** Each channel that was asked has failed. */
  | ({ readonly kind: 'upstream-failed' } & ReturnedError & Unanswered)
  /** The caller was gone before there was anything to deliver. */
  | ({ readonly kind: 'caller-left' } & Unanswered)
  /** A fault of ours. Which channels were tried is not known any more. */
  | ({ readonly kind: 'internal' } & Pick<Unanswered, 'useTimeMs' | 'unknownAttempts'>)
  /** It cannot have gone upstream: its reservation came too late for whoever was to serve it. */
  | ({
      readonly kind: 'never-sent';
      readonly reason: Extract<ReleaseReason, 'internal' | 'recovered'>;
    } & ReturnedError);

interface Settled {
  readonly kind: 'settled';
  readonly settlement: Settlement;
  /** By `costOf` the settlement: whoever asks what is payable knows it already. */
  readonly cost: Quota;
  /** What those who pay own for this call, at most. */
  readonly payable: Quota;
}

/** The answer was there, but its settlement could not be made durable: the caller got an error instead. */
export interface Withheld {
  readonly kind: 'withheld';
  readonly settled: CallSettled;
  readonly status: number;
  readonly code: string;
}

/** Nobody serves it any more: a node died, or lost it. What had reached its caller is charged. */
interface Lost {
  readonly kind: 'lost';
  readonly seen: LastSeen;
  readonly useTimeMs: number;
  /** As of `Settled`, for `costOfLost`; nothing where that is null. */
  readonly payable: Quota;
}

export type Conclusion = Settled | Release | Withheld | Lost;

/** What is charged of a cost: no more than those who pay own for it, and never a credit. */
export const chargeWithin = (cost: Quota, payable: Quota): Quota => (cost < payable ? cost : max(payable, zero));

/** What a call costs that ends so. */
export const costOf = (
  { price }: CallReserved,
  { usage, serviceTier }: Pick<Settlement, 'usage' | 'serviceTier'>,
): Quota => chargeOf(usage, servedPrice(price, serviceTier));

/** What a lost call costs; null: nothing had reached its caller, so it is released. */
export function costOfLost(reservation: CallReserved, seen: LastSeen): Quota | null {
  const delivered = deliveredOf(reservation, seen);
  return delivered === null ? null : costOf(reservation, delivered);
}

/** The outcome of a reserved call. Pure; the charge and what nobody pays make up what it cost. */
export function conclude(reservation: CallReserved, conclusion: Settled): CallSettled;
export function conclude(reservation: CallReserved, conclusion: Release | Withheld): CallReleased;
export function conclude(reservation: CallReserved, conclusion: Conclusion): CallSettled | CallReleased;
export function conclude(reservation: CallReserved, conclusion: Conclusion): CallSettled | CallReleased {
  switch (conclusion.kind) {
    case 'settled':
      return settledBy(reservation, conclusion.settlement, conclusion.cost, conclusion.payable);
    case 'upstream-failed':
      return released(reservation, conclusion.kind, conclusion, conclusion);
    case 'caller-left':
      return released(reservation, conclusion.kind, conclusion, nothingReturned);
    case 'internal':
      return released(reservation, conclusion.kind, { attempts: [], ...conclusion }, nothingReturned);
    case 'never-sent':
      return released(reservation, conclusion.reason, notServed, conclusion);
    case 'withheld':
      return withheld(reservation, conclusion);
    case 'lost':
      return lost(reservation, conclusion);
    default:
      return assertNever(conclusion);
  }
}

const nothingReturned: ReturnedError = { status: null, code: null };
const notServed: Unanswered = { attempts: [], useTimeMs: 0, unknownAttempts: 0 };

/** Each of these attempts may have cost upstream as much as the call was expected to. */
const timesReserved = ({ reserved }: CallReserved, attempts: number): Quota =>
  Quota(representable(reserved * attempts));

/** Written out: objects put together by spreading cost every call more than its charge does. */
function settledBy(reservation: CallReserved, settlement: Settlement, cost: Quota, payable: Quota): CallSettled {
  const charged = chargeWithin(cost, payable);
  return {
    type: 'CallSettled',
    facts: reservation.facts,
    reserved: reservation.reserved,
    charged,
    usage: settlement.usage,
    price: servedPrice(reservation.price, settlement.serviceTier),
    usageSource: settlement.usageSource,
    outcome: settlement.outcome,
    channelId: settlement.channelId,
    attempts: settlement.attempts,
    failedAttempts: settlement.failedAttempts,
    upstreamModel: settlement.upstreamModel,
    useTimeMs: settlement.useTimeMs,
    firstTokenMs: settlement.firstTokenMs,
    reasoningEffort: settlement.reasoningEffort,
    uncovered: minus(cost, charged),
    suspense: timesReserved(reservation, settlement.unknownAttempts),
    kept: settlement.kept,
    task: settlement.task,
    upstreamCost: settlement.upstreamCost,
    claimed: settlement.claimed,
    answerId: settlement.answerId,
  };
}

function released(
  reservation: CallReserved,
  reason: ReleaseReason,
  { attempts, failedAttempts, useTimeMs, unknownAttempts }: Unanswered,
  { status, code }: ReturnedError,
): CallReleased {
  const { facts, reserved } = reservation;
  const suspense = timesReserved(reservation, unknownAttempts);
  const course = { attempts, failedAttempts, useTimeMs };
  return { type: 'CallReleased', facts, reserved, reason, status, code, ...course, suspense };
}

/** The work was done, and this is what it is worth. */
function withheld({ facts, reserved }: CallReserved, { settled, status, code }: Withheld): CallReleased {
  const { attempts, failedAttempts, useTimeMs, charged, uncovered, suspense } = settled;
  const unpaid = Quota(representable(charged + uncovered + suspense));
  const course = { attempts, failedAttempts, useTimeMs };
  return { type: 'CallReleased', facts, reserved, reason: 'not-booked', status, code, ...course, suspense: unpaid };
}

function lost(reservation: CallReserved, { seen, useTimeMs, payable }: Lost): CallSettled | CallReleased {
  const delivered = deliveredOf(reservation, seen);
  if (delivered === null) {
    const attempts = seen.kind === 'sent' ? seen.progress.attempts : [];
    const course = { attempts, useTimeMs, unknownAttempts: costlyAttempts(seen) };
    return released(reservation, 'recovered', course, nothingReturned);
  }
  const { usage, channelId, firstTokenMs, progress } = delivered;
  const { attempts, unknownAttempts, upstreamModel } = progress;
  const settlement: Settlement = {
    usage,
    usageSource: 'estimated',
    outcome: 'gateway-failed',
    channelId,
    attempts,
    upstreamModel,
    useTimeMs,
    firstTokenMs,
    reasoningEffort: null,
    unknownAttempts,
  };
  return settledBy(reservation, settlement, costOf(reservation, settlement), payable);
}

/** A settlement as it was, or may have been, written. */
interface WrittenSettlement {
  readonly id: string;
  readonly at: Instant;
  readonly event: CallSettled;
}

/** Takes back a settlement whose answer was withheld, where the log turns out to hold it. */
export function refundOf(
  { id, at, event }: WrittenSettlement,
  { status, code }: Pick<Withheld, 'status' | 'code'>,
): CallRefunded {
  const { facts, charged, usage, channelId, attempts, failedAttempts, useTimeMs } = event;
  return {
    type: 'CallRefunded',
    settlement: { eventId: id, at, charged, usage, channelId, attempts, failedAttempts, useTimeMs },
    facts,
    status,
    code,
    useTimeMs,
    // What nobody was to pay is booked by the settlement already.
    suspense: charged,
  };
}
