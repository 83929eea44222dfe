import type { Shortage } from '../../application/ports/quota-gate-ports.js';
import type { Clock, EventStore, QuotaGate } from '../../application/ports/storage-ports.js';
import type { SpendingTerms } from '../../domain/api-key/api-key-terms.js';
import type { CallEvent, CallFacts, CallReserved, CallSettled } from '../../domain/call/call.js';
import { conclude, type Release, refundOf, type Settlement, type Withheld } from '../../domain/call/call-conclusion.js';
import { type NewEvent, type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { CallId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { type Quota, zero } from '../../domain/kernel/quota.js';
import { chargeOf } from '../../domain/pricing/pricing.js';
import { affordableLimit, type HoldEstimate, type UsageBound } from './hold.js';
import type { InFlightCall, InFlightCalls } from './in-flight-calls.js';

/*
 * The money side of a call: held at the gate and reserved durably before the upstream is asked, then settled or
 * released exactly once. The call's own stream and its expected revision make the outcome exactly-once; a repeat of the
 * same event is a no-op.
 *
 * When the log does not answer, nobody knows which outcome it holds. What was delivered stays settled, however long the
 * writing takes. An answer nobody has seen is withdrawn: the log gets a release, or a refund where it turns out to hold
 * the settlement already. Either way a call that was answered as failed has cost nothing.
 */

export interface MeterPorts {
  readonly store: EventStore;
  readonly gate: QuotaGate;
  readonly clock: Clock;
  readonly underWay: Pick<InFlightCalls, 'begin' | 'reserved' | 'end' | 'lose'>;
  readonly newEventId: (at: Instant) => string;
  /** Told about an outcome that could not be written yet and is tried again. */
  readonly warn: (message: string, facts: Record<string, unknown>) => void;
}

/** What the caller is told when an answer has to be withheld. */
export type Withdrawal = Pick<Withheld, 'status' | 'code'>;

type Reserving =
  | { readonly ok: true; readonly reservation: Reservation }
  | { readonly ok: false; readonly shortage: Shortage };

export interface Reservation {
  /** For whoever serves the call to note how far it has come. */
  readonly underWay: InFlightCall;
  readonly held: Quota;
  /** The limit to each answer that goes upstream with the call; null: as the caller asked. */
  readonly outputLimit: number | null;
  /** What usage is believed of the call. */
  readonly bound: UsageBound;
  /** Raises the hold to `quota`; false when it cannot be afforded. */
  extend(quota: Quota): Promise<boolean>;
  /**
   * For an answer the caller has, but for its end. Resolves with the charge once the settlement is durable. Rejects when
   * the log does not answer; the charge then follows when it does.
   */
  settle(settlement: Settlement): Promise<Quota>;
  /**
   * For an answer the caller has nothing of. Resolves with the charge once the settlement is durable. null: the log does
   * not answer, and the call will not be charged; the caller must be told so, and the answer withheld.
   */
  settleOrWithdraw(settlement: Settlement, withdrawal: Withdrawal): Promise<Quota | null>;
  /** Resolves once it is durable or, when the log does not answer, is on its way. */
  release(release: Release): Promise<void>;
  /** Nobody serves the call any more. One without an outcome is then for recovery to find. */
  leave(): void;
}

export interface Meter {
  reserve(callId: CallId, facts: CallFacts, terms: SpendingTerms, estimate: HoldEstimate): Promise<Reserving>;
  /** Outcomes still on their way to the log. */
  pending(): number;
}

const retryDelayMs = 1000;

/** The log has not taken the event and will not: there is nothing to take back. */
const isUnwritten = (error: unknown): boolean => error instanceof Failure && error.code === 'store-busy';

/** How an outcome gets into the log. */
interface Outcomes extends Pick<MeterPorts, 'gate' | 'underWay' | 'warn'> {
  newEvent<Event extends CallEvent>(event: Event): NewEvent<Event>;
  /** The call has this outcome once it resolves. */
  record(callId: CallId, outcome: NewEvent): Promise<void>;
  /** What must get into the log while this process lives; when it dies, recovery takes over. */
  keepTrying(callId: CallId, attempt: () => Promise<void>): Promise<void>;
  /** Sees to it that a call answered as failed is not charged. */
  withdraw(
    callId: CallId,
    reserved: CallReserved,
    settled: NewEvent<CallSettled>,
    withdrawal: Withdrawal,
  ): Promise<void>;
}

/** What was reserved, and for what. */
interface Reserved extends Pick<Reservation, 'underWay' | 'outputLimit' | 'bound'> {
  readonly callId: CallId;
  readonly event: CallReserved;
}

class ReservedCall implements Reservation {
  held: Quota;
  readonly underWay: InFlightCall;
  readonly outputLimit: number | null;
  readonly bound: UsageBound;
  private readonly callId: CallId;
  private readonly reserved: CallReserved;
  private concluding = false;

  constructor(
    private readonly outcomes: Outcomes,
    { callId, event, underWay, outputLimit, bound }: Reserved,
  ) {
    this.callId = callId;
    this.reserved = event;
    this.held = event.reserved;
    this.underWay = underWay;
    this.outputLimit = outputLimit;
    this.bound = bound;
  }

  async extend(wanted: Quota): Promise<boolean> {
    if (!this.outcomes.gate.extend(this.callId, wanted)) return false;
    this.held = wanted;
    return true;
  }

  async settle(settlement: Settlement): Promise<Quota> {
    const { gate, record, keepTrying } = this.outcomes;
    const { callId } = this;
    const settled = this.settledBy(settlement);
    try {
      await record(callId, settled);
    } catch (error) {
      void keepTrying(callId, () => record(callId, settled));
      throw error;
    }
    gate.settled(callId, settled.event.charged);
    return settled.event.charged;
  }

  async settleOrWithdraw(settlement: Settlement, withdrawal: Withdrawal): Promise<Quota | null> {
    const { gate, record, withdraw, warn } = this.outcomes;
    const { callId, reserved } = this;
    const settled = this.settledBy(settlement);
    try {
      await record(callId, settled);
    } catch (error) {
      warn('a call could not be settled and is withdrawn', { callId, error: String(error) });
      void withdraw(callId, reserved, settled, withdrawal);
      return null;
    }
    gate.settled(callId, settled.event.charged);
    return settled.event.charged;
  }

  async release(release: Release): Promise<void> {
    const { gate, newEvent, record, keepTrying, warn } = this.outcomes;
    const { callId } = this;
    const released = newEvent(conclude(this.reserved, release));
    this.concluding = true;
    try {
      await record(callId, released);
      gate.settled(callId, zero);
    } catch (error) {
      warn('a call could not be released yet', { callId, error: String(error) });
      void keepTrying(callId, () => record(callId, released));
    }
  }

  leave(): void {
    if (!this.concluding) this.outcomes.underWay.lose(this.callId);
  }

  private settledBy(settlement: Settlement): NewEvent<CallSettled> {
    const { gate, newEvent } = this.outcomes;
    const cost = chargeOf(settlement.usage, this.reserved.price);
    // Where the gate knows nothing of the call it has its outcome already, and this one will not be written.
    const payable = gate.charge(this.callId, cost) ?? this.held;
    this.concluding = true;
    return newEvent(conclude(this.reserved, { kind: 'settled', settlement, cost, payable }));
  }
}

export function openMeter({ store, gate, clock, underWay, newEventId, warn }: MeterPorts): Meter {
  let unwritten = 0;

  const newEvent = <Event extends CallEvent>(event: Event): NewEvent<Event> => {
    const at = clock.now();
    return { id: newEventId(at), at, event };
  };

  /** False when the call has had another outcome before. */
  const write = async (callId: CallId, outcome: NewEvent, expected: number): Promise<boolean> =>
    (await store.appendAhead(streams.call(callId), outcome, expected)).ok;

  const record = async (callId: CallId, outcome: NewEvent): Promise<void> => {
    if (!(await write(callId, outcome, 0)))
      warn('a call had its outcome already', { callId, type: outcome.event.type });
    underWay.end(callId);
  };

  const keepTrying = async (callId: CallId, attempt: () => Promise<void>): Promise<void> => {
    unwritten++;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs).unref());
      try {
        await attempt();
        unwritten--;
        return;
      } catch (error) {
        warn('a call outcome could not be written; trying again', { callId, error: String(error) });
      }
    }
  };

  /**
   * Sees to it that a call answered as failed is not charged. The release takes the place the settlement was meant for;
   * a settlement that was there before it, or is still on its way there, finds out which of them came first.
   */
  const withdraw: Outcomes['withdraw'] = async (callId, reserved, settled, withdrawal) => {
    const { status, code } = withdrawal;
    const released = newEvent(conclude(reserved, { kind: 'withheld', settled: settled.event, status, code }));
    const refunded = newEvent(refundOf(settled, withdrawal));
    await keepTrying(callId, async () => {
      if (await write(callId, released, 0)) gate.settled(callId, zero);
      else {
        const [, outcome] = await store.readStream(streams.call(callId));
        if (outcome?.id === settled.id) await write(callId, refunded, 1);
        else warn('a call had its outcome already', { callId, type: outcome?.event.type });
      }
      underWay.end(callId);
    });
  };

  const outcomes: Outcomes = { gate, underWay, newEvent, record, keepTrying, withdraw, warn };

  return {
    pending: () => unwritten,

    async reserve(callId, facts, terms, estimate) {
      const { userId, apiKeyId } = facts;
      const { price, promptTokens, most, least, minOfKey } = estimate;
      const admission = await gate.admit({ callId, userId, apiKeyId, terms, most, least, minOfKey });
      if (!admission.admitted) return { ok: false, shortage: admission };
      const quota = admission.granted;
      const outputLimit = affordableLimit(estimate, quota);
      const maxOutputTokens =
        outputLimit === null ? estimate.bound.output : (outputLimit + estimate.beside) * estimate.answers;

      const reserved = newEvent({
        type: 'CallReserved',
        facts,
        reserved: quota,
        promptTokens,
        maxOutputTokens,
        price,
      });
      const call = underWay.begin(callId);
      const placed = (position: Position): void => underWay.reserved(callId, position);
      const result = await store
        .appendAhead(streams.call(callId), reserved, 'no-stream', placed)
        .catch((error: unknown) => {
          if (isUnwritten(error)) {
            gate.drop(callId);
            underWay.end(callId);
          }
          // Nobody knows whether it was written. Nothing went upstream, so it is given back: written first if need be.
          else void giveBack(callId, reserved);
          throw error;
        });
      if (!result.ok) {
        gate.drop(callId);
        underWay.end(callId);
        throw new Failure('lost-race', { callId });
      }

      const bound: UsageBound = {
        prompt: estimate.bound.prompt,
        sound: estimate.bound.sound,
        output: maxOutputTokens,
        speaks: estimate.bound.speaks,
        keeps: estimate.bound.keeps,
        searches: estimate.bound.searches,
      };
      const { event } = reserved;
      return {
        ok: true,
        reservation: new ReservedCall(outcomes, { callId, event, underWay: call, outputLimit, bound }),
      };
    },
  };

  async function giveBack(callId: CallId, reserved: NewEvent<CallReserved>): Promise<void> {
    const told = { status: 503, code: 'store_unavailable' };
    const released = newEvent(conclude(reserved.event, { kind: 'never-sent', reason: 'internal', ...told }));
    await keepTrying(callId, async () => {
      await store.append(streams.call(callId), [reserved], 'no-stream');
      await record(callId, released);
    });
  }
}
