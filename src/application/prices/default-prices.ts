import { type ConditionalPrice, findProvider, type MatchLogic, type ModelPrice } from '@pydantic/genai-prices';
import { decimal, decimalOf, decimalText, isSame, ratioAtLeast, ratioOf } from '../../domain/kernel/decimal.js';
import { Instant } from '../../domain/kernel/instant.js';
import { completionRule } from '../../domain/pricing/built-in/completion-rules.js';
import {
  builtInCacheRatio,
  builtInCacheWriteRatio,
  builtInCompletionRatio,
  builtInImageRatio,
  builtInModelPrice,
  builtInModelRatio,
} from '../../domain/pricing/built-in/default-prices.js';
import {
  changedPrices,
  type NewerPrice,
  newerPrices,
  unpricedSpeech,
} from '../../domain/pricing/built-in/newer-prices.js';
import { builtInPicturePrices } from '../../domain/pricing/built-in/picture-prices.js';
import { builtInRerankPrices } from '../../domain/pricing/built-in/rerank-prices.js';
import { builtInVideoPrices } from '../../domain/pricing/built-in/video-prices.js';
import type { ContextTierFactors } from '../../domain/pricing/context-tiers.js';
import { type PriceTables, ratioTable } from '../../domain/pricing/price-tables.js';
import type { TokenQuantity } from '../../domain/pricing/quantities.js';

/* Prices an operator starts from: our built-in tables, and for newer models a maintained price package. */

export type DefaultPrices = Omit<
  PriceTables,
  'nearest' | 'records' | 'reasoningRatio' | 'serviceTiers' | 'groupRatio' | 'toolPrice' | 'quotaPerUnit'
>;

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

const listedModels = () =>
  providerIds.flatMap((providerId) =>
    (findProvider({ providerId })?.models ?? []).map(({ id, match, prices }) => ({ providerId, id, match, prices })),
  );

const namesIn = (match: MatchLogic): readonly string[] => {
  if ('equals' in match) return [match.equals];
  if ('or' in match) return match.or.flatMap(namesIn);
  return [];
};

/** USD of a million; null: none is listed. */
const amount = (price: ModelPrice[string]): number | null => {
  const base = typeof price === 'object' ? price.base : price;
  return base === undefined || base < 0 ? null : base;
};

const isAtLeastAsExpensive = (a: ModelPrice, b: ModelPrice): boolean =>
  (amount(a.input_mtok) ?? 0) >= (amount(b.input_mtok) ?? 0);

type Entries = readonly ConditionalPrice[];

const entriesOf = (prices: Entries | ModelPrice): Entries =>
  Array.isArray(prices) ? (prices as Entries) : [{ prices: prices as ModelPrice }];

/** Midnight in UTC of the day from which an entry holds; null: it has no such day. */
const beginOf = ({ constraint }: ConditionalPrice): Instant | null =>
  constraint?.type === 'start_date' ? Instant(Date.parse(`${constraint.start_date}T00:00:00Z`)) : null;

/**
 * What holds at this instant. Of an entry's list the last one that applies wins. Of prices that depend on the hour the
 * highest is taken: a default must not sell below cost. Prices of the past and of days to come do not count.
 */
function inForce(prices: Entries | ModelPrice, at: Instant): ModelPrice | null {
  let found: ModelPrice | null = null;
  for (const entry of entriesOf(prices).toReversed()) {
    const begin = beginOf(entry);
    if (begin !== null && begin > at) continue;
    found = found === null || isAtLeastAsExpensive(entry.prices, found) ? entry.prices : found;
    if (entry.constraint?.type !== 'time_of_date') break;
  }
  return found;
}

const two = decimalOf(2);

type Tiered = Extract<ModelPrice[string], object>;

const tieredKinds = {
  input: 'input_mtok',
  cachedInput: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  output: 'output_mtok',
} as const;

const isTiered = (price: ModelPrice[string]): price is Tiered =>
  typeof price === 'object' && (price.base ?? 0) > 0 && price.tiers.length > 0;

/** By ascending length. `rounded`: the list names the last length of the tier below as 271,999 for 272,000. */
function tiersOf(prices: ModelPrice, rounded: boolean): ContextTierFactors[] {
  const tiers = new Map<number, Partial<Record<TokenQuantity, string>>>();
  for (const [name, member] of Object.entries(tieredKinds)) {
    const price = prices[member];
    if (!isTiered(price)) continue;
    for (const { start, price: beyond } of price.tiers) {
      const over = rounded && (start + 1) % 1000 === 0 ? start + 1 : start;
      const factors = tiers.get(over) ?? {};
      factors[name as TokenQuantity] = decimalText(ratioOf(decimalOf(beyond), decimalOf(price.base as number)));
      tiers.set(over, factors);
    }
  }
  return [...tiers].sort(([a], [b]) => a - b).map(([over, factors]) => ({ over, factors }));
}

