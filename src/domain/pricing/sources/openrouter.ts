import { decimalText } from '../../kernel/decimal.js';
import type { TokenQuantity } from '../quantities.js';
import type { ModelPrice } from '../records/model-price.js';
import { listedAmount, perMillion, positiveIn } from './amounts.js';
import { checkCurrency } from './currency.js';
import { holdsDoubled, isJsonObject, type Json, type ListJson } from './list-json.js';
import { freePeriods, type Listed, type ListedPrice, saysFree } from './listing.js';
import { UnusableEntry } from './published-price.js';

/* OpenRouter's list of models: `vendor/model`, and a `pricing` of texts, in USD of one token, request or piece. */

const tokenMembers: Readonly<Partial<Record<TokenQuantity, string>>> = {
  input: 'prompt',
  cachedInput: 'input_cache_read',
  cacheWrite: 'input_cache_write',
  audioInput: 'audio',
  output: 'completion',
  reasoning: 'internal_reasoning',
};
const read = new Set([...Object.values(tokenMembers), 'request', 'web_search']);

function tokensIn(pricing: Json, makesText: boolean): Partial<Record<TokenQuantity, { usd: string }>> {
  const tokens: Partial<Record<TokenQuantity, { usd: string }>> = {};
  for (const [name, member] of Object.entries(tokenMembers)) {
    const amount = listedAmount(pricing, member, perMillion);
    if (amount !== null && amount.digits !== 0n) tokens[name as TokenQuantity] = { usd: decimalText(amount) };
  }
  if (tokens.input !== undefined && tokens.output === undefined && makesText)
    throw new UnusableEntry('zero', 'completion');
  return tokens;
}

function priceIn(pricing: Json, makesText: boolean): ModelPrice {
  const tokens = tokensIn(pricing, makesText);
  const request = positiveIn(pricing, 'request');
  const search = positiveIn(pricing, 'web_search');
  const pieces = search === null ? {} : { pieces: { 'calls:web_search': decimalText(search) } };
  if (tokens.input === undefined) {
    if (request !== null && Object.keys(tokens).length === 0) return { call: decimalText(request), ...pieces };
    throw new UnusableEntry('zero', 'prompt');
  }
  if (request !== null) throw new UnusableEntry('mixed', 'request');
  return { tokens, ...pieces };
}

const makesText = ({ architecture }: Json): boolean => {
  const outputs: unknown = isJsonObject(architecture) ? architecture.output_modalities : undefined;
  return !Array.isArray(outputs) || outputs.includes('text');
};

const isNothing = (price: unknown): boolean => price === 0 || price === '0' || price === null;

function entryOf(listed: Json): (name: string) => ListedPrice {
  return (name) => {
    const { pricing, id } = listed;
    const vendor = String(id).includes('/') ? String(id).slice(0, String(id).indexOf('/')) : null;
    if (!isJsonObject(pricing)) throw new UnusableEntry('shape-invalid', 'pricing');
    checkCurrency(listed);
    checkCurrency(pricing);
    const isFree =
      saysFree(name) &&
      Object.keys(tokenMembers).length > 0 &&
      isNothing(pricing.prompt) &&
      isNothing(pricing.completion);
    if (isFree) return { vendor, periods: freePeriods, isFree };
    const unread = Object.keys(pricing).filter((member) => !read.has(member) && !isNothing(pricing[member]));
    return { vendor, periods: [priceIn(pricing, makesText(listed))], unread };
  };
}

const modelsIn = (value: unknown): readonly unknown[] =>
  isJsonObject(value) && Array.isArray(value.data) ? (value.data as unknown[]) : [];

export const isOpenRouter = (value: unknown): boolean =>
  modelsIn(value)
    .slice(0, 50)
    .some((item) => isJsonObject(item) && typeof item.id === 'string' && isJsonObject(item.pricing));

export function* openRouterPrices(json: ListJson): Iterable<Listed> {
  for (const item of modelsIn(json.value)) {
    if (!isJsonObject(item) || typeof item.id !== 'string') continue;
    const read = entryOf(item);
    yield {
      model: item.id,
      read(name) {
        if (holdsDoubled(json, item)) throw new UnusableEntry('named-twice');
        return read(name);
      },
    };
  }
}
