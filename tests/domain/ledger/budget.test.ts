import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import {
  type BudgetPeriod,
  budgetPeriods,
  checkBudget,
  dayOf,
  endOf,
  periodAt,
  spendingDayOf,
  spentOn,
} from '../../../src/domain/ledger/budget.js';

const at = (text: string): Instant => Instant(Date.parse(text));
const dateOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);

const periodOf = (period: BudgetPeriod, text: string): readonly [first: string, next: string] => {
  const { first, next } = periodAt(period, at(text));
  return [dateOf(first), dateOf(next)];
};

describe('a budget period', () => {
  test('of a daily budget is the day in UTC, from its first millisecond to its last', () => {
    expect(periodOf('daily', '2026-03-01T00:00:00.000Z')).toEqual(['2026-03-01', '2026-03-02']);
    expect(periodOf('daily', '2026-03-01T23:59:59.999Z')).toEqual(['2026-03-01', '2026-03-02']);
    expect(periodOf('daily', '2026-03-02T07:00:00.000+08:00')).toEqual(['2026-03-01', '2026-03-02']);
  });

  test('of a weekly budget begins on Monday', () => {
    expect(periodOf('weekly', '2026-03-01T23:59:59.999Z')).toEqual(['2026-02-23', '2026-03-02']);
    expect(periodOf('weekly', '2026-03-02T00:00:00.000Z')).toEqual(['2026-03-02', '2026-03-09']);
    expect(periodOf('weekly', '2027-01-01T12:00:00.000Z')).toEqual(['2026-12-28', '2027-01-04']);
    expect(periodOf('weekly', '1970-01-01T00:00:00.000Z')).toEqual(['1969-12-29', '1970-01-05']);
  });

  test('of a monthly budget is as long as the month', () => {
    expect(periodOf('monthly', '2026-02-28T23:59:59.999Z')).toEqual(['2026-02-01', '2026-03-01']);
    expect(periodOf('monthly', '2028-02-29T00:00:00.000Z')).toEqual(['2028-02-01', '2028-03-01']);
    expect(periodOf('monthly', '2026-12-31T23:59:59.999Z')).toEqual(['2026-12-01', '2027-01-01']);
  });

  test('contains the given time, ends where the next one begins, and is never longer than the days that are kept', () => {
    const moment = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(Instant);
    const whole = fc.property(moment, fc.constantFrom(...budgetPeriods), (now, period) => {
      const days = periodAt(period, now);
      expect(days.first).toBeLessThanOrEqual(dayOf(now));
      expect(days.next).toBeGreaterThan(dayOf(now));
      expect(days.next - days.first).toBeLessThanOrEqual(31);
      expect(periodAt(period, endOf(days)).first).toBe(days.next);
      expect(periodAt(period, Instant(endOf(days) - 1))).toEqual(days);
      if (period === 'weekly') expect(new Date(days.first * 86_400_000).getUTCDay()).toBe(1);
      if (period === 'monthly') expect(new Date(days.first * 86_400_000).getUTCDate()).toBe(1);
    });
    fc.assert(whole);
  });
});

describe('spending within a budget', () => {
  test('is the sum of the days of the period', () => {
    const days = [
      ['2026-02-28', 1n],
      ['2026-03-01', 10n],
      ['2026-03-31', 100n],
      ['2026-04-01', 1_000n],
    ] as const;
    const spending = days.map(([date, quota]) => [dayOf(at(date)), quota] as const);
    expect(spentOn(periodAt('monthly', at('2026-03-15')), spending)).toBe(110n);
    expect(spentOn(periodAt('daily', at('2026-03-15')), spending)).toBe(0n);
  });

  test('counts on the day of its settlement, and is subtracted from that day by a refund on another one', () => {
    const [settled, later] = [at('2026-03-01T23:59:59.999Z'), at('2026-03-02T00:00:30.000Z')];
    expect(spendingDayOf({ cause: 'settlement' }, settled)).toBe(dayOf(settled));
    expect(spendingDayOf({ cause: 'refund', settledAt: settled }, later)).toBe(dayOf(settled));
  });

  test('does not include other changes of the key’s quota', () => {
    for (const cause of ['allowance', 'reservation', 'release', 'suspense'] as const)
      expect(spendingDayOf({ cause }, at('2026-03-01'))).toBeNull();
  });
});

describe('a budget', () => {
  const checked = (quota: number, period: string) => () =>
    checkBudget({ quota: quota as Quota, period: period as BudgetPeriod });

  test('is a positive integer amount', () => {
    expect(checked(1, 'daily')).not.toThrow();
    expect(checked(1e15, 'monthly')).not.toThrow();
    for (const quota of [0, -1, 1.5, 1e15 + 1, Number.NaN])
      expect(checked(quota, 'daily')).toThrow(
        expect.objectContaining({
          code: 'invalid-field',
          details: { field: 'budget.quota', allowed: 'an integer from 1 to 1000000000000000' },
        }),
      );
  });

  test('has one of three periods', () => {
    expect(checked(Quota(1), 'hourly')).toThrow(
      expect.objectContaining({ details: { field: 'budget.period', allowed: 'daily, weekly, monthly' } }),
    );
  });
});
