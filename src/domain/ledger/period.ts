import type { Brand } from '../kernel/brand.js';
import { invalidField } from '../kernel/failure.js';
import { Instant } from '../kernel/instant.js';

/** A month, a day or a year of UTC, as `2026-10`, `2026-10-31` and `2026`. */
export type Period = Brand<string, 'Period'>;

const form = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;

/** When it begins, and when the next one does. */
interface PeriodBounds {
  readonly from: Instant;
  readonly until: Instant;
}

const startOf = (year: number, month: number, day: number): Instant => Instant(Date.UTC(year, month, day));

/** Throws `invalid-field`. */
export function Period(text: string): Period {
  const allowed = 'a month, a day or a year of UTC, as in 2026-10';
  const [, year, month, day] = form.exec(text) ?? [];
  // Years before it are others than they say, to a clock of computers.
  if (year === undefined || Number(year) < 1970) throw invalidField('period', allowed);
  const [ofYear, ofDay] = [Number(month ?? 1), Number(day ?? 1)];
  const isMonth = ofYear >= 1 && ofYear <= 12;
  const isDay = ofDay >= 1 && startOf(Number(year), ofYear - 1, ofDay) < startOf(Number(year), ofYear, 1);
  if (!isMonth || !isDay) throw invalidField('period', allowed);
  return text as Period;
}

export function periodBounds(period: Period): PeriodBounds {
  const [year = 0, month, day] = period.split('-').map(Number);
  if (month === undefined) return { from: startOf(year, 0, 1), until: startOf(year + 1, 0, 1) };
  if (day === undefined) return { from: startOf(year, month - 1, 1), until: startOf(year, month, 1) };
  return { from: startOf(year, month - 1, day), until: startOf(year, month - 1, day + 1) };
}
