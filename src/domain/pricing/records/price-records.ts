import { Instant } from '../../kernel/instant.js';
import type { ModelPrice, PricePeriods } from './model-price.js';

/* Which of the records of the price table hold at an instant: days begin at midnight in UTC. */

/** By model. */
export type PriceRecords = ReadonlyMap<string, PricePeriods>;

/** Midnight in UTC of a day such as `2026-12-01`. */
export const startOfDay = (day: string): Instant => Instant(Date.parse(`${day}T00:00:00Z`));

const holdsAt = ({ from, until }: ModelPrice, at: Instant): boolean =>
  (from === undefined || startOfDay(from) <= at) && (until === undefined || at < startOfDay(until));

/** null: nothing is stated for this instant. */
export const pricePeriodAt = (periods: PricePeriods, at: Instant): ModelPrice | null =>
  periods.findLast((period) => holdsAt(period, at)) ?? null;

/** By model, what is stated for this instant. */
export function recordsAt(records: PriceRecords, at: Instant): Map<string, ModelPrice> {
  const found = new Map<string, ModelPrice>();
  for (const [model, periods] of records) {
    const price = pricePeriodAt(periods, at);
    if (price !== null) found.set(model, price);
  }
  return found;
}

/** When the first of them begins or ends after this instant; null: none does. */
export function nextPeriodChange(records: PriceRecords, at: Instant): Instant | null {
  let next: Instant | null = null;
  for (const periods of records.values()) {
    for (const { from, until } of periods) {
      for (const day of [from, until]) {
        const begin = day === undefined ? null : startOfDay(day);
        if (begin !== null && begin > at && (next === null || begin < next)) next = begin;
      }
    }
  }
  return next;
}
