import { storedText } from './drafts.js';
import { type ModelPrices, type PriceTables, priceTableKeys, tablesIn, tableText, withPrices } from './modelPrices.js';
import { useSettings } from './SettingsProvider.js';

interface PriceDrafts {
  /** As they are typed so far; null: one of them is no table. */
  readonly tables: PriceTables | null;
  readonly set: (names: readonly string[], prices: Partial<ModelPrices>) => void;
  /** What is typed into the table of ratios is given up. */
  readonly forgetRatios: () => void;
}

/** The drafts of the tables of prices, by model. */
export function usePriceDrafts(): PriceDrafts {
  const { options, drafts, type, discard } = useSettings();
  const textOf = (key: string): string => {
    const option = options.get(key);
    return drafts.get(key)?.text ?? (option === undefined ? '' : storedText(option));
  };
  const tables = tablesIn(textOf);
  return {
    tables,
    set(names, prices) {
      if (tables === null) return;
      const next = withPrices(tables, names, prices);
      for (const key of priceTableKeys) {
        const option = options.get(key);
        if (option !== undefined && prices[key] !== undefined) type(option, tableText(next[key]));
      }
    },
    forgetRatios: () => discard('ModelRatio'),
  };
}
