import { type Decimal, decimal, decimalText, larger, ratioOf } from '../../kernel/decimal.js';
import type { ContextTierFactors } from '../context-tiers.js';
import type { PriceRates } from '../pricing.js';
import type { PieceQuantity, TokenQuantity } from '../quantities.js';
import type { ModelPrice } from '../records/model-price.js';
import { listedAmount, perMillion, positiveIn } from './amounts.js';
import { checkCurrency } from './currency.js';
import { holdsDoubled, isJsonObject, type Json, type ListJson } from './list-json.js';
import { freePeriods, type Listed, type ListedPrice, saysFree } from './listing.js';
import { isPictureName, picturePrices } from './litellm-pictures.js';
import { UnusableEntry } from './published-price.js';

/*
 * LiteLLM's model_prices_and_context_window.json: an object by model, prices in USD of one token or one piece. Members
 * end in `_above_200k_tokens` for longer prompts, and in the name of a service tier.
 */

const tokenMembers: Readonly<Partial<Record<TokenQuantity, readonly string[]>>> = {
  input: ['input_cost_per_token'],
  cachedInput: ['cache_read_input_token_cost', 'input_cost_per_token_cache_hit'],
  cacheWrite: ['cache_creation_input_token_cost'],
  cacheWriteHour: ['cache_creation_input_token_cost_above_12hr', 'cache_creation_input_token_cost_above_1hr'],
  imageInput: ['input_cost_per_image_token'],
  audioInput: ['input_cost_per_audio_token'],
  cachedAudioInput: ['cache_read_input_audio_token_cost'],
  videoInput: ['input_cost_per_video_token'],
  output: ['output_cost_per_token'],
  reasoning: ['output_cost_per_reasoning_token'],
  imageOutput: ['output_cost_per_image_token'],
  audioOutput: ['output_cost_per_audio_token'],
  videoOutput: ['output_cost_per_video_token'],
};
const members = Object.entries(tokenMembers) as [TokenQuantity, readonly string[]][];

/** Of the members, the first that is there. */
function tokenPrice(entry: Json, names: readonly string[], suffix = ''): Decimal | null {
  for (const name of names) {
    const amount = listedAmount(entry, `${name}${suffix}`, perMillion);
    if (amount !== null) return amount;
  }
  return null;
}

type Dollars = Map<TokenQuantity, Decimal>;

/** Nothing is put out by these: an output of 0 is none. */
const withoutOutput = new Set(['embedding', 'rerank', 'moderation', 'evaluation', 'decisions', 'audio_transcription']);

function tokensIn(entry: Json): Dollars {
  const dollars: Dollars = new Map();
  for (const [name, listed] of members) {
    const amount = tokenPrice(entry, listed);
    if (amount !== null) dollars.set(name, amount);
  }
  const isStated = (name: TokenQuantity): boolean => (dollars.get(name)?.digits ?? 0n) > 0n;
  const output = dollars.get('output');
  if (isStated('input') && output?.digits === 0n && !isStated('audioOutput') && !isStated('imageOutput')) {
    if (!withoutOutput.has(String(entry.mode))) throw new UnusableEntry('zero', 'output_cost_per_token');
  }
  for (const [name, amount] of dollars) if (amount.digits === 0n) dollars.delete(name);
  return dollars;
}

const lengthMember = /_above_(\d{1,6})k_tokens$/;
const maxTiers = 8;

/** xAI's longer prompts begin with their bound, those of others after it. */
const overOf = (thousands: number, entry: Json): number =>
  thousands * 1000 - (entry.litellm_provider === 'xai' ? 1 : 0);

function rangesIn(entry: Json, base: Dollars): ContextTierFactors[] {
  const { tiered_pricing: ranges } = entry;
  if (!Array.isArray(ranges) || ranges.length > maxTiers) throw new UnusableEntry('shape-invalid', 'tiered_pricing');
  return (ranges as unknown[]).slice(1).map((range) => {
    const over: unknown = isJsonObject(range) && Array.isArray(range.range) ? range.range[0] : undefined;
    if (!isJsonObject(range) || typeof over !== 'number' || !Number.isSafeInteger(over) || over < 1)
      throw new UnusableEntry('shape-invalid', 'tiered_pricing');
    return { over, factors: factorsIn(range, base, '') };
  });
}

