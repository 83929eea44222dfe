import { type Decimal, decimal, decimalText, times } from '../../kernel/decimal.js';
import type { TokenQuantity } from '../quantities.js';
import type { ModelPrice, TokenRate } from '../records/model-price.js';
import { positiveIn } from './amounts.js';
import { checkCurrency } from './currency.js';
import { holdsDoubled, isJsonObject, type Json, type ListJson } from './list-json.js';
import { freePeriods, type Listed, type ListedPrice, saysFree } from './listing.js';
import { UnusableEntry } from './published-price.js';

/*
 * What servers of the one-api family publish: ratios by model, 1 being 2 USD of a million tokens of input, or a price in
 * USD of a call. As tables (`/api/ratio_config`) or as a list of models (`/api/pricing`).
 */

const dollarsOfRatio = decimal('2');

/** Members of a model, relative to its input. */
const ratioMembers: Readonly<Partial<Record<TokenQuantity, string>>> = {
  output: 'completion_ratio',
  cachedInput: 'cache_ratio',
  cacheWrite: 'create_cache_ratio',
  imageInput: 'image_ratio',
  audioInput: 'audio_ratio',
};

const ratioOfSound = (entry: Json, sound: Decimal | null): Decimal | null => {
  const out = positiveIn(entry, 'audio_completion_ratio');
  return sound === null || out === null ? null : times(sound, out);
};

function tokenPrice(entry: Json): ModelPrice {
  const input = positiveIn(entry, 'model_ratio', dollarsOfRatio);
  if (input === null) throw new UnusableEntry('zero', 'model_ratio');
  const tokens: Partial<Record<TokenQuantity, TokenRate>> = { input: { usd: decimalText(input) } };
  for (const [name, member] of Object.entries(ratioMembers)) {
    const ratio = positiveIn(entry, member);
    if (ratio !== null) tokens[name as TokenQuantity] = { ratio: decimalText(ratio) };
  }
  const spoken = ratioOfSound(entry, positiveIn(entry, 'audio_ratio'));
  if (spoken !== null) tokens.audioOutput = { ratio: decimalText(spoken) };
  return { tokens };
}

function callPrice(entry: Json): ModelPrice {
  const call = positiveIn(entry, 'model_price');
  if (call === null) throw new UnusableEntry('zero', 'model_price');
  return { call: decimalText(call) };
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === 0 || value === '0';

/** `isCall`: it has a price of its own, whatever is used. */
function entryOf(entry: Json, isCall: boolean, vendor: string | null, name: string): ListedPrice {
  checkCurrency(entry);
  const stated = entry[isCall ? 'model_price' : 'model_ratio'];
  if (saysFree(name) && isNothing(stated)) return { vendor, periods: freePeriods, isFree: true };
  return { vendor, periods: [isCall ? callPrice(entry) : tokenPrice(entry)] };
}

const tables = ['model_ratio', 'model_price', 'completion_ratio', 'cache_ratio', 'create_cache_ratio', 'image_ratio'];
const soundTables = ['audio_ratio', 'audio_completion_ratio'];

const dataIn = (value: unknown): unknown => (isJsonObject(value) && 'data' in value ? value.data : value);

export const isRatioConfig = (value: unknown): boolean => {
  const data = dataIn(value);
  return isJsonObject(data) && (isJsonObject(data.model_ratio) || isJsonObject(data.model_price));
};

export function* ratioConfig(json: ListJson): Iterable<Listed> {
  const data = dataIn(json.value) as Json;
  const named = [...tables, ...soundTables].flatMap((table) => {
    const ratios = data[table];
    return isJsonObject(ratios) ? [[table, ratios] as const] : [];
  });
  const priced = named.filter(([table]) => table === 'model_ratio' || table === 'model_price');
  for (const model of new Set(priced.flatMap(([, ratios]) => Object.keys(ratios)))) {
    yield {
      model,
      read(name) {
        if (named.some(([, ratios]) => json.doubled.get(ratios)?.has(model))) throw new UnusableEntry('named-twice');
        const entry = Object.fromEntries(
          named.filter(([, ratios]) => Object.hasOwn(ratios, model)).map(([table, ratios]) => [table, ratios[model]]),
        );
        return entryOf(entry, 'model_price' in entry, null, name);
      },
    };
  }
}

const modelsIn = (value: unknown): readonly unknown[] => {
  const data = dataIn(value);
  return Array.isArray(data) ? (data as unknown[]) : [];
};

export const isPricingList = (value: unknown): boolean =>
  modelsIn(value)
    .slice(0, 50)
    .some((item) => isJsonObject(item) && typeof item.model_name === 'string' && 'quota_type' in item);

const vendorOf = ({ vendor, owner_by: owner }: Json): string | null => {
  const named = [vendor, owner].find((text) => typeof text === 'string' && text !== '' && text.length <= 64);
  return named === undefined ? null : String(named);
};

function pricedItem(item: Json, name: string): ListedPrice {
  const { quota_type: kind, billing_mode: mode } = item;
  if (kind !== 0 && kind !== 1) throw new UnusableEntry('shape-invalid', 'quota_type');
  // Priced by an expression of that server's own.
  if (typeof mode === 'string' && mode.includes('expr')) throw new UnusableEntry('not-counted', 'billing_mode');
  return entryOf(item, kind === 1, vendorOf(item), name);
}

export function* pricingList(json: ListJson): Iterable<Listed> {
  for (const item of modelsIn(json.value)) {
    if (!isJsonObject(item) || typeof item.model_name !== 'string') continue;
    yield {
      model: item.model_name,
      read(name) {
        if (holdsDoubled(json, item)) throw new UnusableEntry('named-twice');
        return pricedItem(item, name);
      },
    };
  }
}
