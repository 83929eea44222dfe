import { LRUCache } from 'lru-cache';
import type { CallRefunded, CallSettled } from '../../domain/call/call.js';
import type { CallCorrected } from '../../domain/call/call-correction.js';
import type { Position, StreamName } from '../../domain/events/events.js';
import { add, type Decimal, integer, negative, quotient, ZERO } from '../../domain/kernel/decimal.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { EventStore } from '../ports/storage-ports.js';
import { PurchaseCosts } from './purchase-costs.js';

/* What calls have earned and what they have cost, added up. */

export const marginGroups = ['user', 'model', 'channel', 'day'] as const;
export type MarginGroup = (typeof marginGroups)[number];

export interface MarginRow {
  /** The user, model, channel or day. */
  readonly group: string;
  readonly calls: number;
  /** US dollars that were charged, by what a dollar's quota is now. */
  readonly charged: Decimal;
  /** Of the calls whose cost is known. */
  readonly cost: Decimal;
  /** Calls whose cost nobody knows, and what was charged for them: in no margin. */
  readonly callsWithoutCost: number;
  readonly chargedWithoutCost: Decimal;
  /** Charged less cost, of the calls whose cost is known. */
  readonly margin: Decimal;
}

interface Asked {
  readonly by: MarginGroup;
  /** Behind which event to begin. */
  readonly after: Position;
  readonly from: Instant | null;
  /** Not within it. null: to the end of the log. */
  readonly to: Instant | null;
  readonly quotaPerUnit: Decimal;
  /** null: all of them. */
  readonly channelId: ChannelId | null;
}

const eventsPerPage = 2_000;
const maxGroups = 200_000;
/** Settled calls of which it is remembered whether they had a cost: answers that are withheld follow at once. */
const maxLately = 10_000;
/** Places of a dollar, where quota is turned into it. */
const places = 18;
/** Clocks of nodes that served one after the other may differ. */
const lateMs = 3_600_000;

interface Sum {
  calls: number;
  quota: bigint;
  cost: Decimal;
  callsWithoutCost: number;
  quotaWithoutCost: bigint;
}

/** In the order in which groups came up. Throws `invalid-field` where there are too many. */
export async function marginRows(
  store: Pick<EventStore, 'readAll' | 'streamPages'>,
  { by, after, from, to, quotaPerUnit, channelId }: Asked,
): Promise<MarginRow[]> {
  const costs = new PurchaseCosts(store);
  const sums = new Map<string, Sum>();
  const lately = new LRUCache<StreamName, boolean>({ max: maxLately });
  const sumOf = (group: string): Sum => {
    const known = sums.get(group);
    if (known !== undefined) return known;
    if (sums.size >= maxGroups) throw invalidField('by', `a time with at most ${maxGroups} groups`);
    const sum = { calls: 0, quota: 0n, cost: ZERO, callsWithoutCost: 0, quotaWithoutCost: 0n };
    sums.set(group, sum);
    return sum;
  };
  for (let position = after; ; ) {
    const page = await store.readAll(position, eventsPerPage);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const { event, at, position, stream } of page) {
      if ((from !== null && at < from) || (to !== null && at >= to)) continue;
      if (event.type !== 'CallSettled' && event.type !== 'CallRefunded' && event.type !== 'CallCorrected') continue;
      if (channelId !== null && channelOf(event) !== channelId) continue;
      if (event.type === 'CallSettled') {
        const { cost } = await costs.of({ ...event, model: event.facts.model }, position);
        take(sumOf(groupOf(by, event, at)), event, cost);
        lately.set(stream, cost === null);
      } else {
        const sum = sumOf(groupOf(by, event, at));
        const change = changeBy(event);
        sum.quota += change;
        // What has no cost is in no margin, and so what changes its charge is in none.
        if (lately.get(stream) ?? (await hadNoCost(store, costs, stream))) sum.quotaWithoutCost += change;
      }
    }
    if (to !== null && last.at > to + lateMs) break;
    position = last.position;
  }
  const dollars = (quota: bigint) => quotient(integer(quota), quotaPerUnit, places);
  return [...sums].map(([group, sum]): MarginRow => {
    const [charged, chargedWithoutCost] = [dollars(sum.quota), dollars(sum.quotaWithoutCost)];
    const earned = add(charged, negative(chargedWithoutCost));
    return {
      ...{ group, calls: sum.calls, charged, cost: sum.cost },
      ...{ callsWithoutCost: sum.callsWithoutCost, chargedWithoutCost, margin: add(earned, negative(sum.cost)) },
    };
  });
}

function take(sum: Sum, { charged }: CallSettled, cost: Decimal | null): void {
  sum.calls += 1;
  sum.quota += BigInt(charged);
  if (cost !== null) sum.cost = add(sum.cost, cost);
  else {
    sum.callsWithoutCost += 1;
    sum.quotaWithoutCost += BigInt(charged);
  }
}

async function hadNoCost(
  store: Pick<EventStore, 'streamPages'>,
  costs: PurchaseCosts,
  stream: StreamName,
): Promise<boolean> {
  for await (const page of store.streamPages(stream))
    for (const { event, position } of page)
      if (event.type === 'CallSettled')
        return (await costs.of({ ...event, model: event.facts.model }, position)).cost === null;
  return false;
}

/** Counts when it was made, as of the day of a margin. */
const changeBy = (event: CallRefunded | CallCorrected): bigint =>
  event.type === 'CallCorrected'
    ? BigInt(event.to.charged) - BigInt(event.from.charged)
    : -BigInt(event.settlement.charged);

const channelOf = (event: CallSettled | CallRefunded | CallCorrected): ChannelId =>
  event.type === 'CallSettled' ? event.channelId : event.settlement.channelId;

function groupOf(by: MarginGroup, event: CallSettled | CallRefunded | CallCorrected, at: Instant): string {
  switch (by) {
    case 'user':
      return String(event.facts.userId);
    case 'model':
      return event.facts.model;
    case 'channel':
      return String(channelOf(event));
    case 'day':
      return new Date(at).toISOString().slice(0, 10);
  }
}
