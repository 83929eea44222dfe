import { createHash } from 'node:crypto';
import { setImmediate as breath } from 'node:timers/promises';
import type { CallFacts, CallSettled } from '../../../domain/call/call.js';
import {
  type ChargeShares,
  type CorrectedSettlement,
  costOfShares,
  wantedCharge,
} from '../../../domain/call/call-correction.js';
import { Position, type StreamName, streamKey } from '../../../domain/events/events.js';
import { currentPayloads } from '../../../domain/events/upcast.js';
import { invalidField } from '../../../domain/kernel/failure.js';
import { CallId } from '../../../domain/kernel/ids.js';
import { Instant } from '../../../domain/kernel/instant.js';
import { minus, type Quota } from '../../../domain/kernel/quota.js';
import type { OtherPrices } from '../../../domain/pricing/other-price.js';
import { chargeOf, type Price } from '../../../domain/pricing/pricing.js';
import type { RepairScope, RepairSums } from '../../../domain/repair/repair.js';
import type { EventLines } from '../../ports/seal-ports.js';
import type { EventStore } from '../../ports/storage-ports.js';
import { positionOf } from '../../seals/seal.js';
import { type EventLine, isOfCharge, Repricing } from '../repricing.js';

/*
 * Which calls were charged by another price than the right one, as of a position of the log: what a repair shows before it
 * is posted, and what it posts. The same of the same log, whatever has come since.
 */

/** One call that is to be corrected. */
export interface PlannedCorrection extends Pick<CallFacts, 'userId' | 'apiKeyId' | 'model' | 'group'> {
  readonly callId: CallId;
  readonly settlement: CorrectedSettlement;
  /** Of the newest event of its stream. */
  readonly revision: number;
  readonly from: ChargeShares;
  /** The right one. */
  readonly price: Price;
  readonly cost: Quota;
  /** What its payers are to be charged. */
  readonly wanted: Quota;
}

export interface RepairPlan {
  /** In the order of their settlements. */
  readonly corrections: readonly PlannedCorrection[];
  /** Calls that were looked at, and not refunded. */
  readonly seen: number;
  /** That would be charged more, and are left as they are. */
  readonly left: { readonly calls: number; readonly amount: bigint };
  /** For which there is no right price; left as they are. */
  readonly unpriced: number;
}

interface PlanAsked {
  readonly scope: RepairScope;
  readonly isCharging: boolean;
  /** Behind which its calls were settled. */
  readonly after: Position;
  /** What comes later is not known to it. */
  readonly upTo: Position;
}

interface PlanPorts {
  readonly lines: EventLines;
  readonly store: Pick<EventStore, 'readStream'>;
  /** Told now and then: the position that it has come to. */
  readonly reading?: ((position: number) => void) | undefined;
}

const pageSize = 1_000;
/** Calls that one repair corrects. */
const maxCorrected = 100_000;

class Planning {
  readonly corrections = new Map<CallId, PlannedCorrection>();
  private readonly others = new Map<CallId, { readonly what: 'left' | 'unpriced'; readonly amount: bigint }>();
  private readonly repricing: Repricing;
  seen = 0;

  constructor(
    prices: OtherPrices,
    private readonly isCharging: boolean,
  ) {
    this.repricing = new Repricing(prices);
  }

  /** `call`: with the price and the charge that hold since `revision`. */
  take(callId: CallId, call: CallSettled, settlement: CorrectedSettlement, revision: number): void {
    const { charged, uncovered } = call;
    const from = { charged, uncovered };
    const { price, isSame } = this.repricing.priceOf(call, settlement.at);
    this.corrections.delete(callId);
    this.others.delete(callId);
    if (price === null) {
      this.note(callId, 'unpriced', 0n);
      return;
    }
    const cost = isSame ? costOfShares(from) : chargeOf(call.usage, price);
    if (cost === costOfShares(from)) return;
    const wanted = wantedCharge(cost, from);
    if (wanted > charged && !this.isCharging) {
      this.note(callId, 'left', BigInt(wanted - charged));
      return;
    }
    this.checkRoom();
    const { userId, apiKeyId, model, group } = call.facts;
    const who = { callId, userId, apiKeyId, model, group };
    this.corrections.set(callId, { ...who, settlement, revision, from, price, cost, wanted });
  }

  forget(callId: CallId): void {
    this.corrections.delete(callId);
    this.others.delete(callId);
    this.seen -= 1;
  }

