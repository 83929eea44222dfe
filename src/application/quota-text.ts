import type { Settings } from './settings.js';

/** How amounts are written: in dollars with a full-width sign, or in units. */
export interface QuotaStyle {
  readonly inCurrency: boolean;
  readonly quotaPerUnit: number;
}

export const quotaStyle = (settings: Settings): QuotaStyle => ({
  inCurrency: settings.flag('DisplayInCurrencyEnabled'),
  quotaPerUnit: Number(settings.prices.quotaPerUnit),
});

export const quotaText = (quota: number, { inCurrency, quotaPerUnit }: QuotaStyle): string =>
  inCurrency ? `＄${(quota / quotaPerUnit).toFixed(6)} 额度` : `${quota} 点额度`;
