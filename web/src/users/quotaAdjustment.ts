/* What an administrator types to change a balance, in any of three units, and what it comes to in quota. */

export const amountUnits = ['quota', 'usd', 'cny'] as const;
export type AmountUnit = (typeof amountUnits)[number];

export const quickAmounts = {
  quota: [250_000_000, 500_000_000, 1_000_000_000],
  usd: [500, 1_000, 2_000],
  cny: [5_000, 10_000, 20_000],
} as const satisfies Record<AmountUnit, readonly number[]>;

export const giftPercents = [10, 20, 50, 100] as const;

interface Rates {
  /** Quota per US dollar. */
  readonly quotaPerUnit: number;
  /** Yuan per US dollar. */
  readonly yuanPerDollar: number;
}

export interface AdjustmentDraft {
  readonly direction: 'add' | 'subtract';
  readonly unit: AmountUnit;
  /** Digits only. */
  readonly amount: string;
  /** Percent on top, digits only; empty: none. Counts only where quota is added. */
  readonly gift: string;
}

type AdjustmentProblem = 'invalid' | 'giftInvalid' | 'tooLarge';

export interface Adjustment {
  /** Quota; negative: taken off. */
  readonly delta: number;
  /** Quota on top of it. */
  readonly gift: number;
}

/** Neither sign nor point nor exponent: what a typing slip could turn into another amount. */
export const digitsOf = (typed: string): string => typed.replace(/\D/g, '');

const quotaIn: Record<AmountUnit, (amount: number, rates: Rates) => number> = {
  quota: (amount) => amount,
  usd: (amount, { quotaPerUnit }) => amount * quotaPerUnit,
  cny: (amount, { quotaPerUnit, yuanPerDollar }) => (amount * quotaPerUnit) / yuanPerDollar,
};

/** `balance`: quota the user has; the result must stay exact. */
export function adjustmentOf(
  { direction, unit, amount, gift }: AdjustmentDraft,
  rates: Rates,
  balance: number,
): Adjustment | AdjustmentProblem {
  const typed = amount.trim();
  if (!/^\d+$/.test(typed) || Number(typed) === 0) return 'invalid';
  const size = Math.round(quotaIn[unit](Number(typed), rates));
  if (!Number.isFinite(size) || size === 0) return 'invalid';
  const percent = direction === 'add' ? gift.trim() : '';
  if (!/^\d*$/.test(percent)) return 'giftInvalid';
  const given = Math.round((size * Number(percent || '0')) / 100);
  const delta = direction === 'add' ? size : -size;
  const exact = [size, given, delta + given, balance + delta + given].every(Number.isSafeInteger);
  return exact ? { delta, gift: given } : 'tooLarge';
}
