import { decimal, decimalOf, decimalText, times } from '../kernel/decimal.js';
import { factsOf } from '../models/model-facts.js';
import { type CompletionRule, completionRule } from './built-in/completion-rules.js';
import { type ContextTierFactors, tierRatios } from './context-tiers.js';
import { NearestModels } from './nearest-model.js';
import type { Price, PriceRates } from './pricing.js';
import { isVideoSeconds, type PieceQuantity, type TokenQuantity } from './quantities.js';
import type { ModelPrice } from './records/model-price.js';
import { isPricedBy, isSoldByPiece, recordedPrice } from './records/recorded-price.js';
import { type ServiceTierTable, type TierFactors, tierFactorsOf } from './service-tiers.js';

/* From an operator's tables to the price of one model for one group. */

export type RatioTable = ReadonlyMap<string, string>;

/** Models that no table knows cost what the nearest does that one knows. */
interface NearestRule {
  /** Not these: operators have had a price of them, and have taken it away. */
  readonly removed: ReadonlySet<string>;
}

/** Decimal texts by model or group name. What a record states beats the tables. */
export interface PriceTables {
  /** Left out: they have no price. */
  readonly nearest?: NearestRule;
  /** Those in force. */
  readonly records: ReadonlyMap<string, ModelPrice>;
  /** Built in, of models that are sold by the piece: a record or a price per call beats it. Left out: none. */
  readonly builtInRecords?: ReadonlyMap<string, ModelPrice>;
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
  /** By model and ascending length: what is dearer, or cheaper, beyond it. */
  readonly contextTiers: ReadonlyMap<string, readonly ContextTierFactors[]>;
  readonly serviceTiers: ServiceTierTable;
  readonly groupRatio: RatioTable;
  /** USD of a thousand calls, by `tool` or `tool:model`; a model may end in `*`. */
  readonly toolPrice: RatioTable;
  readonly quotaPerUnit: string;
}

/** What a model without any price costs where the operator or the user accepts such models. */
const unpricedRatio = '37.5';
const cacheWriteFallback = '1.25';

export const ratioTable = (entries: Readonly<Record<string, number>>): RatioTable =>
  new Map(Object.entries(entries).map(([name, value]) => [name, decimalText(decimalOf(value))]));

const empty: RatioTable = new Map();

/** What a price is where no table says anything of the model. */
export const noTables: PriceTables = {
  records: new Map(),
  modelRatio: empty,
  modelPrice: empty,
  completionRatio: empty,
  cacheRatio: empty,
  cacheWriteRatio: empty,
  imageRatio: empty,
  imageOutputRatio: empty,
  audioRatio: empty,
  audioOutputRatio: empty,
  reasoningRatio: empty,
  contextTiers: new Map(),
  serviceTiers: new Map(),
  groupRatio: empty,
  toolPrice: empty,
  quotaPerUnit: '1',
};

/** Plain words only: these are the names that no operator has listed, and they go into requests and addresses. */
const customAssistant = /^(gpt-4o?-gizmo)[\w.-]{0,128}$/;

/** Uploads of pictures, which price lists know by either name. */
export const uploads = { name: 'mj_upload', other: 'mj_uploads' } as const;

/** Custom assistants share one price: their names are folded to the family's wildcard, everywhere and once. */
export const billedName = (model: string): string => {
  if (model === uploads.other) return uploads.name;
  const [, family] = customAssistant.exec(model) ?? [];
  return family === undefined ? model : `${family}-*`;
};

/** What is stated or built in as a record of this model; undefined: the maps say what it costs, if anything does. */
export const recordIn = (
  { records, builtInRecords, modelPrice }: Pick<PriceTables, 'records' | 'builtInRecords' | 'modelPrice'>,
  name: string,
): ModelPrice | undefined => records.get(name) ?? (modelPrice.has(name) ? undefined : builtInRecords?.get(name));

/** undefined: nobody says anything of it. */
function ownPrice(tables: PriceTables, name: string): boolean | undefined {
  const record = recordIn(tables, name);
  if (record !== undefined) return isPricedBy(record);
  return tables.modelPrice.has(name) || tables.modelRatio.has(name) ? true : undefined;
}

