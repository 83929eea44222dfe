import type {
  CallEvent,
  CallFacts,
  CallOutcome,
  CallReserved,
  ReleaseReason,
  UsageSource,
} from '../../domain/call/call.js';
import {
  attemptsOf,
  type CallAttempt,
  type CallCourse,
  type CallStatus,
  type CallStep,
  callStatus,
  courseOf,
  receivedAt,
  stepsOf,
} from '../../domain/call/call-course.js';
import type { Usage } from '../../domain/call/usage.js';
import type { Position, Recorded } from '../../domain/events/events.js';
import { CallId, isCallId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { type Quota, zero } from '../../domain/kernel/quota.js';
import { type Billing, billingOf } from '../../domain/pricing/billing.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { mayDo } from '../authorise.js';
import type { EventStore, ReadModelProgress } from '../ports/storage-ports.js';
import { disclosedPriceOrigins, type PriceOrigin } from '../prices/price-origins.js';
import { eventsOfCall } from './call-events.js';

/*
 * One call, read from its own stream: also while it is under way, before its line is in the usage log, and after that
 * line has gone.
 */

interface CallQueryPorts {
  readonly db: ReadModels;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
  readonly store: Pick<EventStore, 'streamPages'>;
}

export interface CallView extends Pick<CallReserved, 'reserved' | 'promptTokens' | 'maxOutputTokens' | 'price'> {
  readonly id: CallId;
  readonly facts: CallFacts;
  readonly status: CallStatus;
  /** When the request arrived, as its id says. */
  readonly receivedAt: Instant;
  /** Of the reservation: what it was priced by stood before it in the log. */
  readonly position: Position;
  readonly steps: readonly CallStep[];
  /** What has come of it; null: nothing yet. */
  readonly end: CallEnd | null;
  /** What was charged, and then given back because the answer was withheld. */
  readonly refunded: Quota;
  /** Channels in the order tried. For administrators. */
  readonly attempts: readonly CallAttempt[];
  /** What upstream may charge for and nobody pays. For administrators. */
  readonly suspense: Quota;
  readonly events: readonly CallEventView[];
}

export interface CallEnd {
  readonly charged: Quota;
  readonly uncovered: Quota;
  readonly usage: Usage | null;
  readonly usageSource: UsageSource | null;
  readonly outcome: CallOutcome | null;
  /** Why it was not served; null: it was. */
  readonly releaseReason: ReleaseReason | null;
  /** The error that the caller got instead of an answer. */
  readonly status: number | null;
  readonly code: string | null;
  readonly upstreamModel: string | null;
  readonly reasoningEffort: string | null;
  readonly useTimeMs: number;
  readonly firstTokenMs: number | null;
}

/** An event as its viewer may see it. */
export interface CallEventView extends Pick<Recorded, 'position' | 'revision' | 'at'> {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * What a caller may know of the events of a call. Not: channels, what upstream may charge, and whatever a later release
 * says besides.
 */
const forCallers: ReadonlySet<string> = new Set([
  'facts',
  'reserved',
  'promptTokens',
  'maxOutputTokens',
  'price',
  'charged',
  'uncovered',
  'usage',
  'usageSource',
  'claimed',
  'outcome',
  'upstreamModel',
  'useTimeMs',
  'firstTokenMs',
  'reasoningEffort',
  'reason',
  'status',
  'code',
]);

function eventView({ position, revision, at, event }: Recorded<CallEvent>, isAdmin: boolean): CallEventView {
  const { type, ...members } = event;
  const payload = isAdmin
    ? members
    : Object.fromEntries(Object.entries(members).filter(([name]) => forCallers.has(name)));
  return { position, revision, at, type, payload };
}

const nothingUsed = {
  charged: zero,
  uncovered: zero,
  usage: null,
  usageSource: null,
  outcome: null,
  upstreamModel: null,
  reasoningEffort: null,
  firstTokenMs: null,
} as const;

function endOf({ outcome, refund }: CallCourse): CallEnd | null {
  if (outcome === null) return null;
  if (refund !== null) {
    const { status, code, useTimeMs } = refund.event;
    return { ...nothingUsed, releaseReason: 'not-booked', status, code, useTimeMs };
  }
  const { event } = outcome;
  if (event.type === 'CallReleased') {
    const { reason, status, code, useTimeMs } = event;
    return { ...nothingUsed, releaseReason: reason, status, code, useTimeMs };
  }
  const { charged, uncovered, usage, usageSource, upstreamModel, reasoningEffort, useTimeMs, firstTokenMs } = event;
  const answered = { releaseReason: null, status: null, code: null };
  return {
    ...answered,
    ...{ charged, uncovered, usage, usageSource, outcome: event.outcome },
    ...{ upstreamModel, reasoningEffort, useTimeMs, firstTokenMs },
  };
}

/**
 * By which it was charged: its answer may have reported the tier of service. Until then, by which it is reserved for.
 */
const priceIn = ({ reserved, outcome }: CallCourse): CallReserved['price'] =>
  outcome?.event.type === 'CallSettled' ? outcome.event.price : reserved.event.price;

function viewOf(id: CallId, course: CallCourse, events: readonly Recorded<CallEvent>[], isAdmin: boolean): CallView {
  const { reserved, outcome, refund } = course;
  const { facts, promptTokens, maxOutputTokens } = reserved.event;
  const arrived = receivedAt(id, course);
  const refunding = refund?.event ?? null;
  return {
    id,
    facts,
    status: callStatus(course),
    receivedAt: arrived,
    position: reserved.position,
    steps: stepsOf(course, arrived),
    reserved: reserved.event.reserved,
    promptTokens,
    maxOutputTokens,
    price: priceIn(course),
    end: endOf(course),
    refunded: refunding?.settlement.charged ?? zero,
    attempts: isAdmin ? attemptsOf(course, arrived) : [],
    suspense: isAdmin ? (refunding?.suspense ?? outcome?.event.suspense ?? zero) : zero,
    events: events.map((recorded) => eventView(recorded, isAdmin)),
  };
}

export function callQueries(ports: CallQueryPorts) {
  const { store } = ports;
  const originsOf = disclosedPriceOrigins(ports);

  return {
    /**
     * Admins see every call; others their own, without channels. null: there is none of this id, or it is another's,
     * which is the same to whoever may not see it.
     */
    async call(viewer: Actor, requestId: string): Promise<CallView | null> {
      if (!isCallId(requestId)) return null;
      const id = CallId(requestId);
      const events = await eventsOfCall(store, id);
      const course = courseOf(events);
      const isAdmin = mayDo(viewer, 'admin-reading');
      if (course === null || (!isAdmin && course.reserved.event.facts.userId !== viewer.id)) return null;
      return viewOf(id, course, events, isAdmin);
    },

    /** Who set the factors of its price; by whom is for root. */
    priceOriginsOf: (viewer: Actor, { price, facts, position }: CallView): Promise<readonly PriceOrigin[]> =>
      originsOf(viewer, { price, model: facts.model, group: facts.group, position }),

    /** How its charge came about; null: it has none. */
    billingOfCall: ({ end, price }: Pick<CallView, 'end' | 'price'>): Billing | null =>
      end === null || end.usage === null ? null : billingOf(end.usage, price),
  };
}
