import { type Decimal, decimal, decimalText, quotient, ratioOf } from '../../kernel/decimal.js';
import type { ContextTierFactors } from '../context-tiers.js';
import type { PriceRates } from '../pricing.js';
import type { PieceQuantity, TokenQuantity } from '../quantities.js';
import type { ModelPrice, PricePeriods } from '../records/model-price.js';
import { listedAmount, ofThousand, positiveIn } from './amounts.js';
import { holdsDoubled, isJsonObject, type Json, type ListJson } from './list-json.js';
import { freePeriods, type Listed, type ListedPrice, saysFree } from './listing.js';
import { type ReadingTerms, UnusableEntry } from './published-price.js';

/*
 * The data of genai-prices: a list of providers, each with models; prices in USD of a million, by length of the prompt
 * and by day.
 */

/** Their own price lists: what others ask for a model of the same name does not count. */
const firstParties = 'openai anthropic google deepseek x-ai mistral moonshotai cohere groq perplexity'.split(' ');

const tokenMembers: Readonly<Partial<Record<TokenQuantity, string>>> = {
  input: 'input_mtok',
  cachedInput: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWriteHour: 'cache_write_1h_mtok',
  imageInput: 'input_image_mtok',
  audioInput: 'input_audio_mtok',
  cachedAudioInput: 'cache_audio_read_mtok',
  videoInput: 'input_video_mtok',
  output: 'output_mtok',
  reasoning: 'output_reasoning_mtok',
  imageOutput: 'output_image_mtok',
  audioOutput: 'output_audio_mtok',
  videoOutput: 'output_video_mtok',
};
const searches = 'web_searches_kcount';
const hours = 'input_audio_hours';
const readMembers = new Set([...Object.values(tokenMembers), searches, hours, 'requests_kcount']);

/** A price may be a number, or one below the first tier (`base`) and others beyond lengths. */
const baseIn = (prices: Json, member: string): Decimal | null => {
  const price = prices[member];
  return isJsonObject(price) ? listedAmount(price, 'base') : listedAmount(prices, member);
};

/** OpenAI's tiers begin after 272,000 tokens; the list says 271,999. */
const overOf = (start: unknown, member: string, vendor: string): number => {
  if (typeof start !== 'number' || !Number.isSafeInteger(start) || start < 1)
    throw new UnusableEntry('shape-invalid', member);
  return vendor === 'openai' && (start + 1) % 1000 === 0 ? start + 1 : start;
};

const maxTiers = 8;

function tiersIn(prices: Json, vendor: string): ContextTierFactors[] {
  const tiers = new Map<number, Partial<Record<TokenQuantity, string>>>();
  for (const [name, member] of Object.entries(tokenMembers)) {
    const price = prices[member];
    const base = baseIn(prices, member);
    if (!isJsonObject(price) || price.tiers === undefined || base === null || base.digits === 0n) continue;
    if (!Array.isArray(price.tiers) || price.tiers.length > maxTiers) throw new UnusableEntry('shape-invalid', member);
    for (const tier of price.tiers as unknown[]) {
      if (!isJsonObject(tier)) throw new UnusableEntry('shape-invalid', member);
      const over = overOf(tier.start, member, vendor);
      const beyond = positiveIn(tier, 'price');
      if (beyond === null) throw new UnusableEntry('zero', member);
      tiers.set(over, { ...tiers.get(over), [name]: decimalText(ratioOf(beyond, base)) });
    }
  }
  return [...tiers].sort(([a], [b]) => a - b).map(([over, factors]) => ({ over, factors }));
}

const secondsOfHour = decimal('3600');

function piecesIn(prices: Json, vendor: string, hasTokens: boolean): PriceRates<PieceQuantity> {
  const search = positiveIn(prices, searches, ofThousand);
  const hour = hasTokens ? null : positiveIn(prices, hours);
  return {
    ...(search === null
      ? {}
      : { [vendor === 'google' ? 'calls:google_search' : 'calls:web_search']: decimalText(search) }),
    ...(hour === null ? {} : { seconds: decimalText(quotient(hour, secondsOfHour, 12)) }),
  };
}

function priceIn(prices: unknown, vendor: string): ModelPrice {
  if (!isJsonObject(prices)) throw new UnusableEntry('shape-invalid', 'prices');
  const tokens: Partial<Record<TokenQuantity, { usd: string }>> = {};
  let isZero = false;
  for (const [name, member] of Object.entries(tokenMembers)) {
    const amount = baseIn(prices, member);
    if (amount?.digits === 0n) isZero ||= name === 'input';
    else if (amount !== null) tokens[name as TokenQuantity] = { usd: decimalText(amount) };
  }
  const hasTokens = tokens.input !== undefined;
  const pieces = piecesIn(prices, vendor, hasTokens);
  const call = positiveIn(prices, 'requests_kcount', ofThousand);
  if (call !== null && Object.keys(tokens).length > 0) throw new UnusableEntry('mixed', 'requests_kcount');
  const named = Object.keys(pieces).length > 0 ? { pieces } : {};
  if (call !== null) return { call: decimalText(call), ...named };
  if (!hasTokens) {
    if (pieces.seconds !== undefined) return named;
    throw isZero ? new UnusableEntry('zero', 'input_mtok') : new UnusableEntry('not-counted', Object.keys(prices)[0]);
  }
  const contextTiers = tiersIn(prices, vendor);
  return { tokens, ...named, ...(contextTiers.length > 0 ? { contextTiers } : {}) };
}

