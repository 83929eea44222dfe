import { decimal, decimalOf, decimalText, isZero, ratioOf, times } from '../kernel/decimal.js';
import type { Instant } from '../kernel/instant.js';
import { sameJson } from '../kernel/same-json.js';
import type { TokenQuantity } from '../pricing/quantities.js';
import type { ModelPrice, PricePeriods, TokenRate } from '../pricing/records/model-price.js';
import { type PriceRecords, pricePeriodAt } from '../pricing/records/price-records.js';
import { inputRatioOf } from '../pricing/records/recorded-price.js';
import { readContextTiers } from './context-tier-option.js';
import { maxRatio, type OptionKey } from './option-table.js';
import { readServiceTiers } from './service-tier-option.js';

/*
 * The maps of prices that older clients read and write, as a view of the price table. A written map changes what the map
 * can say of a record, and only where it says something else than the view did: dates, purchase prices and the like stay.
 */

type Rates = NonNullable<ModelPrice['tokens']>;

interface LegacyMap {
  /** JSON of the entry; undefined: the map has none. */
  read(price: ModelPrice): unknown;
  /** The record that reads so; undefined: the entry is gone. */
  write(price: ModelPrice, entry: unknown): ModelPrice;
  /** Where a record says nothing of it, the map does. */
  readonly isFallback?: true;
}

const two = decimal('2');
/** As far as options go: what is beyond is read as their bound, and stays where it is written back so. */
const numberOf = (text: string): number => Math.min(Number(text), maxRatio);
const ratioText = (entry: unknown): string => decimalText(decimalOf(Number(entry)));

const inputUsd = (rates: Rates | undefined): string | null =>
  rates?.input !== undefined && 'usd' in rates.input ? rates.input.usd : null;

const asRatio = (rate: TokenRate, input: string | null): TokenRate =>
  'ratio' in rate || input === null || isZero(decimal(input))
    ? rate
    : { ratio: decimalText(ratioOf(decimal(rate.usd), decimal(input))) };

/** Without the members that are undefined: events hold none. */
const compact = (price: { readonly [Name in keyof ModelPrice]: ModelPrice[Name] | undefined }): ModelPrice =>
  Object.fromEntries(Object.entries(price).filter(([, value]) => value !== undefined));

const withRates = (
  price: ModelPrice,
  rates: { readonly [Name in TokenQuantity]?: TokenRate | undefined },
): ModelPrice => {
  const tokens = Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate !== undefined));
  return compact({ ...price, tokens: Object.keys(tokens).length === 0 ? undefined : tokens });
};

/** Older clients know ratios only: whoever changes the price of the input changes all that follows it. */
const modelRatio: LegacyMap = {
  read({ tokens }) {
    const usd = inputUsd(tokens);
    return usd === null ? undefined : numberOf(decimalText(inputRatioOf(usd)));
  },
  write(price, entry) {
    const before = inputUsd(price.tokens);
    const { input: _, ...others } = price.tokens ?? {};
    const ratios = Object.fromEntries(Object.entries(others).map(([name, rate]) => [name, asRatio(rate, before)]));
    const input = entry === undefined ? undefined : { usd: decimalText(times(decimal(ratioText(entry)), two)) };
    return withRates(price, { input, ...ratios });
  },
};

const ofTokens = (name: Exclude<TokenQuantity, 'input'>): LegacyMap => ({
  read({ tokens }) {
    const rate = tokens?.[name];
    const ratio = rate === undefined ? undefined : asRatio(rate, inputUsd(tokens));
    return ratio !== undefined && 'ratio' in ratio ? numberOf(ratio.ratio) : undefined;
  },
  write: (price, entry) =>
    withRates(price, { ...price.tokens, [name]: entry === undefined ? undefined : { ratio: ratioText(entry) } }),
});

