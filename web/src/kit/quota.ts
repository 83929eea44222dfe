/* How quota is shown and typed. Amounts of money are for reading only; what is stored and sent is whole quota. */

import { abbreviate } from './figures.js';

export interface QuotaUnits {
  /** Quota per US dollar. */
  readonly quotaPerUnit: number;
  /** As dollars, not as quota. */
  readonly inCurrency: boolean;
}

const finestDigits = 6;

/** Dollars with `digits` decimals, more where so few would show an amount as nothing. */
export function formatDollars(dollars: number, digits: number): string {
  const sign = dollars < 0 ? '-' : '';
  const size = Math.abs(dollars);
  if (size > 0 && size < 10 ** -finestDigits) return `${sign}<$${(10 ** -finestDigits).toFixed(finestDigits)}`;
  const shown = size > 0 && Number(size.toFixed(digits)) === 0 ? finestDigits : digits;
  const [whole = '0', decimals] = size.toFixed(shown).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${sign}$${decimals === undefined ? grouped : `${grouped}.${decimals}`}`;
}

export const formatQuota = (quota: number, { inCurrency, quotaPerUnit }: QuotaUnits, digits = 2): string =>
  inCurrency ? formatDollars(quota / quotaPerUnit, digits) : abbreviate(quota);

/** What somebody typed, as quota. null: nothing was typed; undefined: it is no amount, or too large to be exact. */
export function parseQuota(text: string, { inCurrency, quotaPerUnit }: QuotaUnits): number | null | undefined {
  const typed = text.trim().replaceAll(',', '');
  if (typed === '') return null;
  const pattern = inCurrency ? /^-?(\d+\.?\d*|\.\d+)$/ : /^-?\d+$/;
  if (!pattern.test(typed)) return undefined;
  const quota = inCurrency ? Math.round(Number(typed) * quotaPerUnit) : Number(typed);
  return Number.isSafeInteger(quota) ? quota : undefined;
}

/** The text an input begins with: exact, and `parseQuota` gives the same quota back. */
export function quotaAsTyped(quota: number, { inCurrency, quotaPerUnit }: QuotaUnits): string {
  if (!inCurrency) return String(quota);
  for (let digits = 2; digits < 12; digits++) {
    const text = (quota / quotaPerUnit).toFixed(digits);
    if (Math.round(Number(text) * quotaPerUnit) === quota) return text.replace(/\.00$/, '');
  }
  return String(quota / quotaPerUnit);
}

/** Amounts offered for choosing, in quota. */
export const quotaPresets = [500_000, 5_000_000, 25_000_000, 50_000_000, 250_000_000, 500_000_000] as const;
