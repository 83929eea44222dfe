import type { CallSettled } from '../../domain/call/call.js';
import type { Position } from '../../domain/events/events.js';
import { currentPayloads } from '../../domain/events/upcast.js';
import { invalidField } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { OtherPrices } from '../../domain/pricing/other-price.js';
import { chargeOf } from '../../domain/pricing/pricing.js';
import type { ChangedCharge, SettledCalls, SettledLine } from '../ports/settled-call-ports.js';
import type { EventStore } from '../ports/storage-ports.js';
import { Repricing } from './repricing.js';

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
  readonly calls: SettledCalls;
  readonly store: Pick<EventStore, 'readStream'>;
}

/** Which part of the log is read: behind one position, and to another. */
export interface LogPart {
  readonly after: Position;
  readonly upTo: Position;
}

/** Of one page. Working them out takes some milliseconds, in which the process does nothing else. */
const eventsPerPage = 1_000;
/** Users and models together. */
const maxRows = 500_000;

/** Adds up calls, and takes back those that were refunded or corrected. */
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
 * Calls that were settled in the period, by this part of the log; refunded ones are left out, whenever that was, and
 * corrected ones cost what they were corrected to. Where the other prices are those that held, all sums are equal. Tells how far it has come; throws `invalid-field`.
 */
export async function* whatIf(
  { calls, store }: WhatIfPorts,
  { after, upTo }: LogPart,
  period: Period,
  others: OtherPrices,
): AsyncGenerator<Position, WhatIf, undefined> {
  if (period.from >= period.to) throw invalidField('to', 'later than from');
  const comparison = new Comparison(others);
  /** What it was until then is taken back, and counts as it is since then. */
  const revise = async ({ stream, position }: ChangedCharge): Promise<void> => {
    let stands: { readonly call: CallSettled; readonly at: Instant } | null = null;
    for (const { event, at, position: of } of await store.readStream(stream)) {
      if (event.type === 'CallSettled') stands = at >= period.from && at < period.to ? { call: event, at } : null;
      if (stands === null) continue;
      const isThis = Number(of) === position;
      if (isThis) comparison.take(stands.call, stands.at, -1);
      if (event.type === 'CallCorrected') {
        stands = { ...stands, call: { ...stands.call, price: event.price, ...event.to } };
        if (isThis) comparison.take(stands.call, stands.at, 1);
      }
    }
  };
  const pageAfter = (position: Position) => calls.page({ after: position, upTo, limit: eventsPerPage, ...period });
  let coming = pageAfter(after);
  for (;;) {
    const { last, settled, changed } = await coming;
    if (last === null) break;
    // The database reads the next one while this one is worked out.
    coming = pageAfter(last);
    // Whoever leaves does not wait for it.
    coming.catch(() => {});
    for (const line of settled) {
      const [version, at, payload] = JSON.parse(line) as SettledLine;
      const event = currentPayloads.upcast('CallSettled', version, payload);
      if (event.type === 'CallSettled') comparison.take(event, at, 1);
    }
    for (const charge of changed) await revise(charge);
    yield last;
  }
  const models = [...comparison.rows.values()].filter(({ calls }) => calls > 0);
  return { ...comparison.total, users: byUser(models).sort(dearest), models: models.sort(dearest) };
}

/** All of it; `progress` is told how far it has come. */
export async function worked<Step, Result>(
  steps: AsyncGenerator<Step, Result, undefined>,
  progress: (step: Step) => void = () => {},
): Promise<Result> {
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return value;
    progress(value);
  }
}
