import { type ConditionalPrice, findProvider, type MatchLogic, type ModelPrice } from '@pydantic/genai-prices';
import { type Decimal, decimalOf, decimalText, isZero, larger, ratioOf, ZERO } from '../../domain/kernel/decimal.js';
import { completionRule } from '../../domain/pricing/completion-rules.js';
import {
  builtInCacheRatio,
  builtInCacheWriteRatio,
  builtInCompletionRatio,
  builtInImageRatio,
  builtInModelPrice,
  builtInModelRatio,
} from '../../domain/pricing/default-prices.js';
import { type PriceTables, ratioTable } from '../../domain/pricing/price-tables.js';

/* Prices an operator starts from: our built-in tables, and for newer models a maintained price package. */

export type DefaultPrices = Omit<PriceTables, 'reasoningRatio' | 'groupRatio' | 'toolPrice' | 'quotaPerUnit'>;

/** First-party price lists only: a reseller's price for the same name must not win. */
const providerIds = [
  'openai',
  'anthropic',
  'google',
  'deepseek',
  'x-ai',
  'mistral',
  'moonshotai',
  'cohere',
  'groq',
  'perplexity',
] as const;

const namesIn = (match: MatchLogic): readonly string[] => {
  if ('equals' in match) return [match.equals];
  if ('or' in match) return match.or.flatMap(namesIn);
  return [];
};

const amount = (price: ModelPrice[string]): Decimal | null => {
  const base = typeof price === 'object' ? price.base : price;
  return base === undefined || base < 0 ? null : decimalOf(base);
};

const isDearer = (a: ModelPrice, b: ModelPrice): boolean => {
  const [left, right] = [amount(a.input_mtok) ?? ZERO, amount(b.input_mtok) ?? ZERO];
  return larger(left, right) === left;
};

/** Of prices that depend on date or hour the dearest: a default must not sell below cost. */
const dearest = (prices: readonly ConditionalPrice[] | ModelPrice): ModelPrice =>
  Array.isArray(prices)
    ? (prices as readonly ConditionalPrice[]).map((entry) => entry.prices).reduce((a, b) => (isDearer(b, a) ? b : a))
    : (prices as ModelPrice);

const two = decimalOf(2);

/** About 40 ms once, when the package is read; call it at start, not per request. */
export function defaultPrices(): DefaultPrices {
  const modelRatio = new Map(ratioTable(builtInModelRatio));
  const completionRatio = new Map(ratioTable(builtInCompletionRatio));
  const cacheRatio = new Map(ratioTable(builtInCacheRatio));
  const cacheWriteRatio = new Map(ratioTable(builtInCacheWriteRatio));
  const imageRatio = new Map(ratioTable(builtInImageRatio));
  const imageOutputRatio = new Map<string, string>();
  const audioRatio = new Map<string, string>();
  const audioOutputRatio = new Map<string, string>();
  const modelPrice = ratioTable(builtInModelPrice);

  for (const providerId of providerIds) {
    for (const model of findProvider({ providerId })?.models ?? []) {
      const prices = dearest(model.prices);
      const input = amount(prices.input_mtok);
      if (input === null || isZero(input)) continue;
      for (const name of new Set([model.id, ...namesIn(model.match)])) {
        if (modelRatio.has(name) || modelPrice.has(name)) continue;
        const relative = (price: ModelPrice[string]): string | null => {
          const value = amount(price);
          return value === null ? null : decimalText(ratioOf(value, input));
        };
        modelRatio.set(name, decimalText(ratioOf(input, two)));
        const completion = relative(prices.output_mtok);
        if (completion !== null && !completionRule(name)?.locked) completionRatio.set(name, completion);
        const cache = relative(prices.cache_read_mtok);
        if (cache !== null) cacheRatio.set(name, cache);
        const write = relative(prices.cache_write_mtok);
        if (write !== null) cacheWriteRatio.set(name, write);
        const seen = relative(prices.input_image_mtok);
        if (seen !== null && !imageRatio.has(name)) imageRatio.set(name, seen);
        const drawn = relative(prices.output_image_mtok);
        if (drawn !== null) imageOutputRatio.set(name, drawn);
        const heard = relative(prices.input_audio_mtok);
        if (heard !== null) audioRatio.set(name, heard);
        const spoken = relative(prices.output_audio_mtok);
        if (spoken !== null) audioOutputRatio.set(name, spoken);
      }
    }
  }
  return {
    modelRatio,
    modelPrice,
    completionRatio,
    cacheRatio,
    cacheWriteRatio,
    imageRatio,
    imageOutputRatio,
    audioRatio,
    audioOutputRatio,
  };
}