interface Dated {
  /** '': it has always held. */
  readonly from: string;
  readonly price: ModelPrice;
}

const day = /^\d{4}-\d{2}-\d{2}$/;

const basePrice = ({ tokens, call }: ModelPrice): number => {
  const input = tokens?.input;
  return Number(input !== undefined && 'usd' in input ? input.usd : (call ?? 0));
};

/** Of prices that depend on the hour the highest is taken: nothing is to be sold below cost. */
function datedIn(list: readonly unknown[], vendor: string): Dated[] {
  const dated = new Map<string, ModelPrice>();
  for (const item of list) {
    if (!isJsonObject(item)) throw new UnusableEntry('shape-invalid', 'prices');
    const { constraint } = item;
    const from = isJsonObject(constraint) && constraint.type === 'start_date' ? constraint.start_date : '';
    if (typeof from !== 'string' || (from !== '' && !(day.test(from) && Date.parse(from) >= 0)))
      throw new UnusableEntry('shape-invalid', 'start_date');
    const price = priceIn(item.prices, vendor);
    const hourly = isJsonObject(constraint) && constraint.type !== 'start_date';
    const known = dated.get(from);
    if (known === undefined || !hourly || basePrice(price) > basePrice(known)) dated.set(from, price);
  }
  return [...dated].map(([from, price]) => ({ from, price })).sort((a, b) => (a.from < b.from ? -1 : 1));
}

/** The last that began, and what is announced. */
function periodsOf(dated: readonly Dated[], today: string): PricePeriods {
  const current = dated.findLastIndex(({ from }) => from <= today);
  const kept = dated.slice(Math.max(current, 0));
  return kept.map(({ from, price }) => (from <= today ? price : { ...price, from }));
}

const namesIn = (match: unknown, depth = 0): string[] => {
  if (!isJsonObject(match) || depth > 4) return [];
  if (typeof match.equals === 'string') return [match.equals];
  return Array.isArray(match.or) ? match.or.flatMap((part) => namesIn(part, depth + 1)) : [];
};

function entryOf(model: Json, vendor: string, today: string): (name: string) => ListedPrice {
  return (name) => {
    const { prices } = model;
    const isEmpty = isJsonObject(prices) && Object.keys(prices).length === 0;
    if (isEmpty && saysFree(name)) return { vendor, periods: freePeriods, isFree: true };
    const dated = Array.isArray(prices) ? datedIn(prices, vendor) : [{ from: '', price: priceIn(prices, vendor) }];
    const now = Array.isArray(prices) ? prices.flatMap((item) => (isJsonObject(item) ? [item.prices] : [])) : [prices];
    const members = new Set(now.flatMap((item) => (isJsonObject(item) ? Object.keys(item) : [])));
    return {
      vendor,
      periods: periodsOf(dated, today),
      unread: [...members].filter((member) => !readMembers.has(member)),
    };
  };
}

function* entriesOf(json: ListJson, provider: Json, today: string): Iterable<Listed> {
  const vendor = typeof provider.id === 'string' ? provider.id : '';
  const isFirst = firstParties.includes(vendor);
  for (const model of Array.isArray(provider.models) ? (provider.models as unknown[]) : []) {
    if (!isJsonObject(model) || typeof model.id !== 'string') continue;
    const entry = entryOf(model, vendor, today);
    const read = (name: string): ListedPrice => {
      if (holdsDoubled(json, model)) throw new UnusableEntry('named-twice');
      return entry(name);
    };
    for (const name of new Set([model.id, ...namesIn(model.match)])) yield { model: name, read, isFirst };
  }
}

const providersIn = (value: unknown): readonly unknown[] | null => {
  const list = isJsonObject(value) ? value.providers : value;
  return Array.isArray(list) ? list : null;
};

export const isGenaiPrices = (value: unknown): boolean =>
  providersIn(value)?.some((item) => isJsonObject(item) && typeof item.id === 'string' && Array.isArray(item.models)) ??
  false;

export function* genaiPrices(json: ListJson, { today }: ReadingTerms): Iterable<Listed> {
  const providers = (providersIn(json.value) ?? []).filter(isJsonObject);
  const rank = ({ id }: Json): number => {
    const found = firstParties.indexOf(String(id));
    return found < 0 ? firstParties.length : found;
  };
  for (const provider of providers.sort((one, other) => rank(one) - rank(other)))
    yield* entriesOf(json, provider, today);
}