function factorsIn(entry: Json, base: Dollars, suffix: string): Partial<Record<TokenQuantity, string>> {
  const factors: Partial<Record<TokenQuantity, string>> = {};
  for (const [name, listed] of members) {
    const usual = base.get(name);
    const beyond = usual === undefined ? null : tokenPrice(entry, listed, suffix);
    if (usual === undefined || beyond === null) continue;
    if (beyond.digits === 0n) throw new UnusableEntry('zero', `${listed[0]}${suffix}`);
    factors[name] = decimalText(ratioOf(beyond, usual));
  }
  return factors;
}

function tiersIn(entry: Json, base: Dollars): ContextTierFactors[] {
  if (entry.tiered_pricing !== undefined) return rangesIn(entry, base);
  const lengths = new Set<number>();
  for (const member of Object.keys(entry)) {
    const thousands = Number(lengthMember.exec(member)?.[1] ?? 0);
    if (thousands > 0) lengths.add(thousands);
  }
  if (lengths.size > maxTiers) throw new UnusableEntry('shape-invalid', 'input_cost_per_token_above');
  return [...lengths]
    .sort((one, other) => one - other)
    .map((thousands) => ({
      over: overOf(thousands, entry),
      factors: factorsIn(entry, base, `_above_${thousands}k_tokens`),
    }))
    .filter(({ factors }) => factors.input !== undefined || factors.output !== undefined);
}

const tiers = ['priority', 'flex', 'ultrafast'];

/** A tier has one factor here; of those of input and output the larger is taken. */
function serviceTiersIn(entry: Json, base: Dollars): Record<string, string> {
  const found: Record<string, string> = {};
  for (const tier of tiers) {
    const { input, output } = factorsIn(entry, base, `_${tier}`);
    const [first, second = first] = [input, output].filter((factor) => factor !== undefined);
    if (first !== undefined && second !== undefined) found[tier] = decimalText(larger(decimal(first), decimal(second)));
  }
  return found;
}

const googleProviders = /^(gemini|vertex_ai)/;

/** Of searches by size the most expensive: a caller may choose. */
function toolsIn(entry: Json): PriceRates<PieceQuantity> {
  const sizes = entry.search_context_cost_per_query;
  let search: Decimal | null = null;
  if (sizes !== undefined) {
    if (!isJsonObject(sizes)) throw new UnusableEntry('shape-invalid', 'search_context_cost_per_query');
    for (const size of Object.keys(sizes)) {
      const amount = positiveIn(sizes, size);
      search = search === null || amount === null ? (search ?? amount) : larger(search, amount);
    }
  }
  const isGoogle = googleProviders.test(String(entry.litellm_provider));
  const maps = positiveIn(entry, 'google_maps_grounding_cost_per_query');
  const container = positiveIn(entry, 'code_interpreter_cost_per_session');
  return {
    ...(search === null ? {} : { [isGoogle ? 'calls:google_search' : 'calls:web_search']: decimalText(search) }),
    ...(maps === null ? {} : { 'calls:google_maps': decimalText(maps) }),
    ...(container === null ? {} : { 'calls:code_interpreter': decimalText(container) }),
  };
}

/** What has a price by the piece and none by the token. */
function piecesIn(entry: Json): PriceRates<PieceQuantity> {
  const pieces: Partial<Record<PieceQuantity, string>> = {};
  const take = (quantity: PieceQuantity, ...names: readonly string[]): void => {
    for (const name of names) {
      const amount = positiveIn(entry, name);
      if (amount !== null) pieces[quantity] ??= decimalText(amount);
    }
  };
  take('seconds', 'input_cost_per_second', 'input_cost_per_audio_per_second');
  take('characters', 'input_cost_per_character');
  const { mode } = entry;
  if (mode === 'video_generation') return { ...pieces, ...videoPieces(entry) };
  if (mode === 'rerank') take('searchUnits', 'input_cost_per_query');
  if (mode === 'image_generation' || mode === 'image_edit')
    take('images', 'output_cost_per_image', 'input_cost_per_image');
  return pieces;
}

const videoMembers = ['output_cost_per_second', 'output_cost_per_video_per_second'];
const resolutions = ['480p', '720p', '1080p', '4k'] as const;

/**
 * The plain member is what the usual resolution costs, whichever that is, so it holds for those that are not named. None
 * of these is cheaper than a smaller one that is named.
 */
