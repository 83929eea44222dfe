import type { Clock, EventStore, QuotaGate } from '../application/ports.js';
import type { CallFacts, CallOutcome, CallReleased, CallSettled, UsageSource } from '../domain/call.js';
import { type NewEvent, streams } from '../domain/events.js';
import { Failure } from '../domain/failure.js';
import type { CallId, ChannelId } from '../domain/ids.js';
import type { Instant } from '../domain/instant.js';
import { chargeOf, type Price, type Usage } from '../domain/pricing.js';
import { Quota } from '../domain/quota.js';

/*
 * The money side of a call: held at the gate and reserved durably before the upstream is asked, then settled or
 * released exactly once. The call's own stream and its expected revision make the outcome exactly-once; a repeat of the
 * same event is a no-op.
 */

export interface MeterPorts {
  readonly store: EventStore;
  readonly gate: QuotaGate;
  readonly clock: Clock;
  readonly newEventId: (at: Instant) => string;
  /** Told about an outcome that could not be written yet and is tried again. */
  readonly warn: (message: string, facts: Record<string, unknown>) => void;
}

export interface Estimate {
  readonly quota: Quota;
  readonly promptTokens: number;
  readonly maxOutputTokens: number | null;
  readonly price: Price;
}

export interface Settlement {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly outcome: CallOutcome;
  readonly delivered: boolean;
  readonly channelId: ChannelId;
  readonly attempts: readonly ChannelId[];
  readonly upstreamModel: string | null;
  readonly useTimeMs: number;
  readonly firstTokenMs: number | null;
  readonly reasoningEffort: string | null;
}

export type Release = Pick<
  CallReleased,
  'reason' | 'status' | 'code' | 'attempts' | 'useTimeMs' | 'upstreamCostUnknown'
>;

export type Reserving =
  | { readonly ok: true; readonly reservation: Reservation }
  | { readonly ok: false; readonly short: 'user' | 'api-key'; readonly available: Quota };

export interface Reservation {
  readonly held: Quota;
  /** Raises the hold to `quota`; false when it cannot be afforded. */
  extend(quota: Quota): boolean;
  /** Resolves with the charge once the settlement is durable. */
  settle(settlement: Settlement): Promise<Quota>;
  release(release: Release): Promise<void>;
}

export interface Meter {
  reserve(callId: CallId, facts: CallFacts, apiKeyUnlimited: boolean, estimate: Estimate): Promise<Reserving>;
  /** Outcomes still on their way to the log. */
  pending(): number;
}

const retryDelayMs = 1000;

export function openMeter({ store, gate, clock, newEventId, warn }: MeterPorts): Meter {
  let unwritten = 0;

  const stamped = (): { id: string; at: Instant } => {
    const at = clock.now();
    return { id: newEventId(at), at };
  };

  const newEvent = <Event extends CallSettled | CallReleased>(event: Event): NewEvent<Event> => ({
    ...stamped(),
    event,
  });

  const write = async (callId: CallId, outcome: NewEvent): Promise<void> => {
    const result = await store.append(streams.call(callId), [outcome], 0);
    // Only one outcome can follow a reservation, so there is another: the call has been concluded for us.
    if (!result.ok) warn('a call had its outcome already', { callId, type: outcome.event.type });
  };

  /** An outcome must not be lost while this process lives; when it dies, recovery at the next start takes over. */
  const keepWriting = async (callId: CallId, outcome: NewEvent): Promise<void> => {
    unwritten++;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs).unref());
      try {
        await write(callId, outcome);
        unwritten--;
        return;
      } catch (error) {
        warn('a call outcome could not be written; trying again', { callId, error: String(error) });
      }
    }
  };

  const conclude = async (callId: CallId, outcome: NewEvent): Promise<void> => {
    try {
      await write(callId, outcome);
    } catch (error) {
      void keepWriting(callId, outcome);
      throw error;
    }
  };

  return {
    pending: () => unwritten,

    async reserve(callId, facts, apiKeyUnlimited, { quota, promptTokens, maxOutputTokens, price }) {
      const { userId, apiKeyId } = facts;
      const admission = await gate.admit({ callId, userId, apiKeyId, apiKeyUnlimited, quota });
      if (!admission.admitted) return { ok: false, short: admission.short, available: admission.available };

      const reserved: NewEvent = {
        ...stamped(),
        event: { type: 'CallReserved', facts, reserved: quota, promptTokens, maxOutputTokens, price },
      };
      const result = await store.append(streams.call(callId), [reserved], 'no-stream').catch((error: unknown) => {
        // Nobody knows whether it was written. Nothing went upstream, so it is given back: written first if need be.
        void giveBack(callId, facts, quota, reserved);
        throw error;
      });
      if (!result.ok) {
        gate.drop(callId);
        throw new Failure('lost-race', { callId });
      }

      let held = quota;
      const reservation: Reservation = {
        get held() {
          return held;
        },
        extend(wanted) {
          if (!gate.extend(callId, wanted)) return false;
          held = wanted;
          return true;
        },
        async settle(settlement) {
          const { delivered, usage, ...rest } = settlement;
          const charged = chargeOf(usage, price, delivered);
          await conclude(
            callId,
            newEvent({ type: 'CallSettled', facts, reserved: quota, charged, usage, price, ...rest }),
          );
          gate.settled(callId, charged);
          return charged;
        },
        async release(release) {
          await conclude(callId, newEvent({ type: 'CallReleased', facts, reserved: quota, ...release }));
          gate.settled(callId, Quota(0));
        },
      };
      return { ok: true, reservation };
    },
  };

  async function giveBack(callId: CallId, facts: CallFacts, quota: Quota, reserved: NewEvent): Promise<void> {
    unwritten++;
    for (;;) {
      try {
        await store.append(streams.call(callId), [reserved], 'no-stream');
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, retryDelayMs).unref());
      }
    }
    unwritten--;
    const released = newEvent({
      type: 'CallReleased',
      facts,
      reserved: quota,
      reason: 'internal',
      status: 503,
      code: 'store_unavailable',
      attempts: [],
      useTimeMs: 0,
      upstreamCostUnknown: false,
    });
    await conclude(callId, released).catch(() => {});
  }
}
