import { contextTiersText } from '../../domain/options/context-tier-option.js';
import { optionTable } from '../../domain/options/option-table.js';
import type { RatioTable } from '../../domain/pricing/price-tables.js';
import type { DefaultPrices } from '../prices/default-prices.js';

const tableText = (table: RatioTable): string =>
  JSON.stringify(Object.fromEntries([...table].map(([name, ratio]) => [name, Number(ratio)])));

/** What each option holds until it is changed, prices included. */
export function initialOptions(prices: DefaultPrices): ReadonlyMap<string, string> {
  const initial = new Map<string, string>(Object.entries(optionTable).map(([key, { initial }]) => [key, initial]));
  initial.set('ModelRatio', tableText(prices.modelRatio));
  initial.set('ModelPrice', tableText(prices.modelPrice));
  initial.set('CompletionRatio', tableText(prices.completionRatio));
  initial.set('CacheRatio', tableText(prices.cacheRatio));
  initial.set('ImageOutputRatio', tableText(prices.imageOutputRatio));
  initial.set('ContextTiers', contextTiersText(prices.contextTiers));
  return initial;
}
