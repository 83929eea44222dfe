import { readContextTiers } from '../../domain/options/context-tier-option.js';
import { readServiceTiers } from '../../domain/options/service-tier-option.js';
import type { ModelPrice } from '../../domain/pricing/model-price.js';
import type { PriceTables } from '../../domain/pricing/price-tables.js';
import type { DefaultPrices } from './default-prices.js';
import type { OptionReader } from './option-reader.js';
import type { Settings } from './settings.js';

/* What calls and quota cost, as the options say. */

/** `records`: of the price table, those in force. */
export const priceTables = (
  { text, ratios, isChanged }: OptionReader,
  defaults: DefaultPrices,
  records: ReadonlyMap<string, ModelPrice>,
): PriceTables => ({
  records,
  modelRatio: ratios('ModelRatio', defaults.modelRatio),
  modelPrice: ratios('ModelPrice', defaults.modelPrice),
  completionRatio: ratios('CompletionRatio', defaults.completionRatio),
  cacheRatio: ratios('CacheRatio', defaults.cacheRatio),
  cacheWriteRatio: defaults.cacheWriteRatio,
  imageRatio: defaults.imageRatio,
  imageOutputRatio: ratios('ImageOutputRatio', defaults.imageOutputRatio),
  audioRatio: defaults.audioRatio,
  audioOutputRatio: defaults.audioOutputRatio,
  reasoningRatio: ratios('ReasoningRatio', null),
  groupRatio: ratios('GroupRatio', null),
  toolPrice: ratios('ToolPrice', null),
  contextTiers: isChanged('ContextTiers') ? readContextTiers(text('ContextTiers')) : defaults.contextTiers,
  serviceTiers: readServiceTiers(text('ServiceTiers')),
  quotaPerUnit: text('QuotaPerUnit'),
});

/** In money, before groups. */
export const topUpSettings = ({ text, number, ratios }: OptionReader): Settings['topUp'] => ({
  priceBy: {
    epay: { price: text('Price'), currency: 'CNY' },
    stripe: {
      price: number('StripePrice') === 0 ? text('Price') : text('StripePrice'),
      currency: text('StripeCurrency').trim().toUpperCase(),
    },
  },
  minimum: number('MinTopUp'),
  groupRatio: ratios('TopupGroupRatio', null),
});
