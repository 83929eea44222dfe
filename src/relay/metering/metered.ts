import type { Shortage } from '../../application/ports/quota-gate-ports.js';
import type { Clock, DurableEventStore, QuotaGate } from '../../application/ports/storage-ports.js';
import type { SpendingTerms } from '../../domain/api-key/api-key-terms.js';
import type { CallFacts, CallReserved, CallSettled } from '../../domain/call/call.js';
import type { Release, Settlement, Withheld } from '../../domain/call/call-conclusion.js';
import type { Counts } from '../../domain/call/usage.js';
import { type UsageBound, withOutput } from '../../domain/call/usage-bound.js';
import { type NewEvent, type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { CallId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { isVideoSeconds, type PieceQuantity, type Quantity } from '../../domain/pricing/quantities.js';
import { isSoldBy } from '../../domain/pricing/rates.js';
import { dropReservation, giveBack, newEvent, type Outcomes } from './call-outcomes.js';
import type { InFlightCall, InFlightCalls } from './in-flight-calls.js';
import { LocalReservation } from './local-reservation.js';
import { affordableLimit, type ReservationEstimate } from './reservation-estimate.js';

/*
 * A call is reserved durably before its request goes upstream, then settled or released exactly once: the expected
 * revision of its own stream sees to that. When the log does not answer, what was delivered stays settled. An answer that
 * nobody has seen is withdrawn: released, or refunded where the log has the settlement already.
 */

export interface MeterPorts {
  readonly store: DurableEventStore;
  readonly gate: QuotaGate;
  readonly clock: Clock;
  readonly inFlight: Pick<InFlightCalls, 'begin' | 'reserved' | 'end' | 'lose'>;
  readonly newEventId: (at: Instant) => string;
  /** Called with a settlement that is durable and says what its channel keeps. Left out: nobody is. */
  readonly kept?: ((callId: CallId, settled: NewEvent<CallSettled>) => void) | undefined;
  /** Called for an outcome that could not be written yet and is tried again. */
  readonly warn: (message: string, facts: Record<string, unknown>) => void;
}

/** The refusal for when an answer has to be withheld. */
export type Withdrawal = Pick<Withheld, 'status' | 'code'>;

type Reserving =
  | { readonly ok: true; readonly reservation: Reservation }
  | { readonly ok: false; readonly shortage: Shortage };

export interface Reservation {
  /** For whoever serves the call to note how far it has come. */
  readonly inFlightCall: InFlightCall;
  readonly reserved: Quota;
  /** The limit to each answer that goes upstream with the call; null: as the caller asked. */
  readonly outputLimit: number | null;
  /** What usage is believed of the call. */
  readonly bound: UsageBound;
  /** Raises the reservation to `quota`; false when it cannot be afforded. */
  extend(quota: Quota): Promise<boolean>;
  /**
   * For an answer the caller has, but for its end. Resolves with the charge once the settlement is durable. Rejects when
   * the log does not answer; the charge then follows when it does.
   */
  settle(settlement: Settlement): Promise<Quota>;
  /**
   * For an answer the caller has nothing of. Resolves with the charge once the settlement is durable. null: the log does
   * not answer, and the call will not be charged; the caller must get an error, and the answer is withheld.
   */
  settleOrWithdraw(settlement: Settlement, withdrawal: Withdrawal): Promise<Quota | null>;
  /** Resolves once it is durable or, when the log does not answer, is on its way. */
  release(release: Release): Promise<void>;
  /** Nobody serves the call any more. One without an outcome is then for recovery to find. */
  leave(): void;
}

export interface Meter {
  reserve(callId: CallId, facts: CallFacts, terms: SpendingTerms, estimate: ReservationEstimate): Promise<Reserving>;
  /** Outcomes still on their way to the log. */
  pending(): number;
}

/** The log has not taken the event and will not: there is nothing to take back. */
const isUnwritten = (error: unknown): boolean => error instanceof Failure && error.code === 'store-busy';

/** The gate has refused it because of a call of that name, which keeps its reservation. */
const isLostRace = (error: unknown): boolean => error instanceof Failure && error.code === 'lost-race';

export function openMeter(ports: MeterPorts): Meter {
  const outcomes: Outcomes = { ...ports, unwritten: 0 };
  return {
    pending: () => outcomes.unwritten,
    reserve: (callId, facts, terms, estimate) => reserveCall(outcomes, { callId, facts, terms, estimate }),
  };
}

interface Order {
  readonly callId: CallId;
  readonly facts: CallFacts;
  readonly terms: SpendingTerms;
  readonly estimate: ReservationEstimate;
}

/** Of these the request itself says how many it uses: characters to be spoken, seconds of video to be made. */
const isKnown = (name: Quantity): name is PieceQuantity => name === 'characters' || isVideoSeconds(name);

/** Nothing to be spread where nothing of it has a price. */
function knownPieces(bound: UsageBound, price: Price): Pick<CallReserved, 'pieces'> | undefined {
  if (price.pieces === undefined) return undefined;
  let pieces: Counts | undefined;
  for (const name in bound) {
    const count = bound[name as Quantity] ?? 0;
    if (count <= 0 || !isKnown(name as Quantity) || !isSoldBy(price, name as PieceQuantity)) continue;
    pieces ??= {};
    pieces[name as Quantity] = count;
  }
  return pieces === undefined ? undefined : { pieces };
}

async function reserveCall(outcomes: Outcomes, { callId, facts, terms, estimate }: Order): Promise<Reserving> {
  const { userId, apiKeyId } = facts;
  const { price, promptTokens, max, min, minOfKey } = estimate;
  const asked = { callId, userId, apiKeyId, terms, max, min, minOfKey };
  const admission = await outcomes.gate.admit(asked).catch((error: unknown) => {
    if (!isLostRace(error)) dropReservation(outcomes, callId);
    throw error;
  });
  if (!admission.admitted) return { ok: false, shortage: admission };
  const reserved = admission.granted;
  const outputLimit = affordableLimit(estimate, reserved);
  const { bound: asAsked, overhead, answers } = estimate;
  const bound = outputLimit === null ? asAsked : withOutput(asAsked, (outputLimit + overhead) * answers);
  const maxOutputTokens = bound.output;
  const event: CallReserved = {
    ...{ type: 'CallReserved', facts, reserved, promptTokens, maxOutputTokens, price },
    ...knownPieces(bound, price),
  };
  const inFlightCall = await writeReservation(outcomes, callId, newEvent(outcomes, event));
  return { ok: true, reservation: new LocalReservation(outcomes, { callId, event, inFlightCall, outputLimit, bound }) };
}

/** Resolves once it is durable; rejects, with nothing reserved, or reserved until it is given back, where it is not. */
async function writeReservation(
  outcomes: Outcomes,
  callId: CallId,
  reserved: NewEvent<CallReserved>,
): Promise<InFlightCall> {
  const { store, inFlight: inFlightCall } = outcomes;
  const call = inFlightCall.begin(callId);
  const placed = (position: Position): void => inFlightCall.reserved(callId, position);
  const result = await store
    .appendDurable(streams.call(callId), reserved, 'no-stream', placed)
    .catch((error: unknown) => {
      if (isUnwritten(error)) {
        dropReservation(outcomes, callId);
        inFlightCall.end(callId);
      }
      // Nobody knows whether it was written. Nothing went upstream, so it is given back: written first if need be.
      else void giveBack(outcomes, callId, reserved);
      throw error;
    });
  if (result.ok) return call;
  dropReservation(outcomes, callId);
  inFlightCall.end(callId);
  throw new Failure('lost-race', { callId });
}
