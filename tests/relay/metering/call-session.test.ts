import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newEventId } from '../../../src/application/event-id.js';
import { openQuotaGate } from '../../../src/application/memory/quota-gate.js';
import type { AppendResult, ExpectedRevision } from '../../../src/application/ports/storage-ports.js';
import { sessionCallId } from '../../../src/domain/call/call-session.js';
import { beginning, type NewEvent, type StreamName, streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { CallId, UserId } from '../../../src/domain/kernel/ids.js';
import { type CallSession, openCallSession } from '../../../src/relay/metering/call-session.js';
import { factsOf } from '../../support/given/calls.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { estimateOf, settlementOf } from '../../support/given/metering.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';
import { type Metering, meteringKinds } from '../../support/meterings.js';
import { until } from '../../support/until.js';

const id = CallId('20261128s1');
const user = UserId(7);
const clock = settableClock(someInstant);
const unlimited = { unlimited: true, budget: null };

/** A log that does not answer appends of one stream, or of one kind of event; what is lost is not written. */
class StallingStore extends MemoryEventStore {
  lost: (stream: StreamName, type: string) => boolean = () => false;

  override async append(
    stream: StreamName,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    if (events.some(({ event }) => this.lost(stream, event.type))) throw new Failure('store-unavailable');
    return super.append(stream, events, expected);
  }
}

describe.each(meteringKinds)('a call session that is settled in parts %s', (_kind, openMetering) => {
  let store: StallingStore;
  let gate: ReturnType<typeof openQuotaGate>;
  let metering: Metering;
  const unhandled = vi.fn();

  beforeEach(() => {
    store = new StallingStore();
    const account = async () => ({ balance: 1_000n, spending: [], reservations: [], position: beginning });
    const source = { user: account, apiKey: account, caughtUp: async () => true, between: async () => [] };
    gate = openQuotaGate(source, { capacity: 10, after: beginning, clock });
    metering = openMetering({ store, gate, clock, newEventId, warn: () => {} });
    unhandled.mockReset();
    process.on('unhandledRejection', unhandled);
  });
  afterEach(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  const opened = async (estimate = estimateOf(100)): Promise<CallSession> => {
    const opening = await openCallSession(metering.meter, {
      ...{ session: id, facts: factsOf({ userId: user }), terms: unlimited },
      estimate,
    });
    if (!opening.ok) throw new Error('the session was refused');
    return opening.session;
  };
  /** What the log says of each part, in turn. */
  const story = async (): Promise<readonly (readonly string[])[]> => {
    const parts: string[][] = [];
    for (let part = 0; ; part++) {
      const events = await store.readStream(streams.call(sessionCallId(id, part)));
      if (events.length === 0) return parts;
      parts.push(
        events.map(({ event }) => (event.type === 'CallSettled' ? `settled ${event.charged}` : event.type.slice(4))),
      );
    }
  };
  const settled = () => until(async () => (metering.pending() === 0 ? true : null));

  test('of one part is a call that is settled once, under the session’s own name', async () => {
    const session = await opened();
    expect(await session.settle(settlementOf(30))).toBe(30);
    expect(await story()).toEqual([['Reserved', 'settled 30']]);
    expect((await store.readStream(streams.call(id))).length).toBe(2);
    expect(session.isOver).toBe(true);
  });

  test('settles each part once, with a reservation of its own, and the last one concludes it', async () => {
    const session = await opened();
    expect(await session.settlePart(settlementOf(30), estimateOf(200))).toEqual({ ok: true, charged: 30 });
    expect(session.reservation.reserved).toBe(200);
    expect(await gate.available(user)).toBe(770);
    expect(await session.settlePart(settlementOf(150), estimateOf(100))).toEqual({ ok: true, charged: 150 });
    expect(await session.settle(settlementOf(20))).toBe(20);
    expect(await story()).toEqual([
      ['Reserved', 'settled 30'],
      ['Reserved', 'settled 150'],
      ['Reserved', 'settled 20'],
    ]);
    expect(await gate.available(user)).toBe(800);
    for (const part of [0, 1, 2]) expect(metering.isInFlight(sessionCallId(id, part))).toBe(false);
  });

  test('has the next part reserved, durably, before the last one is settled', async () => {
    const session = await opened();
    const order: string[] = [];
    const append = store.append.bind(store);
    store.append = async (stream, events, expected) => {
      const result = await append(stream, events, expected);
      order.push(`${stream} ${events[0]?.event.type}`);
      return result;
    };
    await session.settlePart(settlementOf(30), estimateOf(100));
    expect(order).toEqual([`call-${id}-1 CallReserved`, `call-${id} CallSettled`]);
  });

  test('continues with the rest of the last part where both together cannot be reserved', async () => {
    const session = await opened(estimateOf(900));
    expect(await session.settlePart(settlementOf(30), estimateOf(900))).toEqual({ ok: true, charged: 30 });
    expect(session.reservation.reserved).toBe(900);
  });

  test('ends where there is no quota for another part, and the usage so far is charged', async () => {
    const session = await opened(estimateOf(900));
    const step = await session.settlePart(settlementOf(850), estimateOf(200));
    expect(step).toMatchObject({ ok: false, charged: 850, shortage: { short: 'user', available: 150 } });
    expect(session.isOver).toBe(true);
    expect(await story()).toEqual([['Reserved', 'settled 850']]);
    await expect(session.settlePart(settlementOf(1), estimateOf(1))).rejects.toThrow('is over');
    expect(() => session.settle(settlementOf(1))).toThrow('is over');
    expect(await gate.available(user)).toBe(150);
  });

  test('ends where the log refuses the next reservation, and the usage so far is charged, once', async () => {
    const session = await opened();
    store.lost = (stream) => stream.endsWith('-1');
    await expect(session.settlePart(settlementOf(30), estimateOf(100))).rejects.toThrow(Failure);
    expect(session.isOver).toBe(true);
    store.lost = () => false;
    await settled();
    expect(await story()).toEqual([
      ['Reserved', 'settled 30'],
      ['Reserved', 'Released'],
    ]);
  });

  test('ends where the log refuses a settlement, which follows later, and the next part is released', async () => {
    const session = await opened();
    store.lost = (_stream, type) => type === 'CallSettled';
    await expect(session.settlePart(settlementOf(30), estimateOf(100))).rejects.toThrow(Failure);
    expect(session.isOver).toBe(true);
    store.lost = () => false;
    await settled();
    expect(await story()).toEqual([
      ['Reserved', 'settled 30'],
      ['Reserved', 'Released'],
    ]);
    expect(metering.isInFlight(sessionCallId(id, 1))).toBe(false);
  });

  test('settles one part at a time', async () => {
    const session = await opened();
    const first = session.settlePart(settlementOf(30), estimateOf(100));
    await expect(session.settlePart(settlementOf(40), estimateOf(100))).rejects.toThrow('is settling');
    expect(await first).toEqual({ ok: true, charged: 30 });
  });

  test('that is abandoned in the middle of a step keeps its settlement, and leaves the next part to crash recovery', async () => {
    const session = await opened();
    const step = session.settlePart(settlementOf(30), estimateOf(100));
    session.leave();
    await step;
    expect(session.isOver).toBe(true);
    expect(await story()).toEqual([['Reserved', 'settled 30'], ['Reserved']]);
    await until(async () => (metering.isInFlight(sessionCallId(id, 1)) ? null : true));
  });

  test('without output of a part releases it', async () => {
    const session = await opened();
    await session.settlePart(settlementOf(30), estimateOf(100));
    await session.release({ kind: 'caller-left', attempts: [], useTimeMs: 5, unknownAttempts: 0 });
    expect(await story()).toEqual([
      ['Reserved', 'settled 30'],
      ['Reserved', 'Released'],
    ]);
    expect(await gate.available(user)).toBe(970);
  });

  test('that cannot be afforded is refused', async () => {
    const opening = await openCallSession(metering.meter, {
      ...{ session: id, facts: factsOf({ userId: user }), terms: unlimited },
      estimate: estimateOf(1_001),
    });
    expect(opening).toMatchObject({ ok: false, shortage: { short: 'user', available: 1_000 } });
  });
});