const legacyMaps: Readonly<Partial<Record<OptionKey, LegacyMap>>> = {
  ModelPrice: {
    read: ({ call }) => (call === undefined ? undefined : numberOf(call)),
    write: (price, entry) => compact({ ...price, call: entry === undefined ? undefined : ratioText(entry) }),
  },
  ModelRatio: modelRatio,
  CompletionRatio: ofTokens('output'),
  CacheRatio: ofTokens('cachedInput'),
  ImageOutputRatio: ofTokens('imageOutput'),
  ReasoningRatio: ofTokens('reasoning'),
  ContextTiers: {
    read: ({ contextTiers }) =>
      contextTiers?.map(({ over, factors }) => ({
        over,
        ...Object.fromEntries(Object.entries(factors).map(([name, factor]) => [name, numberOf(factor)])),
      })),
    write: (price, entry) =>
      compact({
        ...price,
        contextTiers: entry === undefined ? undefined : readContextTiers(JSON.stringify({ model: entry })).get('model'),
      }),
  },
  ServiceTiers: {
    isFallback: true,
    read: ({ serviceTiers }) =>
      serviceTiers === undefined
        ? undefined
        : Object.fromEntries(Object.entries(serviceTiers).map(([tier, factor]) => [tier, numberOf(factor)])),
    write(price, entry) {
      if (entry === undefined) return compact({ ...price, serviceTiers: undefined });
      const factors = readServiceTiers(JSON.stringify({ model: entry })).get('model') ?? new Map<string, string>();
      return compact({ ...price, serviceTiers: Object.fromEntries(factors) });
    },
  },
};

const mapOf = (key: string): LegacyMap | null =>
  Object.hasOwn(legacyMaps, key) ? (legacyMaps[key as OptionKey] ?? null) : null;

const shownBy = (map: LegacyMap, periods: PricePeriods | null): string =>
  JSON.stringify((periods ?? []).map((price) => map.read(price) ?? null));

/** The maps that show something else than before, now or on the day of a period. */
export const viewsChangedBy = (before: PricePeriods | null, after: PricePeriods | null): string[] =>
  Object.entries(legacyMaps).flatMap(([key, map]) => (shownBy(map, before) === shownBy(map, after) ? [] : [key]));

/** The maps of prices that records show themselves in. */
export const legacyPriceMaps = Object.keys(legacyMaps) as OptionKey[];

/** Whether the option is one of them. */
export const isLegacyPriceMap = (key: string): boolean => mapOf(key) !== null;

/** Whether the option is a map of prices, some of which are built in and change by date or by release. */
export const hasBuiltInPrices = (key: string): boolean => isLegacyPriceMap(key) || key === 'ToolPrice';

const entriesOf = (text: string): Map<string, unknown> => new Map(Object.entries(JSON.parse(text) as object));

/** Whether the map says of this model only what its record in force does. */
export function showsRecord(key: string, model: string, records: PriceRecords, at: Instant): boolean {
  const map = mapOf(key);
  const price = map === null ? null : pricePeriodAt(records.get(model) ?? [], at);
  return map !== null && price !== null && (map.isFallback === undefined || map.read(price) !== undefined);
}

/** What the option reads as. `stored`: its own text; `records`: those in force. */
export function legacyView(key: string, stored: string, records: ReadonlyMap<string, ModelPrice>): string {
  const map = mapOf(key);
  if (map === null || records.size === 0) return stored;
  const entries = entriesOf(stored);
  for (const [model, price] of records) {
    const entry = map.read(price);
    if (entry !== undefined) entries.set(model, entry);
    else if (map.isFallback === undefined) entries.delete(model);
  }
  return JSON.stringify(Object.fromEntries(entries));
}

interface PeriodsChange {
  readonly model: string;
  readonly periods: PricePeriods;
}

/** What a written map changes in the records that are in force. `text`: checked. */
export function legacyWrite(key: string, text: string, records: PriceRecords, at: Instant): readonly PeriodsChange[] {
  const map = mapOf(key);
  if (map === null || records.size === 0) return [];
  const entries = entriesOf(text);
  const changes: PeriodsChange[] = [];
  for (const [model, periods] of records) {
    const price = pricePeriodAt(periods, at);
    if (price === null) continue;
    const entry = entries.get(model);
    const before = map.read(price);
    if (sameJson(before, entry) || (before === undefined && map.isFallback === true)) continue;
    const written = map.write(price, entry);
    changes.push({ model, periods: periods.map((period) => (period === price ? written : period)) });
  }
  return changes;
}