/** What the package lists, as it is at this instant. */
const packagePrices = (at: Instant): NewerPrice[] =>
  listedModels().flatMap(({ providerId, id, match, prices: entries }) => {
    const prices = inForce(entries, at);
    const input = prices === null ? null : amount(prices.input_mtok);
    if (prices === null || input === null) return [];
    const priced = {
      output: prices.output_mtok,
      cachedInput: prices.cache_read_mtok,
      cacheWrite: prices.cache_write_mtok,
      imageInput: prices.input_image_mtok,
      imageOutput: prices.output_image_mtok,
      audioInput: prices.input_audio_mtok,
      audioOutput: prices.output_audio_mtok,
    };
    const dollars = Object.entries(priced).flatMap(([name, price]) => {
      const dollars = amount(price);
      return dollars === null ? [] : [[name, dollars] as const];
    });
    const names = [...new Set([id, ...namesIn(match)])].join(' ');
    return [{ names, input, ...Object.fromEntries(dollars), tiers: tiersOf(prices, providerId === 'openai') }];
  });

/** When the first of the built-in prices changes after this instant: midnight in UTC of a day; null: none is announced. */
export function nextPriceChange(at: Instant): Instant | null {
  let next: Instant | null = null;
  for (const { prices } of listedModels()) {
    for (const entry of entriesOf(prices)) {
      const begin = beginOf(entry);
      if (begin !== null && begin > at && (next === null || begin < next)) next = begin;
    }
  }
  return next;
}

const setIfNew = (table: Map<string, string>, name: string, ratio: string): void => {
  if (!table.has(name)) table.set(name, ratio);
};

/** Of what is sold by the piece. */
const builtInRecords = new Map([...builtInVideoPrices, ...builtInPicturePrices, ...builtInRerankPrices]);

/** As they are at this instant. About 40 ms once, when the package is read; call it at start, not per request. */
export function defaultPrices(at: Instant): DefaultPrices {
  const modelRatio = new Map(ratioTable(builtInModelRatio));
  const completionRatio = new Map(ratioTable(builtInCompletionRatio));
  const cacheRatio = new Map(ratioTable(builtInCacheRatio));
  const cacheWriteRatio = new Map(ratioTable(builtInCacheWriteRatio));
  const imageRatio = new Map(ratioTable(builtInImageRatio));
  const imageOutputRatio = new Map<string, string>();
  const audioRatio = new Map<string, string>();
  const audioOutputRatio = new Map<string, string>();
  const modelPrice = ratioTable(builtInModelPrice);

  const contextTiers = new Map<string, readonly ContextTierFactors[]>();
  const listed = new Set<string>();
  for (const { names, tiers = [], ...dollars } of [...changedPrices, ...packagePrices(at), ...newerPrices]) {
    if (dollars.input === 0) continue;
    const input = decimalOf(dollars.input);
    const relative = (price: number | undefined): string | null =>
      price === undefined ? null : decimalText(ratioAtLeast(decimalOf(price), input));
    const ratios: readonly (readonly [Map<string, string>, string | null])[] = [
      [cacheRatio, relative(dollars.cachedInput)],
      [cacheWriteRatio, relative(dollars.cacheWrite)],
      [imageRatio, relative(dollars.imageInput)],
      [imageOutputRatio, relative(dollars.imageOutput)],
      [audioRatio, relative(dollars.audioInput)],
      [audioOutputRatio, relative(dollars.audioOutput)],
    ];
    const completion = relative(dollars.output);
    for (const name of names.split(' ')) {
      // A model of several lists has the prices of the first: others may be out of date, or a reseller's.
      if (listed.has(name) || modelPrice.has(name) || unpricedSpeech.has(name)) continue;
      listed.add(name);
      if (tiers.length > 0) contextTiers.set(name, tiers);
      const modelRatioListed = ratioOf(input, two);
      const builtIn = modelRatio.get(name);
      // Ours may say what input costs and nothing else: the rest is taken from the list, if it means the same price.
      if (builtIn !== undefined && !isSame(decimal(builtIn), modelRatioListed)) continue;
      modelRatio.set(name, decimalText(modelRatioListed));
      if (completion !== null && !completionRule(name)?.locked) setIfNew(completionRatio, name, completion);
      for (const [table, ratio] of ratios) if (ratio !== null) setIfNew(table, name, ratio);
    }
  }
  return {
    builtInRecords,
    modelRatio,
    modelPrice,
    completionRatio,
    cacheRatio,
    cacheWriteRatio,
    imageRatio,
    imageOutputRatio,
    audioRatio,
    audioOutputRatio,
    contextTiers,
  };
}

/** Built-in prices that are known before they hold. */
export interface AnnouncedPrices {
  /** Midnight in UTC. */
  readonly from: Instant;
  readonly prices: DefaultPrices;
}

/** The next that are announced; null: none are. */
export function announcedPrices(at: Instant): AnnouncedPrices | null {
  const from = nextPriceChange(at);
  return from === null ? null : { from, prices: defaultPrices(from) };
}
