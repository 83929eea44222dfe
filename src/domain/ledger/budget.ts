import { checkInteger } from '../kernel/bounds.js';
import { invalidField } from '../kernel/failure.js';
import type { Instant } from '../kernel/instant.js';
import type { Quota } from '../kernel/quota.js';
import type { Movement } from './movements.js';

/*
 * What an API key may spend in each day, week or month. These begin at midnight UTC, weeks on Mondays: every one of them
 * is a sum of whole days, so spending is kept by day and a budget can be changed without forgetting any of it.
 */

export const budgetPeriods = ['daily', 'weekly', 'monthly'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export interface Budget {
  readonly quota: Quota;
  readonly period: BudgetPeriod;
}

/** Counted from 1970-01-01, UTC. */
export type Day = number;

/** What was spent on each of some days; days without spending may be missing. */
type SpendingByDay = Iterable<readonly [day: Day, quota: bigint]>;

/**
 * How many days of an API key with spending are kept in memory: the present month, and the one before for a clock that
 * is set back.
 */
export const daysRemembered = 62;

/** As much as anybody may write down at once. */
const maxBudget = 1e15;

const dayMs = 86_400_000;
/** 1970-01-01 was a Thursday, three days into its week. */
const daysIntoFirstWeek = 3;

/** In days. */
const averageMonth = 30.436875;

/** The first day of a month, which is counted from January 1970. */
const firstOf = (month: number): Day => Date.UTC(1970, month, 1) / dayMs;

export const dayOf = (at: Instant): Day => Math.floor(at / dayMs);

export interface Days {
  readonly first: Day;
  /** The first day of the next period. */
  readonly next: Day;
}

/** The days of the period that a moment lies in. */
export function periodAt(period: BudgetPeriod, at: Instant): Days {
  const day = dayOf(at);
  switch (period) {
    case 'daily':
      return { first: day, next: day + 1 };
    case 'weekly': {
      const first = Math.floor((day + daysIntoFirstWeek) / 7) * 7 - daysIntoFirstWeek;
      return { first, next: first + 7 };
    }
    case 'monthly': {
      // By their average length, months are found but for one that is near.
      let month = Math.floor(day / averageMonth);
      while (firstOf(month) > day) month--;
      while (firstOf(month + 1) <= day) month++;
      return { first: firstOf(month), next: firstOf(month + 1) };
    }
  }
}

/** When the next period begins. */
export const endOf = ({ next }: Days): Instant => (next * dayMs) as Instant;

/** What was spent on those days. */
export function spentOn({ first, next }: Days, spending: SpendingByDay): bigint {
  let spent = 0n;
  for (const [day, quota] of spending) if (day >= first && day < next) spent += quota;
  return spent;
}

/**
 * The day on which a movement counts as spent, or as not spent after all; null: it is neither. A call counts on the day
 * its settlement names, however long it took, and is taken out of that day where it is refunded.
 */
export function spendingDayOf({ cause, settledAt }: Pick<Movement, 'cause' | 'settledAt'>, at: Instant): Day | null {
  if (cause === 'settlement') return dayOf(at);
  return cause === 'refund' || cause === 'correction' ? dayOf(settledAt ?? at) : null;
}

/** Throws `invalid-field` unless it can be kept to. */
export function checkBudget({ quota, period }: Budget): void {
  checkInteger('budget.quota', quota, 1, maxBudget);
  if (!budgetPeriods.includes(period)) throw invalidField('budget.period', budgetPeriods.join(', '));
}
