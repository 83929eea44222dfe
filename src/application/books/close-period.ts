import { beginning, type Position, streams } from '../../domain/events/events.js';
import { CallId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import {
  type BalancesRecorded,
  type BooksState,
  balancesDecider,
  booksDecider,
  checkClosable,
  closedAs,
  notReady,
  type PeriodClosed,
} from '../../domain/ledger/closing.js';
import { type Period, periodBounds } from '../../domain/ledger/period.js';
import type { LedgerFacts } from '../../projections/models/ledger/ledger-facts.js';
import type { Handle } from '../handle.js';
import type { SealStore } from '../ports/seal-ports.js';
import type { Clock, EventStore } from '../ports/storage-ports.js';
import { sealDigest } from '../seals/seal.js';
import {
  balanceParts,
  balancesOf,
  changedDays,
  EntriesDigest,
  ledgerAsClosed,
  recordedParts,
  sumOf,
} from './closing-entries.js';

/*
 * Closes the books of a period: what every account holds at its end is worked out from the closing before it and the events
 * since, and recorded with the seal over them. Nothing that is appended is kept in memory by a node that serves, so a
 * command may do it beside one.
 */

interface ClosePorts {
  readonly store: Pick<EventStore, 'readAll' | 'readStream' | 'streamPages'>;
  readonly handle: Handle;
  readonly seals: Pick<SealStore, 'covering' | 'numbered'>;
  readonly clock: Clock;
}

interface CloseOptions {
  readonly progress?: ((position: number) => void) | undefined;
  /** Ends it between two pages, with nothing closed. */
  readonly signal?: AbortSignal;
}

const pageSize = 2_000;

export async function booksOf(store: Pick<EventStore, 'streamPages'>): Promise<BooksState> {
  let state = booksDecider.initial;
  for await (const page of store.streamPages(streams.books))
    for (const { event } of page)
      if (event.type === 'PeriodClosed' || event.type === 'PeriodArchived') state = booksDecider.evolve(state, event);
  return state;
}

/**
 * Closes a period, or says how it was closed. Whoever does it again goes on from what is recorded. Throws Failure
 * `period-not-ready`, and ClosingDamaged where the closing before it is not what it was.
 */
export async function closePeriod(
  ports: ClosePorts,
  period: Period,
  { progress, signal }: CloseOptions = {},
): Promise<PeriodClosed> {
  const { store, seals, handle, clock } = ports;
  const books = await booksOf(store);
  const before = closedAs(books, period);
  if (before !== null) return before;
  checkClosable(books, period, clock.now());
  const { until } = periodBounds(period);
  const facts = await ledgerAsClosed(store, books.closed);
  const known = new Map(facts.state().spent);
  const from = books.closed.at(-1)?.position ?? beginning;
  const position = await foldUntil({ store, progress, signal }, facts, { from, until, now: clock.now() });
  if (position === from) throw notReady('nothing has happened in it');
  await checkConcluded(store, facts);

  const covering = await seals.covering(position);
  if (covering === null) throw notReady(`the event at position ${position} is not sealed yet`);
  const whole = covering.last === position ? covering : await seals.numbered(covering.number - 1);

  const days = changedDays(facts.state(), known);
  const balances = balancesOf(facts);
  const sum = sumOf(balances);
  if (sum !== 0n) throw notReady(`the sum of all accounts is ${sum}, and not zero: "audit verify" says more`);
  const parts = balanceParts(position, { days, balances });
  await recordParts(ports, position, parts);
  const entries = new EntriesDigest().add(days).add(balances);
  await handle(booksDecider, streams.books, {
    ...{ type: 'ClosePeriod', period, until, position },
    seal: { number: covering.number, digest: sealDigest(covering) },
    sealedTo: whole?.last ?? beginning,
    ...{ parts: parts.length, entries: entries.entries, digest: entries.digest() },
  });
  // Another one may have been first.
  const closed = closedAs(await booksOf(store), period);
  if (closed === null) throw new Error(`${period} was closed, and the log does not say so`);
  return closed;
}

interface Reading {
  readonly store: Pick<EventStore, 'readAll'>;
  readonly progress: CloseOptions['progress'];
  readonly signal: AbortSignal | undefined;
}

interface Span {
  readonly from: Position;
  readonly until: Instant;
  readonly now: Instant;
}

/**
 * Folds the events of the period; the position of the last one. It ends before the first event from the time behind it. What
 * says that it happens in the future was written by a clock that went wrong, and ends nothing.
 */
async function foldUntil(
  { store, progress, signal }: Reading,
  facts: LedgerFacts,
  { from, until, now }: Span,
): Promise<Position> {
  for (let position = from; ; ) {
    signal?.throwIfAborted();
    const page = await store.readAll(position, pageSize);
    if (page.length === 0) return position;
    for (const recorded of page) {
      if (recorded.at >= until && recorded.at <= now) return position;
      facts.take(recorded);
      position = recorded.position;
    }
    progress?.(Number(position));
  }
}

/** Of a period that is closed the outcome of every call is known. */
async function checkConcluded(store: Pick<EventStore, 'readStream'>, facts: LedgerFacts): Promise<void> {
  const open: string[] = [];
  for (const [callId] of facts.state().reserved)
    if ((await store.readStream(streams.call(CallId(callId)))).length < 2) open.push(callId);
  if (open.length > 0)
    throw notReady(`${open.length} calls of it have no outcome yet, as ${open.slice(0, 3).join(', ')}`);
}

/** Throws where other balances have been recorded at the same position. */
async function recordParts(
  { store, handle }: Pick<ClosePorts, 'store' | 'handle'>,
  position: Position,
  parts: readonly BalancesRecorded[],
): Promise<void> {
  let recorded = 0;
  for await (const { balances } of recordedParts(store, position)) {
    if (JSON.stringify(balances) !== JSON.stringify(parts[recorded]?.balances))
      throw new Error(`other balances have been recorded at position ${position} than the log gives now`);
    recorded += 1;
  }
  for (const part of parts.slice(recorded)) await handle(balancesDecider, streams.balances(position), part);
}
