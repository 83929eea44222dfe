import type {
  CallFacts,
  CallOutcome,
  CallReserved,
  CallSettled,
  ReleaseReason,
  UsageSource,
} from '../../domain/call/call.js';
import type { CallCorrected, CorrectionPart } from '../../domain/call/call-correction.js';
import {
  attemptsOf,
  type CallAttempt,
  type CallCourse,
  type CallStatus,
  callStatus,
  receivedAt,
} from '../../domain/call/call-course.js';
import type { Usage } from '../../domain/call/usage.js';
import type { Position, Recorded, Revision } from '../../domain/events/events.js';
import type { CallId, RepairId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { minus, type Quota, zero } from '../../domain/kernel/quota.js';
import { type Billing, billingOf } from '../../domain/pricing/billing.js';
import { tierAtLength } from '../../domain/pricing/context-tiers.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { TaskFailureReason } from '../../domain/task/task.js';
import type { Seal } from '../ports/seal-ports.js';
import type { PriceOrigin } from '../prices/price-origins.js';
import { sealDigest } from '../seals/seal.js';

/*
 * Everything that makes up the charge of one call, in one document: whoever has it can recompute the charge, and find its
 * events in the log. docs/audit.md describes it member by member.
 */

/** Names the document in what is signed: a member that means something else makes another one. */
export const receiptForm = 'tallygate-receipt-1';

export interface Receipt {
  readonly requestId: CallId;
  readonly issuedAt: Instant;
  /** `whole`: with channels and what upstream may charge, for administrators and auditors. `caller`: without. */
  readonly disclosure: 'caller' | 'whole';
  readonly status: CallStatus;
  readonly receivedAt: Instant;
  readonly call: CallFacts & { readonly upstreamModel: string | null };
  readonly reservation: ReceiptReservation;
  /** Channels in the order tried; null: not told. */
  readonly attempts: readonly CallAttempt[] | null;
  /** null: it has not been served. */
  readonly usage: ReceiptUsage | null;
  /** By which it was charged, or reserved while there is no charge. */
  readonly price: Price;
  /** Where each factor of the price comes from. */
  readonly factors: readonly ReceiptFactor[];
  /** null: it has not been served. */
  readonly calculation: ReceiptCalculation | null;
  /** null: it is under way. */
  readonly outcome: ReceiptOutcome | null;
  /** Of a wrong price, oldest first: what it is charged since then. */
  readonly corrections: readonly ReceiptCorrection[];
  readonly refund: ReceiptRefund | null;
  /** What it was charged, less what was given back. */
  readonly paid: Quota;
  readonly events: readonly ReceiptEvent[];
  /** Those that cover its events, in order. */
  readonly seals: readonly ReceiptSeal[];
  readonly sealing: ReceiptSealing;
}

/**
 * `sealed`: seals cover all its events. `pending`: the newest of them came after the newest seal. `left-out`: the seals
 * have gone on without one of its events, so it was not in the log when they were made.
 */
export type ReceiptSealing = 'sealed' | 'pending' | 'left-out';

interface ReceiptReservation {
  readonly position: Position;
  readonly at: Instant;
  readonly quota: Quota;
  readonly promptTokens: number;
  readonly maxOutputTokens: number | null;
  /** By which it was reserved: with the tiers that its answer might have named. */
  readonly price: Price;
  /** What the request itself says of what is sold by the piece. */
  readonly pieces: Usage;
}

interface ReceiptUsage {
  readonly counts: Usage;
  readonly source: UsageSource;
  /** What upstream has reported and was not believed; null: nothing. */
  readonly claimed: Usage | null;
}

export interface ReceiptFactor extends Pick<PriceOrigin, 'factor' | 'value' | 'option' | 'entry' | 'inRecord'> {
  readonly setBy: 'changed' | 'built-in' | 'unknown';
  /** When it was set, and by which event; null unless `changed`. */
  readonly at: Instant | null;
  readonly position: Position | null;
}

interface ReceiptCalculation extends Billing {
  /** Tokens of the prompt beyond which the ratios are those of a tier; null: those of the price itself. */
  readonly over: number | null;
}

interface ReceiptOutcome {
  readonly type: 'CallSettled' | 'CallReleased';
  readonly position: Position;
  readonly at: Instant;
  readonly charged: Quota;
  /** What it cost beyond what could be charged; owed by nobody. */
  readonly uncovered: Quota;
  readonly outcome: CallOutcome | null;
  readonly releaseReason: ReleaseReason | null;
  /** What the caller got instead of an answer. */
  readonly status: number | null;
  readonly code: string | null;
  readonly useTimeMs: number;
  readonly firstTokenMs: number | null;
  /** What upstream may charge for and nobody pays; null: not told. */
  readonly suspense: Quota | null;
  /** US dollars that upstream says it charges; null: it does not say, or not told. */
  readonly upstreamCost: string | null;
  /** By which upstream names its answer; null: it names none, or not told. */
  readonly answerId: string | null;
}

export interface ReceiptCorrection {
  readonly position: Position;
  readonly at: Instant;
  readonly repair: RepairId;
  readonly part: CorrectionPart;
  /** By which it is charged from here on. */
  readonly price: Price;
  readonly calculation: ReceiptCalculation;
  readonly charged: Quota;
  readonly uncovered: Quota;
  /** More, or less, than it was charged before. */
  readonly change: Quota;
}

interface ReceiptRefund {
  readonly position: Position;
  readonly at: Instant;
  readonly quota: Quota;
  readonly status: number;
  readonly code: string;
  /** Why the task has failed that was paid for; null: its answer was withheld. */
  readonly taskFailure: TaskFailureReason | null;
  /** What upstream may charge for it and nobody pays; null: not told. */
  readonly suspense: Quota | null;
}

export interface ReceiptEvent {
  readonly position: Position;
  readonly revision: Revision;
  readonly type: string;
  readonly at: Instant;
  /** SHA-256 of its line, with the line feed, as seals hash it; null: the log does not have the line. */
  readonly hash: string | null;
  /** Number of the seal that covers it; null: none does. */
  readonly seal: number | null;
}

export interface ReceiptSeal extends Seal {
  readonly digest: string;
}

/** An event, with what the log has of it. */
export interface ReceiptSource extends Pick<ReceiptEvent, 'hash'> {
  readonly recorded: Pick<Recorded, 'position' | 'revision' | 'at'> & { readonly event: { readonly type: string } };
  readonly seal: Seal | null;
}

export interface ReceiptParts {
  readonly id: CallId;
  readonly course: CallCourse;
  readonly factors: readonly PriceOrigin[];
  readonly sources: readonly ReceiptSource[];
  readonly newestSeal: Pick<Seal, 'last'> | null;
  readonly issuedAt: Instant;
  readonly disclosure: Receipt['disclosure'];
}

/** Pure: the same of the same. */
export function receiptOf({ id, course, issuedAt, disclosure, ...parts }: ReceiptParts): Receipt {
  const isWhole = disclosure === 'whole';
  const { reserved, refund } = course;
  const settled = settledIn(course);
  const arrived = receivedAt(id, course);
  const charged = course.corrections.at(-1)?.event.to.charged ?? settled?.charged ?? zero;
  return {
    requestId: id,
    issuedAt,
    disclosure,
    status: callStatus(course),
    receivedAt: arrived,
    call: { ...reserved.event.facts, upstreamModel: settled?.upstreamModel ?? null },
    reservation: reservationIn(reserved),
    attempts: isWhole ? attemptsOf(course, arrived) : null,
    usage: settled === null ? null : usageIn(settled),
    price: pricedBy(course),
    factors: parts.factors.map(factorOf),
    calculation: settled === null ? null : calculationOf(settled),
    outcome: outcomeIn(course, isWhole),
    corrections: settled === null ? [] : course.corrections.map((recorded) => correctionIn(settled, recorded)),
    refund: refundIn(course, isWhole),
    paid: minus(charged, refund?.event.settlement.charged ?? zero),
    ...provenance(parts),
  };
}

/** By which it was charged; of what has no charge, by which it was reserved. */
export const pricedBy = (course: CallCourse): Price => (settledIn(course) ?? course.reserved.event).price;

const settledIn = ({ outcome }: CallCourse): CallSettled | null =>
  outcome?.event.type === 'CallSettled' ? outcome.event : null;

const usageIn = ({ usage, usageSource, claimed }: CallSettled): ReceiptUsage => ({
  counts: usage,
  source: usageSource,
  claimed: claimed ?? null,
});

const reservationIn = ({ position, at, event }: Recorded<CallReserved>): ReceiptReservation => ({
  ...{ position, at, quota: event.reserved },
  ...{ promptTokens: event.promptTokens, maxOutputTokens: event.maxOutputTokens },
  ...{ price: event.price, pieces: event.pieces ?? {} },
});

export const calculationOf = ({ usage, price }: Pick<CallSettled, 'usage' | 'price'>): ReceiptCalculation => ({
  ...billingOf(usage, price),
  over: price.per === 'token' ? (tierAtLength(price, usage)?.over ?? null) : null,
});

function factorOf({ factor, value, option, entry, inRecord, setBy }: PriceOrigin): ReceiptFactor {
  const stated = { factor, value, option, entry, inRecord };
  // Who it was is for the history of options.
  return typeof setBy === 'string'
    ? { ...stated, setBy, at: null, position: null }
    : { ...stated, setBy: 'changed', at: setBy.at, position: setBy.position };
}

function outcomeIn({ outcome }: CallCourse, isWhole: boolean): ReceiptOutcome | null {
  if (outcome === null) return null;
  const { position, at, event } = outcome;
  const written = { type: event.type, position, at, useTimeMs: event.useTimeMs };
  const suspense = isWhole ? event.suspense : null;
  if (event.type === 'CallReleased')
    return {
      ...{ ...written, charged: zero, uncovered: zero, outcome: null, releaseReason: event.reason },
      ...{ status: event.status, code: event.code, firstTokenMs: null, suspense, upstreamCost: null },
      answerId: null,
    };
  return {
    ...{ ...written, charged: event.charged, uncovered: event.uncovered, outcome: event.outcome },
    ...{ releaseReason: null, status: null, code: null, firstTokenMs: event.firstTokenMs, suspense },
    upstreamCost: isWhole ? (event.upstreamCost ?? null) : null,
    answerId: isWhole ? (event.answerId ?? null) : null,
  };
}

const correctionIn = ({ usage }: CallSettled, { position, at, event }: Recorded<CallCorrected>): ReceiptCorrection => {
  const { repair, part, price, from, to } = event;
  const calculation = calculationOf({ usage, price });
  return { position, at, repair, part, price, calculation, ...to, change: minus(to.charged, from.charged) };
};

function refundIn({ refund }: CallCourse, isWhole: boolean): ReceiptRefund | null {
  if (refund === null) return null;
  const { position, at, event } = refund;
  const { settlement, status, code, task } = event;
  const suspense = isWhole ? event.suspense : null;
  return { position, at, quota: settlement.charged, status, code, taskFailure: task?.reason ?? null, suspense };
}

type Provenance = Pick<Receipt, 'events' | 'seals' | 'sealing'>;

function provenance({ sources, newestSeal }: Pick<ReceiptParts, 'sources' | 'newestSeal'>): Provenance {
  const seals = new Map<number, Seal>();
  for (const { seal } of sources) if (seal !== null) seals.set(seal.number, seal);
  const unsealed = sources.filter(({ seal }) => seal === null);
  const isLeftOut = unsealed.some(({ recorded }) => newestSeal !== null && recorded.position <= newestSeal.last);
  return {
    events: sources.map(({ recorded: { position, revision, at, event }, hash, seal }) => ({
      ...{ position, revision, type: event.type, at, hash },
      seal: seal?.number ?? null,
    })),
    seals: [...seals.values()]
      .sort((one, other) => one.number - other.number)
      .map((seal) => ({ ...seal, digest: sealDigest(seal) })),
    sealing: unsealed.length === 0 ? 'sealed' : isLeftOut ? 'left-out' : 'pending',
  };
}
