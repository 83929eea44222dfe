import type { CallReserved, CallSettled } from '../../domain/call/call.js';
import { conclude, costOf, type Release, type Settlement } from '../../domain/call/call-conclusion.js';
import type { UsageBound } from '../../domain/call/usage-bound.js';
import type { NewEvent } from '../../domain/events/events.js';
import type { CallId } from '../../domain/kernel/ids.js';
import { type Quota, zero } from '../../domain/kernel/quota.js';
import {
  confirmSettled,
  newEvent,
  type Outcomes,
  payableOf,
  recordOutcome,
  retryUntilDone,
  withdraw,
} from './call-outcomes.js';
import type { InFlightCall } from './in-flight-calls.js';
import type { Reservation, Withdrawal } from './metered.js';

/** What was reserved, and for what. */
interface Reserved extends Pick<Reservation, 'inFlightCall' | 'outputLimit' | 'bound'> {
  readonly callId: CallId;
  readonly event: CallReserved;
}

/** A call whose reservation is durable, in the process that holds the gate. */
export class LocalReservation implements Reservation {
  reserved: Quota;
  readonly inFlightCall: InFlightCall;
  readonly outputLimit: number | null;
  readonly bound: UsageBound;
  private readonly callId: CallId;
  private readonly event: CallReserved;
  /** From before anything is waited for: who leaves meanwhile loses no call that has an outcome. */
  private concluding = false;

  constructor(
    private readonly outcomes: Outcomes,
    { callId, event, inFlightCall, outputLimit, bound }: Reserved,
  ) {
    this.callId = callId;
    this.event = event;
    this.reserved = event.reserved;
    this.inFlightCall = inFlightCall;
    this.outputLimit = outputLimit;
    this.bound = bound;
  }

  async extend(wanted: Quota): Promise<boolean> {
    if (!(await this.outcomes.gate.extend(this.callId, wanted))) return false;
    this.reserved = wanted;
    return true;
  }

  async settle(settlement: Settlement): Promise<Quota> {
    const { outcomes, callId } = this;
    const settled = await this.settledBy(settlement);
    try {
      await recordOutcome(outcomes, callId, settled);
    } catch (error) {
      void retryUntilDone(outcomes, callId, () => recordOutcome(outcomes, callId, settled));
      throw error;
    }
    confirmSettled(outcomes, callId, settled.event.charged);
    return settled.event.charged;
  }

  async settleOrWithdraw(settlement: Settlement, withdrawal: Withdrawal): Promise<Quota | null> {
    const { outcomes, callId, event } = this;
    const settled = await this.settledBy(settlement);
    try {
      await recordOutcome(outcomes, callId, settled);
    } catch (error) {
      outcomes.warn('a call could not be settled and is withdrawn', { callId, error: String(error) });
      void withdraw(outcomes, { callId, reserved: event, settled }, withdrawal);
      return null;
    }
    confirmSettled(outcomes, callId, settled.event.charged);
    return settled.event.charged;
  }

  async release(release: Release): Promise<void> {
    const { outcomes, callId } = this;
    const released = newEvent(outcomes, conclude(this.event, release));
    this.concluding = true;
    try {
      await recordOutcome(outcomes, callId, released);
    } catch (error) {
      outcomes.warn('a call could not be released yet', { callId, error: String(error) });
      void retryUntilDone(outcomes, callId, () => recordOutcome(outcomes, callId, released));
      return;
    }
    confirmSettled(outcomes, callId, zero);
  }

  leave(): void {
    if (!this.concluding) this.outcomes.inFlight.lose(this.callId);
  }

  private async settledBy(settlement: Settlement): Promise<NewEvent<CallSettled>> {
    this.concluding = true;
    const { outcomes, callId, event } = this;
    const cost = costOf(event, settlement);
    const payable = await payableOf(outcomes, callId, cost, this.reserved);
    return newEvent(outcomes, conclude(event, { kind: 'settled', settlement, cost, payable }));
  }
}
