import type { CallSettled } from '../../domain/call/call.js';
import type { StreamName } from '../../domain/events/events.js';
import type { StoredPayload } from '../../domain/events/upcast.js';
import { Instant } from '../../domain/kernel/instant.js';
import { type OtherPrices, otherPrice } from '../../domain/pricing/other-price.js';
import { billedName } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';

/* Calls of the log by other prices than they were charged by. */

const maxKnownPrices = 20_000;

export type EventLine = readonly [
  position: number,
  stream: StreamName,
  revision: number,
  type: string,
  version: number,
  id: string,
  at: number,
  payload: StoredPayload,
];

const ofCharges = ['CallSettled', 'CallRefunded', 'CallCorrected'] as const;
/** Whether a line may be of an event that says what a call is charged: most are not, and are not parsed. */
export const isOfCharge = (line: string): boolean => ofCharges.some((type) => line.includes(`,"${type}",`));

type PricedCall = Pick<CallSettled, 'facts' | 'price' | 'upstreamModel' | 'useTimeMs'>;

interface Repriced {
  /** null: there is none. */
  readonly price: Price | null;
  readonly isSame: boolean;
}

/** By a price, and by the others; the same calls come again and again. */
export class Repricing {
  private readonly known = new Map<string, Repriced>();

  constructor(private readonly others: OtherPrices) {}

  priceOf({ facts, price, upstreamModel, useTimeMs }: PricedCall, settledAt: number): Repriced {
    // Prices hold as of when a call is reserved. Records begin on days, so a second decides nothing else.
    const at = Instant(Math.max(0, settledAt - useTimeMs));
    const { model, group } = facts;
    // Nothing is said of it: most calls, where a file has few models.
    if (!this.others.groupRatio.has(group) && !this.isNamed(model, price)) return { price, isSame: true };
    const day = Math.floor(at / 86_400_000);
    const key = JSON.stringify([model, group, upstreamModel, day, price]);
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const other = otherPrice(price, { model, upstreamModel, group, at }, this.others);
    const repriced = { price: other, isSame: JSON.stringify(other) === JSON.stringify(price) };
    if (this.known.size >= maxKnownPrices) this.known.clear();
    this.known.set(key, repriced);
    return repriced;
  }

  private isNamed(model: string, { like }: Price): boolean {
    const { records } = this.others;
    return records.has(billedName(model)) || (like !== undefined && records.has(like));
  }
}