function* pricedNames({ records, builtInRecords, modelPrice, modelRatio }: PriceTables): Iterable<string> {
  for (const [name, record] of records) if (isPricedBy(record)) yield name;
  for (const table of [modelPrice, modelRatio, builtInRecords ?? empty])
    for (const name of table.keys()) if (!records.has(name)) yield name;
}

/** By tables, which never change. */
const nearestIn = new WeakMap<PriceTables, NearestModels>();

/** Only what is said of each model itself. The same object where that is so already. */
export function withoutNearest(tables: PriceTables): PriceTables {
  if (tables.nearest === undefined) return tables;
  const { nearest: _, ...own } = tables;
  return own;
}

/** The model whose price this one has, though it has none of its own; null: it has its own price, or none. */
export function pricedLike(tables: PriceTables, model: string): string | null {
  // Off for most operators, and asked of every call.
  if (tables.nearest === undefined) return null;
  const name = billedName(model);
  if (tables.nearest.removed.has(name) || ownPrice(tables, name) !== undefined) return null;
  let models = nearestIn.get(tables);
  if (models === undefined) {
    models = new NearestModels(pricedNames(tables));
    nearestIn.set(tables, models);
  }
  return models.of(name);
}

export const isPriced = (tables: PriceTables, model: string): boolean =>
  (ownPrice(tables, billedName(model)) ?? pricedLike(tables, model) !== null) === true;

/** Whether the call as such has the price of this model. */
export function isPricedPerCall(tables: PriceTables, model: string): boolean {
  const name = pricedLike(tables, model) ?? billedName(model);
  const record = tables.records.get(name);
  return record === undefined ? tables.modelPrice.has(name) : record.call !== undefined;
}

