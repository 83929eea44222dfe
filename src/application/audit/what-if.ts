import type { CallSettled } from '../../domain/call/call.js';
import { beginning, Position, type StreamName } from '../../domain/events/events.js';
import { currentPayloads, type StoredPayload } from '../../domain/events/upcast.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import { type OtherPrices, otherPrice } from '../../domain/pricing/other-price.js';
import { chargeOf, type Price } from '../../domain/pricing/pricing.js';
import type { GrowingLines } from '../ports/seal-ports.js';
import type { EventStore } from '../ports/storage-ports.js';
import { positionOf } from '../seals/seal.js';

/* What calls of a period would have cost by other prices, beside what they did cost. */

/** What calls cost, whoever paid for it: charged and uncovered together. */
interface WhatIfSum {
  calls: number;
  actual: bigint;
  hypothetical: bigint;
}

export interface WhatIfRow extends WhatIfSum {
  readonly userId: UserId;
  /** null: of all. */
  readonly model: string | null;
}

export interface WhatIf extends WhatIfSum {
  /** Calls whose order has no price by the others; they count with what they cost. */
  readonly unpriced: number;
  /** By how much dearer it would be for them. */
  readonly users: readonly WhatIfRow[];
  /** By user and model, in the same order. */
  readonly models: readonly WhatIfRow[];
}

interface Period {
  /** When a call was settled. Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

interface WhatIfPorts {
  readonly lines: GrowingLines;
  readonly store: Pick<EventStore, 'readStream'>;
  /** Told now and then: the position that it has come to. */
  readonly progress?: ((position: number) => void) | undefined;
}

const pageSize = 5_000;
/** Users and models together. */
const maxRows = 500_000;
const maxKnownPrices = 20_000;

type StoredLine = readonly [
  position: number,
  stream: StreamName,
  revision: number,
  type: string,
  version: number,
  id: string,
  at: number,
  payload: StoredPayload,
];

const concerned = ['CallSettled', 'CallRefunded'] as const;
const isConcerned = (line: string): boolean => concerned.some((type) => line.includes(`,"${type}",`));

interface Repriced {
  /** null: there is none. */
  readonly price: Price | null;
  readonly isSame: boolean;
}

/** By a price, and by the others; the same calls come again and again. */
class Repricing {
  private readonly known = new Map<string, Repriced>();

  constructor(private readonly others: OtherPrices) {}

  priceOf({ facts, price, upstreamModel, useTimeMs }: CallSettled, settledAt: number): Repriced {
    // Prices hold as of when a call is reserved. Records begin on days, so a second decides nothing else.
    const at = Instant(Math.max(0, settledAt - useTimeMs));
    const day = Math.floor(at / 86_400_000);
    const key = JSON.stringify([facts.model, facts.group, upstreamModel, day, price]);
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const { model, group } = facts;
    const other = otherPrice(price, { model, upstreamModel, group, at }, this.others);
    const repriced = { price: other, isSame: JSON.stringify(other) === JSON.stringify(price) };
    if (this.known.size >= maxKnownPrices) this.known.clear();
    this.known.set(key, repriced);
    return repriced;
  }
}

/** Adds up calls, and takes back those that were refunded. */
class Comparison {
  readonly total: WhatIfSum & { unpriced: number } = { calls: 0, actual: 0n, hypothetical: 0n, unpriced: 0 };
  readonly rows = new Map<string, WhatIfRow>();
  private readonly repricing: Repricing;

  constructor(others: OtherPrices) {
    this.repricing = new Repricing(others);
  }

  /** `sign`: -1 for a call that is taken back. */
  take(call: CallSettled, at: number, sign: 1 | -1): void {
    const { facts, charged, uncovered, usage } = call;
    const actual = BigInt(charged) + BigInt(uncovered);
    const { price, isSame } = this.repricing.priceOf(call, at);
    const hypothetical = price === null || isSame ? actual : BigInt(chargeOf(usage, price));
    if (price === null) this.total.unpriced += sign;
    for (const sum of [this.total, this.rowOf(facts.userId, facts.model)]) {
      sum.calls += sign;
      sum.actual += BigInt(sign) * actual;
      sum.hypothetical += BigInt(sign) * hypothetical;
    }
  }

  private rowOf(userId: UserId, model: string): WhatIfRow {
    const key = `${userId} ${model}`;
    const known = this.rows.get(key);
    if (known !== undefined) return known;
    if (this.rows.size >= maxRows) throw invalidField('from', `a period with at most ${maxRows} users and models`);
    const row = { userId, model, calls: 0, actual: 0n, hypothetical: 0n };
    this.rows.set(key, row);
    return row;
  }
}

const dearest = (one: WhatIfRow, other: WhatIfRow): number => {
  const [a, b] = [one.hypothetical - one.actual, other.hypothetical - other.actual];
  return a === b
    ? one.userId - other.userId || (one.model ?? '').localeCompare(other.model ?? '', 'en')
    : a > b
      ? -1
      : 1;
};

function byUser(rows: Iterable<WhatIfRow>): WhatIfRow[] {
  const users = new Map<UserId, WhatIfRow>();
  for (const { userId, calls, actual, hypothetical } of rows) {
    const sum = users.get(userId) ?? { userId, model: null, calls: 0, actual: 0n, hypothetical: 0n };
    sum.calls += calls;
    sum.actual += actual;
    sum.hypothetical += hypothetical;
    users.set(userId, sum);
  }
  return [...users.values()];
}

/**
 * Calls that were settled in the period, by the log as of now; refunded ones are left out, whenever that was. Where the
 * other prices are those that held, all sums are equal.
 */
export async function whatIf(
  { lines, store, progress }: WhatIfPorts,
  period: Period,
  others: OtherPrices,
): Promise<WhatIf> {
  if (period.from >= period.to) throw invalidField('to', 'later than from');
  const comparison = new Comparison(others);
  const isWithin = (at: number): boolean => at >= period.from && at < period.to;
  const takeBack = async (stream: StreamName): Promise<void> => {
    for (const { event, at } of await store.readStream(stream))
      if (event.type === 'CallSettled' && isWithin(at)) comparison.take(event, at, -1);
  };
  const head = await lines.head();
  for (let after = beginning; after < head; ) {
    const page = await lines.after(after, pageSize);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const line of page) {
      if (!isConcerned(line)) continue;
      const [position, stream, , type, version, , at, payload] = JSON.parse(line) as StoredLine;
      // What comes while it is read would be refunded here and not yet settled.
      if (position > Number(head)) break;
      if (type === 'CallRefunded') await takeBack(stream);
      if (type !== 'CallSettled' || !isWithin(at)) continue;
      const event = currentPayloads.upcast(type, version, payload);
      if (event.type === 'CallSettled') comparison.take(event, at, 1);
    }
    after = Position(positionOf(last));
    progress?.(Number(after));
  }
  const models = [...comparison.rows.values()].filter(({ calls }) => calls > 0);
  return { ...comparison.total, users: byUser(models).sort(dearest), models: models.sort(dearest) };
}