  plan(): RepairPlan {
    const left = [...this.others.values()].filter(({ what }) => what === 'left');
    return {
      corrections: [...this.corrections.values()].sort(
        (one, other) => one.settlement.position - other.settlement.position,
      ),
      seen: this.seen,
      left: { calls: left.length, amount: left.reduce((sum, { amount }) => sum + amount, 0n) },
      unpriced: this.others.size - left.length,
    };
  }

  private note(callId: CallId, what: 'left' | 'unpriced', amount: bigint): void {
    this.checkRoom();
    this.others.set(callId, { what, amount });
  }

  private checkRoom(): void {
    if (this.corrections.size + this.others.size >= maxCorrected)
      throw invalidField('to', `a time in which at most ${maxCorrected} calls have another price`);
  }
}

const isInScope = ({ model, userId, group, apiKeyId, ...scope }: RepairScope, call: ScopedCall): boolean =>
  call.at >= scope.from &&
  call.at < scope.to &&
  (model === null || call.facts.model === model) &&
  (userId === null || call.facts.userId === userId) &&
  (group === null || call.facts.group === group) &&
  (apiKeyId === null || call.facts.apiKeyId === apiKeyId) &&
  (scope.channelId === null || call.channelId === scope.channelId);

interface ScopedCall extends Pick<CorrectedSettlement, 'at' | 'channelId'> {
  readonly facts: CallFacts;
}

interface StandingCall {
  readonly call: CallSettled;
  readonly settlement: CorrectedSettlement;
  readonly revision: number;
}

/** As a call stands at a position, by its stream; null: it was not settled then, or was refunded. */
async function standingAt(store: PlanPorts['store'], stream: StreamName, upTo: Position): Promise<StandingCall | null> {
  let found = null as StandingCall | null;
  for (const { event, id, at, position, revision } of await store.readStream(stream)) {
    if (position > upTo) break;
    if (event.type === 'CallSettled') {
      const settlement = { eventId: id, position: Number(position), at, channelId: event.channelId };
      found = { call: event, settlement, revision };
    } else if (event.type === 'CallCorrected' && found !== null)
      found = { ...found, call: { ...found.call, price: event.price, ...event.to }, revision };
    else if (event.type === 'CallRefunded') return null;
  }
  return found;
}

/** Throws `invalid-field` for more calls than one repair may correct. */
export async function planRepair(
  { lines, store, reading }: PlanPorts,
  { scope, isCharging, after: begin, upTo }: PlanAsked,
  prices: OtherPrices,
): Promise<RepairPlan> {
  const planning = new Planning(prices, isCharging);
  const takeLine = async (line: string): Promise<void> => {
    const [position, stream, revision, type, version, id, time, payload] = JSON.parse(line) as EventLine;
    if (position > Number(upTo) || !/^Call(Settled|Refunded|Corrected)$/.test(type)) return;
    const event = currentPayloads.upcast(type, version, payload);
    const callId = CallId(streamKey(stream));
    if (event.type === 'CallSettled') {
      const settlement = { eventId: id, position, at: Instant(time), channelId: event.channelId };
      if (!isInScope(scope, { ...settlement, facts: event.facts })) return;
      planning.seen += 1;
      planning.take(callId, event, settlement, revision);
    } else if (event.type === 'CallRefunded' && isInScope(scope, { ...event.settlement, facts: event.facts }))
      planning.forget(callId);
    else if (event.type === 'CallCorrected' && isInScope(scope, { ...event.settlement, facts: event.facts })) {
      const found = await standingAt(store, stream, Position(position));
      if (found !== null) planning.take(callId, found.call, found.settlement, found.revision);
    }
  };
  for (let after = begin; after < upTo; ) {
    const page = await lines.after(after, pageSize);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const line of page) if (isOfCharge(line)) await takeLine(line);
    after = Position(positionOf(last));
    reading?.(Number(after));
    // Whoever serves calls has the process between two pages.
    await breath();
  }
  return planning.plan();
}

/** What the corrections come to where everybody can pay. */
export function sumsOf(corrections: readonly PlannedCorrection[]): RepairSums {
  let [given, taken] = [0n, 0n];
  for (const { wanted, from } of corrections) {
    const more = BigInt(minus(wanted, from.charged));
    if (more < 0n) given -= more;
    else taken += more;
  }
  return { calls: corrections.length, given: String(given), taken: String(taken) };
}

/** Of everything that a repair posts: what differs in it is another one. */
export function digestOf(order: object, corrections: readonly PlannedCorrection[]): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify(order));
  for (const { callId, revision, from, cost } of corrections)
    hash.update(`\n${JSON.stringify([callId, revision, from.charged, from.uncovered, cost])}`);
  return hash.digest('hex');
}
