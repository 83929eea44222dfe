import { expect, test } from 'vitest';
import { closePeriod } from '../../../src/application/books/close-period.js';
import { checkedClosing, ledgerAsClosed } from '../../../src/application/books/closing-entries.js';
import { closingChecks } from '../../../src/application/books/verify-closings.js';
import { handle } from '../../../src/application/handle.js';
import type { Seal } from '../../../src/application/ports/seal-ports.js';
import {
  beginning,
  type DomainEvent,
  type Position,
  type Recorded,
  streams,
} from '../../../src/domain/events/events.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { PeriodClosed } from '../../../src/domain/ledger/closing.js';
import { Period } from '../../../src/domain/ledger/period.js';
import { LedgerFacts } from '../../../src/projections/models/ledger/ledger-facts.js';
import {
  added,
  alice,
  aliceKey,
  bob,
  east,
  type Fact,
  granted,
  issued,
  refunded,
  registered,
  released,
  reserved,
  rewarded,
  settled,
  toRecord,
  when,
} from '../../projections/history.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';

const day = (text: string): Instant => Instant(Date.parse(text));

const january: Fact[] = [
  when(day('2026-01-03'), registered(alice, 'alice')),
  when(day('2026-01-03'), granted(alice, 10_000)),
  when(day('2026-01-04'), issued(aliceKey, alice, 5_000)),
  when(day('2026-01-04'), added(east)),
  when(day('2026-01-05'), rewarded(alice, 70, bob)),
  when(day('2026-01-06'), reserved('one', 300)),
  when(day('2026-01-06'), settled('one', 300, 120)),
  // A clock that was wrong ends no period.
  when(day('2031-01-01'), granted(bob, 5)),
  when(day('2026-01-31T23:59:59Z'), reserved('over', 200)),
];
const february: Fact[] = [
  when(day('2026-02-01'), settled('over', 200, 50)),
  when(day('2026-02-03'), refunded('one', 120)),
  when(day('2026-02-03'), reserved('none', 90)),
  when(day('2026-02-03'), released('none', 90)),
];

async function openBooks(facts: readonly Fact[], now = day('2026-03-02')) {
  const store = new MemoryEventStore();
  for (const fact of facts) await store.append(fact.stream, [toRecord(fact)], 'any');
  const clock = settableClock(now);
  const end = await store.head();
  const seal = { number: 4, last: end } as Seal;
  const seals = {
    covering: (position: Position) => Promise.resolve(position <= end ? { ...seal } : null),
    numbered: () => Promise.resolve(null),
  };
  const ports = { store, clock, seals, handle: handle(store, clock) };
  const close = (period: string) => closePeriod(ports, Period(period));
  return { store, ports, close };
}

/** What the log says up to a position. */
async function folded(store: MemoryEventStore, upTo: Position): Promise<LedgerFacts> {
  const facts = new LedgerFacts();
  for (const recorded of await store.readAll(beginning, 1_000)) if (recorded.position <= upTo) facts.take(recorded);
  return facts;
}

const balancesIn = async (store: MemoryEventStore, closed: PeriodClosed): Promise<Record<string, string>> => {
  const balances: [string, string][] = [];
  await checkedClosing(store, closed, (part) =>
    balances.push(...part.balances.map(([a, b]): [string, string] => [a, b])),
  );
  return Object.fromEntries(balances);
};

test('a closing records what every account held at the end of its month, and is made once', async () => {
  const { store, close } = await openBooks([...january, ...february]);
  const closed = await close('2026-01');
  const balances = await balancesIn(store, closed);
  expect(balances).toMatchObject({
    'user:7:available': String(10_000 - 120 - 200),
    'user:7:reserved': '200',
    'user:7:invites': '70',
    'user:8:available': '5',
    'apikey:12': String(5_000 - 120),
    'apikey:12:2026-01-06': '120',
    'channel:3': '120',
    'call:over:user:7': '200',
    revenue: '120',
    grants: String(-10_000 - 70 - 5),
  });
  const { position } = closed;
  expect((await ledgerAsClosed(store, [closed])).figures()).toEqual((await folded(store, position)).figures());
  const events = await store.head();
  expect(await close('2026-01')).toEqual(closed);
  expect(await store.head()).toBe(events);
});

test('the next closing begins at the one before it, and equals a fold of everything', async () => {
  const { store, close } = await openBooks([...january, ...february]);
  const closed = [await close('2026-01'), await close('2026-02')];
  const [, last] = closed as [PeriodClosed, PeriodClosed];
  const balances = await balancesIn(store, last);
  // Of the days only what has become another since.
  expect(Object.keys(balances).filter((account) => /^apikey:\d+:/.test(account))).toEqual([
    'apikey:12:2026-01-02',
    'apikey:12:2026-02-01',
  ]);
  const expected = await folded(store, last.position);
  const found = await ledgerAsClosed(store, closed);
  expect(found.figures()).toEqual(expected.figures());
  expect(new Map(found.state().channels)).toEqual(new Map(expected.state().channels));
});

test.each([
  { _name: 'is not over', period: '2026-03', reason: /an hour after it is over/ },
  { _name: 'is before one that is closed', period: '2025-12', first: '2026-01', reason: /2026-01 is closed already/ },
  { _name: 'has a call without an outcome', period: '2026-01', facts: january, reason: /1 calls of it .* as over/ },
  { _name: 'is not sealed up to its end', period: '2026-02', unsealed: true, reason: /is not sealed yet/ },
  { _name: 'is idle', period: '2026-02-21', first: '2026-02-20', reason: /nothing has happened in it/ },
  { _name: 'came before everything', period: '2025-12', reason: /nothing has happened in it/ },
])('a period that $_name is refused with the reason', async (given) => {
  const { store, ports, close } = await openBooks(given.facts ?? [...january, ...february]);
  if (given.first !== undefined) await close(given.first);
  if (given.unsealed === true) ports.seals.covering = () => Promise.resolve(null);
  const events = await store.head();
  await expect(close(given.period)).rejects.toMatchObject({
    code: 'period-not-ready',
    details: { reason: expect.stringMatching(given.reason) },
  });
  expect(await store.head()).toBe(events);
});

test('a closing that was interrupted is completed, and refuses balances that are not those of the log', async () => {
  const whole = await openBooks([...january, ...february]);
  const closed = await whole.close('2026-01');
  const { event } = (await whole.store.readStream(streams.balances(closed.position)))[0] as Recorded;
  if (event.type !== 'BalancesRecorded') throw new Error('the first part is not there');
  const goingOn = async (balances: typeof event.balances) => {
    const { store, close } = await openBooks([...january, ...february]);
    const part: DomainEvent = { ...event, balances };
    await store.append(
      streams.balances(closed.position),
      [toRecord({ ...registered(bob, 'bob'), event: part })],
      'any',
    );
    return close('2026-01');
  };
  expect(await goingOn(event.balances)).toEqual(closed);
  await expect(goingOn(event.balances.slice(1))).rejects.toThrow('other balances have been recorded');
});

test('a verification finds a closing whose balances are not those of the log', async () => {
  const { store, close } = await openBooks([...january, ...february]);
  const closed = await close('2026-01');
  const facts = await folded(store, closed.position);
  const [check] = await closingChecks(store, beginning);
  expect(check?.position).toBe(closed.position);
  expect(check?.check(facts)).toBeNull();
  const [more] = await closingChecks(store, beginning);
  facts.take((await store.readStream(streams.user(alice)))[1] as never);
  expect(more?.check(facts)).toContain('2026-01 were closed with other balances');
  expect(await closingChecks(store, closed.position)).toEqual([]);
});
