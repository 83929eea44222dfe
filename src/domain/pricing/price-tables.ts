import type { TokenQuantity } from '../call/usage.js';
import { decimal, decimalOf, decimalText, times } from '../kernel/decimal.js';
import { audioRule } from './audio-ratios.js';
import { type CompletionRule, completionRule } from './completion-rules.js';
import type { Price, Rates } from './pricing.js';

/* From an operator's tables to the price of one model for one group. */

export type RatioTable = ReadonlyMap<string, string>;

/** Decimal texts by model or group name. */
export interface PriceTables {
  readonly modelRatio: RatioTable;
  readonly modelPrice: RatioTable;
  readonly completionRatio: RatioTable;
  readonly cacheRatio: RatioTable;
  readonly cacheWriteRatio: RatioTable;
  readonly imageRatio: RatioTable;
  /** Of pictures that are put out, relative to an input token. */
  readonly imageOutputRatio: RatioTable;
  /** Of sound, in and out, both relative to an input token. */
  readonly audioRatio: RatioTable;
  readonly audioOutputRatio: RatioTable;
  readonly reasoningRatio: RatioTable;
  readonly groupRatio: RatioTable;
  /** USD of a thousand calls, by `tool` or `tool:model`; a model may end in `*`. */
  readonly toolPrice: RatioTable;
  readonly quotaPerUnit: string;
}

/** What a model without any price costs where the operator or the user accepts such models. */
const unpricedRatio = '37.5';
const cacheWriteFallback = '1.25';
/** Kept for an hour instead of five minutes. */
const hourFactor = decimal('1.6');
const hourFallback = '2';

export const ratioTable = (entries: Readonly<Record<string, number>>): RatioTable =>
  new Map(Object.entries(entries).map(([name, value]) => [name, decimalText(decimalOf(value))]));

/** Plain words only: these are the names that no operator has listed, and they go into requests and addresses. */
const customAssistant = /^(gpt-4o?-gizmo)[\w.-]{0,128}$/;

/** Custom assistants share one price: their names are folded to the family's wildcard, everywhere and once. */
export const billedName = (model: string): string => {
  const [, family] = customAssistant.exec(model) ?? [];
  return family === undefined ? model : `${family}-*`;
};

export const isPriced = (tables: PriceTables, model: string): boolean => {
  const name = billedName(model);
  return tables.modelPrice.has(name) || tables.modelRatio.has(name);
};

export function completionRatioOf(tables: PriceTables, model: string): CompletionRule {
  const entry = tables.completionRatio.get(model);
  if (model.includes('/') && entry !== undefined) return { ratio: entry, locked: false };
  const rule = completionRule(model);
  if (rule?.locked) return rule;
  return { ratio: entry ?? rule?.ratio ?? '1', locked: false };
}

export const groupRatioOf = (tables: PriceTables, group: string): string => tables.groupRatio.get(group) ?? '1';

/** By tables, which never change: the same few models are priced call after call. */
const knownPrices = new WeakMap<PriceTables, Map<string, Price | null>>();
const maxKnown = 10_000;

/** null: the model has neither price nor ratio and unpriced models are not accepted. The same object for the same price. */
export function priceOf(tables: PriceTables, model: string, group: string, acceptUnpriced: boolean): Price | null {
  let known = knownPrices.get(tables);
  if (known === undefined || known.size >= maxKnown) {
    known = new Map();
    knownPrices.set(tables, known);
  }
  const key = `${acceptUnpriced ? 1 : 0}${group.length} ${group}${model}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const price = workedOut(tables, model, group, acceptUnpriced);
  known.set(key, price);
  return price;
}

function workedOut(tables: PriceTables, model: string, group: string, acceptUnpriced: boolean): Price | null {
  const name = billedName(model);
  const groupRatio = groupRatioOf(tables, group);
  const perCall = tables.modelPrice.get(name);
  if (perCall !== undefined)
    return { per: 'call', price: perCall, quotaPerUnit: tables.quotaPerUnit, group: groupRatio };
  const ratio = tables.modelRatio.get(name) ?? (acceptUnpriced ? unpricedRatio : null);
  if (ratio === null) return null;
  return { per: 'token', model: ratio, ratios: ratiosOf(tables, name), group: groupRatio };
}

/** What differs from the plain tokens of its side. */
function ratiosOf(tables: PriceTables, name: string): Rates<TokenQuantity> {
  const output = completionRatioOf(tables, name).ratio;
  const cacheWrite = tables.cacheWriteRatio.get(name) ?? cacheWriteFallback;
  const cacheWriteHour =
    cacheWrite === cacheWriteFallback ? hourFallback : decimalText(times(decimal(cacheWrite), hourFactor));
  const ratios: Partial<Record<TokenQuantity, string>> = { output, cacheWrite, cacheWriteHour };
  const cached = tables.cacheRatio.get(name);
  if (cached !== undefined) ratios.cachedInput = cached;
  const image = tables.imageRatio.get(name);
  if (image !== undefined) ratios.imageInput = image;
  const drawn = tables.imageOutputRatio.get(name);
  if (drawn !== undefined) ratios.imageOutput = drawn;
  const reasoning = tables.reasoningRatio.get(name);
  if (reasoning !== undefined) ratios.reasoning = reasoning;
  const rule = audioRule(name);
  const audioInput = tables.audioRatio.get(name) ?? rule?.input;
  if (audioInput !== undefined) ratios.audioInput = audioInput;
  const audioOutput = tables.audioOutputRatio.get(name) ?? rule?.output;
  if (audioOutput !== undefined) ratios.audioOutput = audioOutput;
  return ratios;
}
