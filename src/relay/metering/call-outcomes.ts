import {
  type CallEvent,
  type CallRefunded,
  type CallReserved,
  type CallSettled,
  callDecider,
  takingBack,
} from '../../domain/call/call.js';
import { conclude, refundOf } from '../../domain/call/call-conclusion.js';
import { type NewEvent, type Recorded, streams } from '../../domain/events/events.js';
import type { CallId } from '../../domain/kernel/ids.js';
import { type Quota, zero } from '../../domain/kernel/quota.js';
import type { MeterPorts, Withdrawal } from './metered.js';

/*
 * How the outcome of a call gets into the log, and the gate to know of it. The log decides; a gate that fails keeps no
 * outcome from being written and turns none into another one.
 */

/** What the outcomes of one meter share. */
export interface Outcomes extends MeterPorts {
  /** How many are still on their way to the log, or to the gate where nothing else would notify it. */
  unwritten: number;
}

const retryDelayMs = 1000;

export function newEvent<Event extends CallEvent>({ clock, newEventId }: Outcomes, event: Event): NewEvent<Event> {
  const at = clock.now();
  return { id: newEventId(at), at, event };
}

/** False when the call has had another outcome before. */
const write = async (
  { store }: Pick<Outcomes, 'store'>,
  callId: CallId,
  outcome: NewEvent,
  expected: number,
): Promise<boolean> => (await store.appendDurable(streams.call(callId), outcome, expected)).ok;

/** The call has this outcome once it resolves, or had one before. */
export async function recordOutcome(outcomes: Outcomes, callId: CallId, outcome: NewEvent): Promise<void> {
  if (!(await write(outcomes, callId, outcome, 0)))
    outcomes.warn('a call had its outcome already', { callId, type: outcome.event.type });
  else if (isKeeping(outcome)) outcomes.kept?.(callId, outcome);
  outcomes.inFlight.end(callId);
}

const isKeeping = (outcome: NewEvent): outcome is NewEvent<CallSettled> =>
  outcome.event.type === 'CallSettled' && outcome.event.kept !== undefined;

/** What must be done while this process lives; when it dies, recovery takes over. Never rejects. */
export async function retryUntilDone(
  outcomes: Outcomes,
  callId: CallId,
  attempt: () => Promise<void>,
  failed = 'a call outcome could not be written; trying again',
): Promise<void> {
  outcomes.unwritten++;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs).unref());
    try {
      await attempt();
      outcomes.unwritten--;
      return;
    } catch (error) {
      outcomes.warn(failed, { callId, error: String(error) });
    }
  }
}

/** The gate may make room for other calls before the tail delivers the event; where it fails, the tail does. */
export function confirmSettled({ gate, warn }: Outcomes, callId: CallId, charged: Quota): void {
  gate.settled(callId, charged).catch((error: unknown) => {
    warn('the quota gate was not notified of an outcome; it learns of it from the log', {
      callId,
      error: String(error),
    });
  });
}

/** Nothing in the log will ever end this reservation, so the gate is notified until it has received it. */
export function dropReservation(outcomes: Outcomes, callId: CallId): void {
  const { gate, warn } = outcomes;
  const failed = 'a reservation could not be given back; trying again';
  gate.drop(callId).catch((error: unknown) => {
    warn(failed, { callId, error: String(error) });
    void retryUntilDone(outcomes, callId, () => gate.drop(callId), failed);
  });
}

/**
 * What a call can be charged of its cost. Where the gate cannot decide it is what is reserved for the call: that is
 * there in any case, and the rest is nobody's debt.
 */
export async function payableOf(
  { gate, warn }: Outcomes,
  callId: CallId,
  cost: Quota,
  reserved: Quota,
): Promise<Quota> {
  try {
    // Where the gate knows nothing of the call it has its outcome already, and this one will not be written.
    return (await gate.charge(callId, cost)) ?? reserved;
  } catch (error) {
    warn('the quota gate could not decide a charge; no more is charged than what is reserved', {
      callId,
      error: String(error),
    });
    return reserved;
  }
}

/** A settlement, and the call it is for. */
interface Doubtful {
  readonly callId: CallId;
  readonly reserved: CallReserved;
  readonly settled: NewEvent<CallSettled>;
}

/**
 * Sees to it that a call answered as failed is not charged. The release takes the place the settlement was meant for; a
 * settlement that was there before it, or is still on its way there, finds out which of them came first.
 */
export async function withdraw(
  outcomes: Outcomes,
  { callId, reserved, settled }: Doubtful,
  withdrawal: Withdrawal,
): Promise<void> {
  const { store, warn } = outcomes;
  const { status, code } = withdrawal;
  const released = newEvent(outcomes, conclude(reserved, { kind: 'withheld', settled: settled.event, status, code }));
  const refunded = newEvent(outcomes, refundOf(settled, withdrawal));
  await retryUntilDone(outcomes, callId, async () => {
    if (await write(outcomes, callId, released, 0)) confirmSettled(outcomes, callId, zero);
    else {
      const events = await store.readStream(streams.call(callId));
      const outcome = events[1];
      if (outcome?.id === settled.id) await takeBack(outcomes, callId, refunded, events);
      else warn('a call had its outcome already', { callId, type: outcome?.event.type });
    }
    outcomes.inFlight.end(callId);
  });
}

/** Somebody may have corrected the charge meanwhile: what goes back is what stands. */
async function takeBack(
  outcomes: Outcomes,
  callId: CallId,
  refunded: NewEvent<CallRefunded>,
  events: readonly Recorded[],
): Promise<void> {
  const call = events.reduce((state, { event }) => callDecider.evolve(state, event as CallEvent), callDecider.initial);
  if (call.status !== 'settled') return;
  const event = takingBack(refunded.event, call);
  if (!(await write(outcomes, callId, { ...refunded, event }, events.length - 1)))
    throw new Error('the charge of a call was corrected while it was taken back');
}

/** A reservation that may or may not be durable, of a call that never went upstream: written first if need be. */
export async function giveBack(outcomes: Outcomes, callId: CallId, reserved: NewEvent<CallReserved>): Promise<void> {
  const returned = { status: 503, code: 'store_unavailable' };
  const conclusion = conclude(reserved.event, { kind: 'never-sent', reason: 'internal', ...returned });
  const released = newEvent(outcomes, conclusion);
  await retryUntilDone(outcomes, callId, async () => {
    await outcomes.store.append(streams.call(callId), [reserved], 'no-stream');
    await recordOutcome(outcomes, callId, released);
  });
}
