import { expect, test } from 'vitest';
import { encodeEvent } from '../../../src/adapters/event-log/encoded-event.js';
import { orderUndo } from '../../../src/application/audit/repair/order-repair.js';
import { postRepairs } from '../../../src/application/audit/repair/post-repairs.js';
import { digestOf, planRepair, sumsOf } from '../../../src/application/audit/repair/repair-plan.js';
import { handle } from '../../../src/application/handle.js';
import type { LogArchive } from '../../../src/application/ports/archive-ports.js';
import type { QuotaGate } from '../../../src/application/ports/storage-ports.js';
import type { CorrectionPart } from '../../../src/domain/call/call-correction.js';
import {
  beginning,
  type DomainEvent,
  type Position,
  type Recorded,
  streams,
} from '../../../src/domain/events/events.js';
import { currentPayloads } from '../../../src/domain/events/upcast.js';
import { type CallId, type RepairId, UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { chargeOf, type Price } from '../../../src/domain/pricing/pricing.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';
import { otherPricesOf, type RepairEnded, repairDecider, repairIdOf } from '../../../src/domain/repair/repair.js';
import { alice, granted, refunded, reserved, settled, toRecord, usage } from '../../projections/history.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';

/* Repairs on a log that fails, and with others beside them: each call is corrected once, and nothing is lost or doubled. */

const count = 40;
const wrong: Price = {
  per: 'token',
  model: '10',
  ratios: { output: '4', cachedInput: '0.5', cacheWrite: '1' },
  group: '1',
};
const right: ModelPrice = { tokens: { input: { usd: '2' }, output: { usd: '4' } } };
const dearer: ModelPrice = { tokens: { input: { usd: '3' }, output: { usd: '6' } } };
const charge = chargeOf(usage, wrong);
const begin = 10 * count * charge;
const clock = settableClock(Instant(Date.parse('2026-01-03')));

const eventsOf = async (store: MemoryEventStore): Promise<readonly Recorded[]> => store.readAll(beginning, 100_000);

const linesOf = (store: MemoryEventStore) => ({
  after: async (after: Position, limit: number) =>
    (await store.readAll(after, limit)).map(({ position, stream, revision, id, at, event }) => {
      const { version, data } = encodeEvent({ id, at, event }, currentPayloads);
      return `[${position},${JSON.stringify(stream)},${revision},"${event.type}",${version},"${id}",${at},${data}]`;
    }),
});

const chargedIn = (events: readonly Recorded[]): number => {
  const sumOf = ({ event }: { readonly event: DomainEvent }): number => {
    if (event.type === 'CallSettled') return event.charged;
    if (event.type === 'CallRefunded') return -event.settlement.charged;
    return event.type === 'CallCorrected' ? event.to.charged - event.from.charged : 0;
  };
  return events.reduce((sum, recorded) => sum + sumOf(recorded), 0);
};

type Gate = Pick<QuotaGate, 'admit' | 'drop'>;

/** Of one payer, as far as the log goes. */
function gateOn(store: MemoryEventStore, quota: number) {
  const held = new Map<CallId, number>();
  const gate: Gate = {
    async admit({ callId, max }) {
      const spent = chargedIn(await eventsOf(store));
      const left = quota - spent - [...held.values()].reduce((sum, one) => sum + one, 0);
      const taken = Math.min(max, left);
      if (taken < 1) return { admitted: false, reason: 'user-quota' } as never;
      held.set(callId, taken);
      return { admitted: true, granted: Quota(taken) } as never;
    },
    async drop(callId) {
      held.delete(callId);
    },
  };
  return gate;
}

async function wronglyCharged(): Promise<MemoryEventStore> {
  const store = new MemoryEventStore();
  const facts = [granted(alice, begin)];
  for (let n = 0; n < count; n++) {
    const id = `20260102030405000000repa${String(n).padStart(4, '0')}`;
    facts.push(reserved(id, charge), settled(id, charge, charge, { price: wrong }));
  }
  for (const fact of facts) await store.append(fact.stream, [toRecord(fact)], 'any');
  return store;
}

const scope = {
  ...{ from: Instant(0), to: Instant(Date.parse('2100-01-01')), model: null, userId: null, group: null },
  ...{ channelId: null, apiKeyId: null },
};

async function order(store: MemoryEventStore, model: ModelPrice = right): Promise<RepairId> {
  const origin = { kind: 'file', name: 'right.json' } as const;
  const prices = { origin, records: { 'gpt-4o': [model] }, groupRatio: {}, quotaPerUnit: '500000' };
  const upTo = await store.head();
  const asked = { scope, isCharging: true, after: beginning, upTo };
  const { corrections } = await planRepair({ lines: linesOf(store), store }, asked, otherPricesOf(prices));
  const kept = { scope, right: prices, isCharging: true };
  const digest = digestOf(kept, corrections);
  const event = {
    type: 'RepairOrdered',
    by: UserId(1),
    ...kept,
    after: Number(beginning),
    upTo: Number(upTo),
  } as const;
  const id = repairIdOf(digest);
  await handle(store, clock)(repairDecider, streams.repair(id), {
    ...{ type: 'Order', event: { ...event, digest, planned: sumsOf(corrections) } },
  });
  return id;
}

const undoOf = (store: MemoryEventStore, id: RepairId) =>
  orderUndo({ store, handle: handle(store, clock), archives: { all: async () => [] } }, UserId(1), id);

/** A process of its own: it knows nothing of what others have read. */
const run = (
  store: MemoryEventStore,
  id: RepairId,
  { gate = gateOn(store, begin), archives = [] }: { gate?: Gate; archives?: readonly LogArchive[] } = {},
): Promise<void> =>
  postRepairs({
    ...{ store, lines: linesOf(store), handle: handle(store, clock), gate, isStopping: () => false },
    archives: { all: async () => archives },
    tail: { reached: async () => true },
    directory: { user: async () => ({ status: 'enabled' }) as never },
  }).react(streams.repair(id));

const correctionsOf = (events: readonly Recorded[], repair: RepairId, part: CorrectionPart = 'post') =>
  events.flatMap(({ stream, event }) =>
    event.type === 'CallCorrected' && event.repair === repair && event.part === part ? [stream] : [],
  );
const endOf = (events: readonly Recorded[], id: RepairId): RepairEnded =>
  events.find(({ stream, event }) => stream === streams.repair(id) && event.type === 'RepairEnded')
    ?.event as RepairEnded;

/** Lets so many appends through, and none after them; `isWritten`: what is written gets no answer. */
function diesAfter(store: MemoryEventStore, appends: number, isWritten: boolean): () => void {
  const { append } = store;
  let left = appends;
  store.append = async (...asked) => {
    if (left === 0 && !isWritten) throw new Error('killed');
    const result = await append.apply(store, asked);
    if (left === 0) throw new Error('killed');
    left -= 1;
    return result;
  };
  return () => {
    store.append = append;
  };
}

test.each([0, 1, 15, 16, 17, count - 1, count])(
  'a run that ends after %i corrections is completed by the next one, and so is its undo',
  async (appends) => {
    for (const isWritten of [false, true]) await completed(appends, isWritten);
  },
);

/** `isWritten`: the last thing that is written gets no answer. */
async function completed(appends: number, isWritten: boolean): Promise<void> {
  const store = await wronglyCharged();
  const before = chargedIn(await eventsOf(store));
  const id = await order(store);
  let live = diesAfter(store, appends, isWritten);
  await expect(run(store, id)).rejects.toThrow('killed');
  live();
  await run(store, id);
  const posted = await eventsOf(store);
  expect(new Set(correctionsOf(posted, id)).size).toBe(count);
  expect(correctionsOf(posted, id)).toHaveLength(count);
  expect(endOf(posted, id)).toMatchObject({ posted: { calls: count, taken: '0' }, changed: 0, isAbandoned: false });
  expect(before - chargedIn(posted)).toBe(Number(endOf(posted, id).posted.given));

  await undoOf(store, id);
  live = diesAfter(store, appends, isWritten);
  await expect(run(store, id)).rejects.toThrow('killed');
  live();
  await run(store, id);
  await run(store, id);
  const undone = await eventsOf(store);
  expect(new Set(correctionsOf(undone, id, 'undo')).size).toBe(count);
  expect(correctionsOf(undone, id, 'undo')).toHaveLength(count);
  expect(chargedIn(undone)).toBe(before);
  expect(undone.at(-1)?.event).toMatchObject({ type: 'RepairUndoEnded', posted: { calls: count }, changed: 0 });
}

test('two processes that post the same repair at once correct each call once, and so do two that undo it', async () => {
  const store = await wronglyCharged();
  const before = chargedIn(await eventsOf(store));
  const id = await order(store);
  const gate = gateOn(store, begin);
  await Promise.all([run(store, id, { gate }), run(store, id, { gate })]);
  expect(correctionsOf(await eventsOf(store), id)).toHaveLength(count);
  await undoOf(store, id);
  await Promise.all([run(store, id, { gate }), run(store, id, { gate })]);
  const events = await eventsOf(store);
  expect(correctionsOf(events, id, 'undo')).toHaveLength(count);
  expect(chargedIn(events)).toBe(before);
});

test('of two repairs of the same calls one corrects each of them, and the next begins where that one has left them', async () => {
  const store = await wronglyCharged();
  const [first, second] = [await order(store), await order(store, dearer)];
  await Promise.all([run(store, first), run(store, second)]);
  const events = await eventsOf(store);
  const [one, other] = [correctionsOf(events, first), correctionsOf(events, second)];
  expect(new Set([...one, ...other]).size).toBe(count);
  expect(one.length + other.length).toBe(count);
  expect(endOf(events, first).changed + endOf(events, second).changed).toBe(count);

  const third = await order(store, dearer);
  await run(store, third);
  const after = await eventsOf(store);
  expect(correctionsOf(after, third)).toHaveLength(one.length);
  expect(chargedIn(after)).toBe(count * chargeOf(usage, { ...wrong, model: '1.5', ratios: { output: '2' } }));
  await undoOf(store, first);
  await run(store, first);
  expect(correctionsOf(await eventsOf(store), first, 'undo')).toEqual([]);
});

test('a call that is refunded while its repair is being posted stays refunded, and is counted as left', async () => {
  const store = await wronglyCharged();
  const id = await order(store);
  const victim = (await eventsOf(store)).find(({ event }) => event.type === 'CallSettled');
  const refund = toRecord(refunded('x', charge));
  if (victim === undefined) throw new Error('no call');
  const { append } = store;
  // Between what the run has read and what it writes.
  store.append = async (...asked) => {
    if (asked[0] === victim.stream) await append.call(store, victim.stream, [refund], victim.revision);
    return append.apply(store, asked);
  };
  await run(store, id);
  const events = await eventsOf(store);
  expect(correctionsOf(events, id)).toHaveLength(count - 1);
  expect(correctionsOf(events, id)).not.toContain(victim.stream);
  expect(endOf(events, id)).toMatchObject({ posted: { calls: count - 1 }, changed: 1 });
});

test('a repair of calls that have begun to leave for an archive ends without one, and its undo is refused or ends so too', async () => {
  const store = await wronglyCharged();
  const id = await order(store);
  const archive = {
    period: '2026-01',
    until: Instant(Date.parse('2026-02-01')),
    last: await store.head(),
  } as LogArchive;
  await run(store, id, { archives: [archive] });
  const ended = endOf(await eventsOf(store), id);
  expect(ended).toMatchObject({ posted: { calls: 0 }, changed: count, isAbandoned: true });
  expect(correctionsOf(await eventsOf(store), id)).toEqual([]);

  const another = await order(store, dearer);
  await run(store, another);
  const later = { ...archive, file: '/archives/2026-01.ndjson.gz', last: await store.head() };
  const ports = { store, handle: handle(store, clock) };
  const undoing = orderUndo({ ...ports, archives: { all: async () => [later] } }, 'cli', another);
  await expect(undoing).rejects.toMatchObject({ code: 'log-archived', details: { file: '2026-01.ndjson.gz' } });
  await orderUndo({ ...ports, archives: { all: async () => [archive] } }, 'cli', another);
  await run(store, another, { archives: [later] });
  const events = await eventsOf(store);
  expect(correctionsOf(events, another, 'undo')).toEqual([]);
  expect(events.at(-1)?.event).toMatchObject({ type: 'RepairUndoEnded', posted: { calls: 0 }, changed: count });
});