/** What the tiers of service of this model multiply its price by. */
export const serviceFactorsOf = (tables: PriceTables, model: string): TierFactors => {
  const name = pricedLike(tables, model) ?? model;
  const own = tables.records.get(billedName(name))?.serviceTiers;
  return own === undefined ? tierFactorsOf(tables.serviceTiers, name) : new Map(Object.entries(own));
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

/**
 * By what a call is sold of a model that is sold by the piece only; null: by tokens, so that such a model has no price.
 * `any`: no call is meant, and whatever the model is sold by is its price.
 */
type SoldBy = PieceQuantity | null | 'any';

/** null: the model has neither price nor ratio and unpriced models are not accepted. The same object for the same price. */
export function priceOf(
  tables: PriceTables,
  model: string,
  group: string,
  acceptUnpriced: boolean,
  soldBy: SoldBy = 'any',
): Price | null {
  let known = knownPrices.get(tables);
  if (known === undefined || known.size >= maxKnown) {
    known = new Map();
    knownPrices.set(tables, known);
  }
  const key = `${acceptUnpriced ? 1 : 0}${soldBy ?? ''} ${group.length} ${group}${model}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const price = workedOut(tables, model, group, { acceptUnpriced, soldBy });
  known.set(key, price);
  return price;
}

interface Terms {
  readonly acceptUnpriced: boolean;
  readonly soldBy: SoldBy;
}

/** Whether a call that is sold so has a price by the record; of video, at one resolution at least. */
function isSold(record: ModelPrice, soldBy: SoldBy): boolean {
  if (soldBy === 'any' || !isSoldByPiece(record)) return isPricedBy(record);
  if (soldBy === null) return false;
  const { pieces = {}, pictures } = record;
  if (soldBy === 'images' && pictures !== undefined) return true;
  return soldBy === 'video'
    ? (Object.keys(pieces) as PieceQuantity[]).some(isVideoSeconds)
    : pieces[soldBy] !== undefined;
}

function workedOut(tables: PriceTables, model: string, group: string, terms: Terms): Price | null {
  const { acceptUnpriced, soldBy } = terms;
  const name = billedName(model);
  const groupRatio = groupRatioOf(tables, group);
  const record = recordIn(tables, name);
  if (record !== undefined) {
    const { quotaPerUnit } = tables;
    if (isSold(record, soldBy)) return recordedPriceOf(record, name, { group: groupRatio, quotaPerUnit });
    return acceptUnpriced ? unpricedBy(record, name, { group: groupRatio, quotaPerUnit }) : null;
  }
  const perCall = tables.modelPrice.get(name);
  if (perCall !== undefined)
    return { per: 'call', price: perCall, quotaPerUnit: tables.quotaPerUnit, group: groupRatio };
  const own = tables.modelRatio.get(name);
  const like = own === undefined ? pricedLike(tables, name) : null;
  const likePrice = like === null ? null : workedOut(tables, like, group, { acceptUnpriced: false, soldBy });
  if (like !== null && likePrice !== null) return { ...likePrice, like };
  const ratio = own ?? (acceptUnpriced ? unpricedRatio : null);
  if (ratio === null) return null;
  const ratios = ratiosOf(tables, name);
  const price = { per: 'token', model: ratio, ratios, group: groupRatio } as const;
  const tiers = tables.contextTiers.get(name);
  return tiers === undefined ? price : { ...price, tiers: tiers.map((tier) => tierRatios(ratios, tier)) };
}

interface RecordedTerms {
  readonly group: string;
  readonly quotaPerUnit: string;
}

/** What the record of a model makes of its price, whatever the tables say. Tokens are free of what is sold by the piece. */
export const recordedPriceOf = (record: ModelPrice, model: string, terms: RecordedTerms): Price =>
  isSoldByPiece(record)
    ? recordedPrice(record, { ...terms, unpricedRatio: '0', familyRatios: ratiosOf(noTables, model) })
    : unpricedBy(record, model, terms);

/** The same, with tokens at the price of models without one where the record states none. */
const unpricedBy = (record: ModelPrice, model: string, terms: RecordedTerms): Price =>
  recordedPrice(record, { ...terms, unpricedRatio, familyRatios: ratiosOf(noTables, model) });

type RateIn = (tables: PriceTables, model: string) => string | undefined;

const cacheWriteRate = ({ cacheWriteRatio }: PriceTables, model: string): string =>
  cacheWriteRatio.get(model) ?? (factsOf(model).paysForCacheWrites ? cacheWriteFallback : '1');

function cacheWriteHourRate(tables: PriceTables, model: string): string {
  const cacheWrite = cacheWriteRate(tables, model);
  const { paysForCacheWrites, lastingCacheWrite } = factsOf(model);
  return paysForCacheWrites ? decimalText(times(decimal(cacheWrite), decimal(lastingCacheWrite))) : cacheWrite;
}

/**
 * Where the rate of each kind of token stands, relative to an input token; undefined: it costs what the plain tokens of
 * its direction do. In the order in which events in the log name them.
 */
const rateIn: Readonly<Record<Exclude<TokenQuantity, 'input'>, RateIn>> = {
  output: (tables, model) => completionRatioOf(tables, model).ratio,
  cacheWrite: cacheWriteRate,
  cacheWriteHour: cacheWriteHourRate,
  cachedInput: ({ cacheRatio }, model) => cacheRatio.get(model),
  imageInput: ({ imageRatio }, model) => imageRatio.get(model),
  imageOutput: ({ imageOutputRatio }, model) => imageOutputRatio.get(model),
  reasoning: ({ reasoningRatio }, model) => reasoningRatio.get(model),
  audioInput: ({ audioRatio }, model) => audioRatio.get(model) ?? factsOf(model).audioPrice?.input,
  cachedAudioInput: (_tables, model) => factsOf(model).audioPrice?.cached,
  audioOutput: ({ audioOutputRatio }, model) => audioOutputRatio.get(model) ?? factsOf(model).audioPrice?.output,
  videoInput: () => undefined,
  videoOutput: () => undefined,
};

function ratiosOf(tables: PriceTables, model: string): PriceRates<TokenQuantity> {
  const ratios: Partial<Record<TokenQuantity, string>> = {};
  for (const name of Object.keys(rateIn) as (keyof typeof rateIn)[]) {
    const ratio = rateIn[name](tables, model);
    if (ratio !== undefined) ratios[name] = ratio;
  }
  return ratios;
}

/** What a kind of token that a record leaves out costs relative to an input token; not named: as the plain ones do. */
export const familyRatiosOf = (model: string): PriceRates<TokenQuantity> => ratiosOf(noTables, model);
