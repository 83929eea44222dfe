import { readContextTiers } from '../../domain/options/context-tier-option.js';
import { readServiceTiers } from '../../domain/options/service-tier-option.js';
import { unpricedSpeech } from '../../domain/pricing/built-in/newer-prices.js';
import { type PriceTables, type RatioTable, uploads } from '../../domain/pricing/price-tables.js';
import type { ModelPrice } from '../../domain/pricing/records/model-price.js';
import type { OptionReader } from '../options/option-reader.js';
import type { Settings } from '../options/settings.js';
import type { DefaultPrices } from './default-prices.js';

/* What calls and quota cost, as the options say. */

/** What the price table states. */
export interface StatedPrices {
  /** Those in force. */
  readonly records: ReadonlyMap<string, ModelPrice>;
  /** Models that have, or have had, a record, whenever it holds. */
  readonly known: Iterable<string>;
}

/** Models that have a price of their own or none: operators have had one, and no map or record prices them now. */
function removedModels(
  { builtInRecords, modelRatio, modelPrice }: DefaultPrices,
  { known }: StatedPrices,
): ReadonlySet<string> {
  const byPiece = builtInRecords?.keys() ?? [];
  return new Set([...modelRatio.keys(), ...modelPrice.keys(), ...byPiece, ...unpricedSpeech, ...known]);
}

/** By the one name that they are billed by. */
function withUploads(prices: RatioTable): RatioTable {
  const other = prices.get(uploads.other);
  return other === undefined || prices.has(uploads.name) ? prices : new Map([...prices, [uploads.name, other]]);
}

export const priceTables = (
  { text, flag, ratios, isChanged }: OptionReader,
  defaults: DefaultPrices,
  stated: StatedPrices,
): PriceTables => ({
  ...(flag('NearestFamilyPriceEnabled') ? { nearest: { removed: removedModels(defaults, stated) } } : {}),
  records: stated.records,
  ...(defaults.builtInRecords === undefined ? {} : { builtInRecords: defaults.builtInRecords }),
  modelRatio: ratios('ModelRatio', defaults.modelRatio),
  modelPrice: withUploads(ratios('ModelPrice', defaults.modelPrice)),
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
