import type { CallEvent } from '../../../domain/call/call.js';
import {
  type CallCorrected,
  chargeBefore,
  correctionDecider,
  moreToPay,
} from '../../../domain/call/call-correction.js';
import { Position, type Recorded, type StreamName, streamKey, streams } from '../../../domain/events/events.js';
import { currentPayloads } from '../../../domain/events/upcast.js';
import { CallId, RepairId } from '../../../domain/kernel/ids.js';
import { minus } from '../../../domain/kernel/quota.js';
import {
  otherPricesOf,
  type RepairEnded,
  type RepairEvent,
  type RepairOrdered,
  type RepairSums,
  repairDecider,
} from '../../../domain/repair/repair.js';
import type { Handle } from '../../handle.js';
import type { EventLines } from '../../ports/seal-ports.js';
import type { EventStore } from '../../ports/storage-ports.js';
import type { Reaction } from '../../reactions/run-reactions.js';
import { positionOf } from '../../seals/seal.js';
import type { EventLine } from '../repricing.js';
import { type Archives, archiveOf, behind, settledSince } from './kept-calls.js';
import { type PayerPorts, RepairPayers } from './repair-payers.js';
import { digestOf, type PlannedCorrection, planRepair } from './repair-plan.js';

/*
 * Posts what repairs order, call by call. Whatever ends it, it begins anew: the plan is made again of the same log, and a
 * call that has its correction gets no other.
 */

interface PostingPorts extends PayerPorts {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly lines: EventLines;
  readonly archives: Archives;
  readonly handle: Handle;
  /** The gateway ends: what is left is for the next one. */
  readonly isStopping: () => boolean;
}

/** Calls that are corrected at the same time: their appends share commits. */
const atOnce = 16;
const linesPerPage = 1_000;

/** The gateway ended in the midst of a repair. */
export class RepairInterrupted extends Error {}

/** What came of one call; null: it was something else by then than what was previewed. */
type Outcome = Pick<CallCorrected, 'from' | 'to'> | null;

class Sums {
  calls = 0;
  changed = 0;
  private given = 0n;
  private taken = 0n;

  add(outcome: Outcome): void {
    if (outcome === null) {
      this.changed += 1;
      return;
    }
    this.calls += 1;
    const more = BigInt(minus(outcome.to.charged, outcome.from.charged));
    if (more < 0n) this.given -= more;
    else this.taken += more;
  }

  posted(): RepairSums {
    return { calls: this.calls, given: String(this.given), taken: String(this.taken) };
  }
}

export const postRepairs = (ports: PostingPorts): Reaction => ({
  name: 'post-repairs',
  asks: ({ stream, event }) => (event.type === 'RepairOrdered' || event.type === 'RepairUndoOrdered' ? stream : null),
  async react(stream) {
    const events = (await ports.store.readStream(stream)) as readonly Recorded<RepairEvent>[];
    const { state } = events.reduce((before, { event }) => repairDecider.evolve(before, event), repairDecider.initial);
    if (state === 'posting') await post(ports, stream, events);
    if (state === 'undoing') await undo(ports, stream, events);
  },
});

async function each<Item>(
  { isStopping }: PostingPorts,
  items: readonly Item[],
  work: (item: Item) => Promise<Outcome>,
): Promise<Sums> {
  const sums = new Sums();
  for (let next = 0; next < items.length; next += atOnce) {
    if (isStopping()) throw new RepairInterrupted();
    const outcomes = await Promise.all(items.slice(next, next + atOnce).map(work));
    for (const outcome of outcomes) sums.add(outcome);
  }
  return sums;
}

/** What its order names, and nothing that came later, decides what is posted. */
const orderOf = ({ scope, right, isCharging }: Pick<RepairOrdered, 'scope' | 'right' | 'isCharging'>) => ({
  scope,
  right,
  isCharging,
});

async function post(ports: PostingPorts, stream: StreamName, events: readonly Recorded<RepairEvent>[]): Promise<void> {
  const ordered = events[0]?.event as RepairOrdered;
  const { scope, right, isCharging, after, upTo, digest } = ordered;
  if ((await archiveOf(ports.archives, settledSince(scope.from))) !== null) {
    // They have begun to leave just before the order was written.
    await ports.handle(repairDecider, stream, { type: 'End', event: leftAlone(ordered.planned.calls) });
    return;
  }
  const asked = { scope, isCharging, after: Position(after), upTo: Position(upTo) };
  const { corrections } = await planRepair(ports, asked, otherPricesOf(right));
  const isAbandoned = digestOf(orderOf(ordered), corrections) !== digest;
  const repair = RepairId(streamKey(stream));
  const payers = new RepairPayers(ports);
  const sums = isAbandoned
    ? await each(ports, corrections, ({ callId }) => postedBefore(ports, callId, repair))
    : await each(ports, corrections, (planned) => correct(ports, payers, repair, planned));
  const event = { type: 'RepairEnded', posted: sums.posted(), changed: sums.changed, isAbandoned } as const;
  await ports.handle(repairDecider, stream, { type: 'End', event });
}

