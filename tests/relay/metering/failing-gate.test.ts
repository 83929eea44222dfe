import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newEventId } from '../../../src/application/event-id.js';
import { openQuotaGate } from '../../../src/application/memory/quota-gate.js';
import type { QuotaGate } from '../../../src/application/ports/storage-ports.js';
import { beginning, streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { CallId, ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { inFlightCalls } from '../../../src/relay/metering/in-flight-calls.js';
import { type Meter, openMeter, type Reservation } from '../../../src/relay/metering/metered.js';
import { factsOf } from '../../support/given/calls.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { estimateOf, settlementOf } from '../../support/given/metering.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';
import { until } from '../../support/until.js';

/* A quota gate elsewhere, that may fail or answer late: what a call costs is decided all the same, once. */

type Method = 'admit' | 'extend' | 'charge' | 'settled' | 'drop';
/** `lost`: nothing is done. `done`: it is, and nobody is informed. `late`: not before `answer` is called. */
type Fault = 'lost' | 'done' | 'late';

const gone = new Error('the gate cannot be reached');
const clock = settableClock(someInstant);
const callId = CallId('c1');
const user = UserId(7);
const unlimited = { unlimited: true, budget: null };

class FailingGate {
  readonly faults = new Map<Method, Fault>();
  readonly asked: Method[] = [];
  private waiting: (() => void)[] = [];

  constructor(readonly inner: ReturnType<typeof openQuotaGate>) {}

  get gate(): QuotaGate {
    const through =
      <Arguments extends unknown[], Result>(method: Method, ask: (...args: Arguments) => Promise<Result>) =>
      async (...args: Arguments): Promise<Result> => {
        this.asked.push(method);
        const fault = this.faults.get(method);
        if (fault === 'lost') throw gone;
        if (fault === 'late') await new Promise<void>((resolve) => this.waiting.push(resolve));
        const result = await ask(...args);
        if (fault === 'done') throw gone;
        return result;
      };
    const { inner } = this;
    return {
      ...inner,
      admit: through('admit', inner.admit),
      extend: through('extend', inner.extend),
      charge: through('charge', inner.charge),
      settled: through('settled', inner.settled),
      drop: through('drop', inner.drop),
    };
  }

  answer(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

let store: MemoryEventStore;
let failing: FailingGate;
let meter: Meter;
let inFlight: ReturnType<typeof inFlightCalls>;
let warned: string[];
const unhandled = vi.fn();

beforeEach(() => {
  store = new MemoryEventStore();
  const account = async () => ({ balance: 1_000n, spending: [], reservations: [], position: beginning });
  const source = { user: account, apiKey: account, caughtUp: async () => true, between: async () => [] };
  failing = new FailingGate(openQuotaGate(source, { capacity: 10, after: beginning, clock }));
  inFlight = inFlightCalls();
  warned = [];
  meter = openMeter({
    ...{ store, gate: failing.gate, clock, inFlight, newEventId },
    warn: (message) => warned.push(message),
  });
  unhandled.mockReset();
  process.on('unhandledRejection', unhandled);
});
afterEach(async () => {
  // Rejections that nobody handles are reported a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

const reserve = async (): Promise<Reservation> => {
  const reserving = await meter.reserve(callId, factsOf({ userId: user }), unlimited, estimateOf(100));
  if (!reserving.ok) throw new Error('the reservation was refused');
  return reserving.reservation;
};
const story = async () => (await store.readStream(streams.call(callId))).map(({ event }) => event);
const available = () => failing.inner.available(user);

describe('while the quota gate does not report the chargeable amount', () => {
  test.each(['lost', 'done'] as const)('a call within its reservation is settled as usual (%s)', async (fault) => {
    const reservation = await reserve();
    failing.faults.set('charge', fault);
    expect(await reservation.settle(settlementOf(30))).toBe(30);
    expect(await story()).toMatchObject([{ reserved: 100 }, { type: 'CallSettled', charged: 30, uncovered: 0 }]);
    expect(await available()).toBe(970);
  });

  test('a more expensive call is charged its reservation, and the rest is not a debt', async () => {
    const reservation = await reserve();
    await reservation.extend(Quota(150));
    failing.faults.set('charge', 'lost');
    expect(await reservation.settle(settlementOf(400))).toBe(150);
    expect(await story()).toMatchObject([{}, { charged: 150, uncovered: 250 }]);
  });

  test('an undelivered answer is not withheld', async () => {
    const reservation = await reserve();
    failing.faults.set('charge', 'lost');
    const withdrawal = { status: 503, code: 'store_unavailable' };
    expect(await reservation.settleOrWithdraw(settlementOf(30), withdrawal)).toBe(30);
  });

  test('a call whose caller disconnects meanwhile is not lost', async () => {
    const reservation = await reserve();
    failing.faults.set('charge', 'late');
    const settling = reservation.settle(settlementOf(30));
    reservation.leave();
    expect(inFlight.has(callId)).toBe(true);
    failing.answer();
    expect(await settling).toBe(30);
    expect(inFlight.has(callId)).toBe(false);
  });
});

describe('while the quota gate does not accept the outcome of a call', () => {
  test.each(['lost', 'done'] as const)('a settled call is settled, and a released one released (%s)', async (fault) => {
    failing.faults.set('settled', fault);
    const settled = await reserve();
    expect(await settled.settle(settlementOf(30))).toBe(30);
    const other = CallId('c2');
    const reserving = await meter.reserve(other, factsOf({ userId: user }), unlimited, estimateOf(100));
    if (!reserving.ok) throw new Error('the reservation was refused');
    const unanswered = { attempts: [ChannelId(3)], useTimeMs: 5, unknownAttempts: 0 };
    await reserving.reservation.release({ kind: 'upstream-failed', status: 502, code: null, ...unanswered });
    expect(await story()).toHaveLength(2);
    expect(meter.pending()).toBe(0);
    await until(async () => (warned.length === 2 ? true : null));
    // The tail ends what the gate has not let go.
    failing.inner.take(await store.readStream(streams.call(callId)));
    failing.inner.take(await store.readStream(streams.call(other)));
    expect(await available()).toBe(970);
  });

  test('a late answer of the gate is not waited for', async () => {
    const reservation = await reserve();
    failing.faults.set('settled', 'late');
    expect(await reservation.settle(settlementOf(30))).toBe(30);
    failing.answer();
  });
});

describe('while the quota gate does not report the admission of a call', () => {
  test.each(['lost', 'done'] as const)('the call is refused, and nothing stays reserved (%s)', async (fault) => {
    failing.faults.set('admit', fault);
    await expect(reserve()).rejects.toBe(gone);
    expect(await available()).toBe(1_000);
    expect(await story()).toEqual([]);
    expect(inFlight.has(callId)).toBe(false);
  });

  test('the reservation is released as soon as the gate is available again', async () => {
    failing.faults.set('admit', 'done');
    failing.faults.set('drop', 'lost');
    await expect(reserve()).rejects.toBe(gone);
    expect(await available()).toBe(900);
    await until(async () => (meter.pending() === 1 ? true : null));
    failing.faults.delete('drop');
    await until(async () => (meter.pending() === 0 ? true : null));
    expect(await available()).toBe(1_000);
    expect(warned).toContain('a reservation could not be given back; trying again');
  });

  test('a call whose name is in use does not affect the reservation of that one', async () => {
    await reserve();
    await expect(reserve()).rejects.toThrow(Failure);
    expect(failing.asked).not.toContain('drop');
    expect(await available()).toBe(900);
  });
});

test('while the quota gate does not report an extension, only the previous reservation counts', async () => {
  const reservation = await reserve();
  for (const fault of ['lost', 'done'] as const) {
    failing.faults.set('extend', fault);
    await expect(reservation.extend(Quota(300))).rejects.toBe(gone);
    expect(reservation.reserved).toBe(100);
  }
  expect(await reservation.settle(settlementOf(300))).toBe(300);
  expect(await available()).toBe(700);
});

test('a reservation that the log refuses for lack of space is released once the gate is available', async () => {
  failing.faults.set('drop', 'lost');
  store.append = async () => {
    throw new Failure('store-busy');
  };
  await expect(reserve()).rejects.toThrow(Failure);
  await until(async () => (meter.pending() === 1 ? true : null));
  failing.faults.delete('drop');
  await until(async () => (meter.pending() === 0 ? true : null));
  expect(await available()).toBe(1_000);
});
