import { beforeEach, describe, expect, test } from 'vitest';
import { newEventId } from '../../../src/application/event-id.js';
import { openQuotaGate } from '../../../src/application/memory/quota-gate.js';
import type { AppendResult, ExpectedRevision } from '../../../src/application/ports/storage-ports.js';
import {
  beginning,
  type NewEvent,
  type Recorded,
  type StreamName,
  streams,
} from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { CallId, ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Reservation } from '../../../src/relay/metering/metered.js';
import { factsOf } from '../../support/given/calls.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { estimateOf, settlementOf } from '../../support/given/metering.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';
import { type Metering, meteringKinds } from '../../support/meterings.js';
import { until } from '../../support/until.js';

/** A log that can be struck dumb: what is appended then is written or not, and nobody learns which. */
class StallingStore extends MemoryEventStore {
  stalled: 'no' | 'written' | 'lost' = 'no';

  override async append(
    stream: StreamName,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    if (this.stalled === 'no') return super.append(stream, events, expected);
    if (this.stalled === 'written') await super.append(stream, events, expected);
    throw new Failure('store-unavailable');
  }
}

const callId = CallId('c1');
const now = settableClock(someInstant);
const unlimited = { unlimited: true, budget: null };
const settlement = settlementOf(30);
const withdrawal = { status: 503, code: 'store_unavailable' };

const estimate = estimateOf(100);

describe.each(meteringKinds)('a metered call %s', (_kind, openMetering) => {
  let store: StallingStore;
  let metering: Metering;
  let reservation: Reservation;

  beforeEach(async () => {
    store = new StallingStore();
    const account = async () => ({ balance: 1_000n, spending: [], reservations: [], position: beginning });
    const source = { user: account, apiKey: account, caughtUp: async () => true, between: async () => [] };
    const gate = openQuotaGate(source, { capacity: 10, after: beginning, clock: now });
    metering = openMetering({ store, gate, clock: now, newEventId, warn: () => {} });
    const reserving = await metering.meter.reserve(callId, factsOf({ userId: 7 }), unlimited, estimate);
    if (!reserving.ok) throw new Error('the reservation was refused');
    reservation = reserving.reservation;
  });

  /** The call's events once nothing is on its way any more. */
  const story = async (): Promise<readonly Recorded[]> => {
    store.stalled = 'no';
    await until(async () => (metering.pending() === 0 ? true : null));
    return store.readStream(streams.call(callId));
  };
  const types = (recorded: readonly Recorded[]) => recorded.map(({ event }) => event.type);

  describe('with an undelivered answer, while the log does not answer,', () => {
    test('is released when its settlement was not written: nothing charged, the work booked to suspense', async () => {
      store.stalled = 'lost';
      expect(await reservation.settleOrWithdraw(settlement, withdrawal)).toBeNull();
      const events = await story();
      expect(types(events)).toEqual(['CallReserved', 'CallReleased']);
      expect(events[1]?.event).toMatchObject({ reason: 'not-booked', ...withdrawal, suspense: 30, reserved: 100 });
    });

    test('is refunded when its settlement proves to be written, once, with a reference to it', async () => {
      store.stalled = 'written';
      expect(await reservation.settleOrWithdraw(settlement, withdrawal)).toBeNull();
      const events = await story();
      expect(types(events)).toEqual(['CallReserved', 'CallSettled', 'CallRefunded']);
      const { usage, channelId, attempts, useTimeMs } = settlement;
      const takenBack = { eventId: events[1]?.id, at: now.now(), charged: 30, usage, channelId, attempts, useTimeMs };
      expect(events[2]?.event).toMatchObject({ settlement: takenBack, ...withdrawal, suspense: 30 });
    });

    test('is not charged when its settlement is written last', async () => {
      store.stalled = 'lost';
      await reservation.settleOrWithdraw(settlement, withdrawal);
      const released = await story();
      const late = { type: 'CallSettled', ...(released[1]?.event as object) } as never;
      const written = await store.append(
        streams.call(callId),
        [{ id: newEventId(now.now()), at: now.now(), event: late }],
        0,
      );
      expect(written).toEqual({ ok: false, conflict: { actual: 1 } });
    });
  });

  test.each(['lost', 'written'] as const)(
    'with a delivered answer is charged once, though the log does not confirm whether its settlement is %s',
    async (stalled) => {
      store.stalled = stalled;
      await expect(reservation.settle(settlement)).rejects.toThrow(Failure);
      expect(types(await story())).toEqual(['CallReserved', 'CallSettled']);
    },
  );

  test('has the possible upstream charge for failed attempts in the settlement of the successful one', async () => {
    expect(await reservation.settle({ ...settlement, unknownAttempts: 2 })).toBe(30);
    expect((await story())[1]?.event).toMatchObject({ type: 'CallSettled', charged: 30, suspense: 200 });
  });

  test('with a pending release does not delay the caller’s answer while the log is silent', async () => {
    store.stalled = 'lost';
    const [kind, attempts] = ['upstream-failed' as const, [ChannelId(3)]];
    await reservation.release({ kind, status: 502, code: null, attempts, useTimeMs: 5, unknownAttempts: 1 });
    const events = await story();
    expect(types(events)).toEqual(['CallReserved', 'CallReleased']);
    expect(events[1]?.event).toMatchObject({ facts: { userId: UserId(7) }, suspense: 100 });
  });

  describe('that is more expensive than its reservation', () => {
    test('takes the rest of the user’s balance, and the rest of its cost is not a debt', async () => {
      await reservation.settle({ ...settlement, usage: { input: 1_500 } });
      const [, settled] = await story();
      expect(settled?.event).toMatchObject({ charged: 1_000, uncovered: 500, reserved: 100 });
    });

    test('is charged in full where the user has as much', async () => {
      await reservation.settle({ ...settlement, usage: { input: 900 } });
      const [, settled] = await story();
      expect(settled?.event).toMatchObject({ charged: 900, uncovered: 0, reserved: 100 });
    });
  });

  describe('is counted as in flight', () => {
    test('from before its reservation is written until its outcome is durable', async () => {
      expect(metering.isInFlight(callId)).toBe(true);
      store.stalled = 'lost';
      await reservation.settle(settlement).catch(() => {});
      reservation.leave();
      expect(metering.isInFlight(callId)).toBe(true);
      await story();
      expect(metering.isInFlight(callId)).toBe(false);
    });

    test('until it is abandoned, if then no outcome is pending', async () => {
      reservation.leave();
      await until(async () => (metering.isInFlight(callId) ? null : true));
    });
  });

  test('has its reservation extended as far as its user can pay for it', async () => {
    expect(await reservation.extend(Quota(1_001))).toBe(false);
    expect(reservation.reserved).toBe(100);
    expect(await reservation.extend(Quota(1_000))).toBe(true);
    expect(reservation.reserved).toBe(1_000);
  });

  test('is refused if nothing can be reserved', async () => {
    const poor = { ...estimate, min: Quota(901), minOfKey: Quota(901), max: Quota(901) };
    const refused = await metering.meter.reserve(CallId('c2'), factsOf({ userId: 7 }), unlimited, poor);
    expect(refused).toMatchObject({ ok: false, shortage: { short: 'user', available: 900 } });
    expect(metering.isInFlight(CallId('c2'))).toBe(false);
  });
});