function videoPieces(entry: Json): PriceRates<PieceQuantity> {
  const amountOf = (suffix: string): Decimal | null =>
    videoMembers.map((member) => positiveIn(entry, `${member}${suffix}`)).find((amount) => amount !== null) ?? null;
  const usual = amountOf('');
  const pieces: Partial<Record<PieceQuantity, string>> = usual === null ? {} : { video: decimalText(usual) };
  let smaller: Decimal | null = null;
  for (const resolution of resolutions) {
    const named: Decimal | null = amountOf(`_${resolution}`);
    if (named === null && smaller === null) continue;
    const amount: Decimal | null = named ?? (usual === null || smaller === null ? null : larger(usual, smaller));
    if (amount !== null) pieces[`video:${resolution}`] = decimalText(amount);
    smaller = amount ?? smaller;
  }
  return pieces;
}

const isCost = /cost/;
const isRead = (member: string): boolean =>
  members.some(([, names]) => names.some((name) => member.startsWith(name))) ||
  /^(search_context_cost|google_maps_grounding_cost|code_interpreter_cost)/.test(member);

function priceIn(entry: Json): { readonly price: ModelPrice; readonly unread: readonly string[] } {
  const base = tokensIn(entry);
  const unread = Object.keys(entry).filter((member) => isCost.test(member) && !isRead(member) && entry[member] !== 0);
  const tools = toolsIn(entry);
  if (!base.has('input')) {
    const pieces = piecesIn(entry);
    const call = positiveIn(entry, 'input_cost_per_request');
    if (Object.keys(pieces).length > 0) return { price: { pieces: { ...pieces, ...tools } }, unread: [] };
    if (call !== null && base.size === 0) return { price: { call: decimalText(call) }, unread: [] };
    const isZero = unread.length === 0 && listedAmount(entry, 'input_cost_per_token') !== null;
    throw isZero
      ? new UnusableEntry('zero', 'input_cost_per_token')
      : new UnusableEntry('not-counted', unread[0] ?? null);
  }
  if (positiveIn(entry, 'input_cost_per_request') !== null) throw new UnusableEntry('mixed', 'input_cost_per_request');
  const contextTiers = tiersIn(entry, base);
  const serviceTiers = serviceTiersIn(entry, base);
  const price: ModelPrice = {
    tokens: Object.fromEntries([...base].map(([name, amount]) => [name, { usd: decimalText(amount) }])),
    ...(Object.keys(tools).length > 0 ? { pieces: tools } : {}),
    ...(contextTiers.length > 0 ? { contextTiers } : {}),
    ...(Object.keys(serviceTiers).length > 0 ? { serviceTiers } : {}),
  };
  return { price, unread };
}

/** Some state the shortest prompts as the first of several ranges, and nothing beside them. */
function withFirstRange(entry: Json): Json {
  const first: unknown = Array.isArray(entry.tiered_pricing) ? entry.tiered_pricing[0] : undefined;
  return isJsonObject(first) && entry.input_cost_per_token === undefined ? { ...entry, ...first } : entry;
}

const vendorOf = (entry: Json): string | null =>
  typeof entry.litellm_provider === 'string' ? entry.litellm_provider.slice(0, 64) : null;

function entryOf(entry: unknown): (model: string) => ListedPrice {
  return (model) => {
    if (!isJsonObject(entry)) throw new UnusableEntry('shape-invalid');
    checkCurrency(entry);
    const isFree = saysFree(model) && tokenPrice(entry, ['input_cost_per_token'])?.digits === 0n;
    if (isFree) return { vendor: vendorOf(entry), periods: freePeriods, isFree };
    const { price, unread } = priceIn(withFirstRange(entry));
    return { vendor: vendorOf(entry), periods: [price], unread };
  };
}

const isCosts = (entry: unknown): boolean =>
  isJsonObject(entry) && Object.keys(entry).some((member) => isCost.test(member)) && !('pricing' in entry);

/** An object of models, most of them with a provider or a mode. */
export const isLitellm = (value: unknown): boolean =>
  isJsonObject(value) && !('data' in value) && Object.values(value).slice(0, 50).some(isCosts);

export function* litellmPrices(json: ListJson): Iterable<Listed> {
  const value = json.value as Json;
  for (const [model, entry] of Object.entries(value)) {
    if (model === 'sample_spec' || isPictureName(model)) continue;
    const read = entryOf(entry);
    yield {
      model,
      read(name) {
        if (json.doubled.get(value)?.has(model) || holdsDoubled(json, entry)) throw new UnusableEntry('named-twice');
        return read(name);
      },
    };
  }
  yield* picturePrices(value);
}