const leftAlone = (changed: number): RepairEnded => ({
  ...{ type: 'RepairEnded', posted: new Sums().posted(), changed, isAbandoned: true },
});

async function correct(
  ports: PostingPorts,
  payers: RepairPayers,
  repair: RepairId,
  planned: PlannedCorrection,
): Promise<Outcome> {
  const { callId, settlement, from, price, cost, wanted } = planned;
  const { events } = await payers.with(callId, planned, moreToPay(wanted, from), (payable) =>
    ports.handle(correctionDecider, streams.call(callId), {
      ...{ type: 'Correct', repair, settlement, from, price, cost, payable },
    }),
  );
  return correctionIn(events) ?? postedBefore(ports, callId, repair);
}

const correctionIn = (events: readonly { readonly type: string }[]): CallCorrected | null =>
  (events.find(({ type }) => type === 'CallCorrected') as CallCorrected | undefined) ?? null;

/** By a run that did not live to its end. */
async function postedBefore(
  { store }: PostingPorts,
  callId: CallId,
  repair: RepairId,
  part: CallCorrected['part'] = 'post',
): Promise<Outcome> {
  for (const { event } of await store.readStream(streams.call(callId)))
    if (event.type === 'CallCorrected' && event.repair === repair && event.part === part) return event;
  return null;
}

async function undo(ports: PostingPorts, stream: StreamName, events: readonly Recorded<RepairEvent>[]): Promise<void> {
  const [ordered, ended] = events;
  if (ordered === undefined || ended === undefined) return;
  const repair = RepairId(streamKey(stream));
  const payers = new RepairPayers(ports);
  const calls = await correctedCalls(ports, repair, ordered.position, ended.position);
  const hasLeft = (await archiveOf(ports.archives, behind(ordered.position))) !== null;
  const sums = await each(ports, calls, async (callId) => (hasLeft ? null : takeBack(ports, payers, repair, callId)));
  const event = { type: 'RepairUndoEnded', posted: sums.posted(), changed: sums.changed } as const;
  await ports.handle(repairDecider, stream, { type: 'EndUndo', event });
}

async function takeBack(ports: PostingPorts, payers: RepairPayers, repair: RepairId, callId: CallId): Promise<Outcome> {
  const stream = streams.call(callId);
  const recorded = (await ports.store.readStream(stream)) as readonly Recorded<CallEvent>[];
  const call = recorded.reduce(
    (before, { event }) => correctionDecider.evolve(before, event),
    correctionDecider.initial,
  );
  const { facts, standing } = call;
  const wanted = chargeBefore(call, repair);
  if (facts === null || standing === null || wanted === null) return postedBefore(ports, callId, repair, 'undo');
  const { events } = await payers.with(callId, facts, moreToPay(wanted, standing), (payable) =>
    ports.handle(correctionDecider, stream, { type: 'Undo', repair, payable }),
  );
  return correctionIn(events) ?? postedBefore(ports, callId, repair, 'undo');
}

/** Between its order and its end, in the order in which they were corrected. */
async function correctedCalls(
  { lines, isStopping }: PostingPorts,
  repair: RepairId,
  from: Position,
  to: Position,
): Promise<readonly CallId[]> {
  const calls: CallId[] = [];
  for (let after = from; after < to; ) {
    if (isStopping()) throw new RepairInterrupted();
    const page = await lines.after(after, linesPerPage);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const line of page) {
      if (!line.includes(',"CallCorrected",')) continue;
      const [, stream, , type, version, , , payload] = JSON.parse(line) as EventLine;
      if (type !== 'CallCorrected') continue;
      const event = currentPayloads.upcast(type, version, payload);
      if (event.type === 'CallCorrected' && event.repair === repair && event.part === 'post')
        calls.push(CallId(streamKey(stream)));
    }
    after = Position(positionOf(last));
  }
  return calls;
}
