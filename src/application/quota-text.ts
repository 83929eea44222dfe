import { defaultLanguage, type Language } from '../domain/kernel/language.js';
import type { Settings } from './options/settings.js';

/** How amounts are written: in dollars with a full-width sign, or in units. */
export interface QuotaStyle {
  readonly inCurrency: boolean;
  readonly quotaPerUnit: number;
}

export const quotaStyle = (settings: Settings): QuotaStyle => ({
  inCurrency: settings.flag('DisplayInCurrencyEnabled'),
  quotaPerUnit: Number(settings.prices.quotaPerUnit),
});

const amounts: Record<Language, { readonly inCurrency: (dollars: string) => string; readonly units: string }> = {
  zh: { inCurrency: (dollars) => `＄${dollars} 额度`, units: '点额度' },
  en: { inCurrency: (dollars) => `$${dollars}`, units: 'units' },
};

export function quotaText(
  quota: number,
  { inCurrency, quotaPerUnit }: QuotaStyle,
  language: Language = defaultLanguage,
): string {
  const words = amounts[language];
  return inCurrency ? words.inCurrency((quota / quotaPerUnit).toFixed(6)) : `${quota} ${words.units}`;
}
