import { type Decimal, decimal, decimalText, isSame, isZero, ratioOf } from '../../kernel/decimal.js';
import { type PriceTables, priceOf, serviceFactorsOf } from '../price-tables.js';
import type { TokenPrice } from '../pricing.js';
import { isOutput, type TokenQuantity, tokenQuantities } from '../quantities.js';
import { quantityRatio } from '../rates.js';
import type { ModelPrice, TokenRate } from '../records/model-price.js';
import type { SourceForm } from './published-price.js';

/*
 * A published price as a record of the price table. What a list cannot say of a model, or does not, is kept of the
 * present price, as far as nothing becomes cheaper by it.
 */

/** These say what longer prompts cost; of the others, the present tiers go on. */
const statesLengths: ReadonlySet<SourceForm> = new Set(['genai-prices', 'litellm']);

export interface PresentPrice {
  readonly tables: PriceTables;
  /** The same tables, with a record of input alone for the model: what the rules of its family say. */
  readonly plainTables: PriceTables;
  /** In force now; null: options or built-in tables say what it costs. */
  readonly record: ModelPrice | null;
}

const ratioTo = (price: TokenPrice, name: TokenQuantity, side: TokenQuantity): Decimal | null => {
  const under = decimal(quantityRatio(price, side));
  return isZero(under) ? null : ratioOf(decimal(quantityRatio(price, name)), under);
};

const isMore = (one: Decimal, other: Decimal): boolean => {
  const scale = Math.max(one.scale, other.scale);
  return one.digits * 10n ** BigInt(scale - one.scale) > other.digits * 10n ** BigInt(scale - other.scale);
};

const one = decimal('1');

/** Kinds that the list does not name and that cost more now than the plain tokens of their direction. */
function keptKinds(model: string, stated: ModelPrice, { tables, plainTables }: PresentPrice): ModelPrice['tokens'] {
  const present = priceOf(tables, model, '', false);
  const plain = priceOf(plainTables, model, '', false);
  const kept: Partial<Record<TokenQuantity, TokenRate>> = {};
  if (present?.per !== 'token' || plain?.per !== 'token') return kept;
  for (const name of tokenQuantities) {
    if (name === 'input' || stated.tokens?.[name] !== undefined || present.ratios[name] === undefined) continue;
    const ratio = ratioTo(present, name, 'input');
    const ofFamily = ratioTo(plain, name, 'input');
    const ofDirection = isOutput(name) && name !== 'output' ? ratioTo(present, name, 'output') : ratio;
    if (ratio === null || ofFamily === null || ofDirection === null) continue;
    if (isMore(ofDirection, one) && !isSame(ratio, ofFamily)) kept[name] = { ratio: decimalText(ratio) };
  }
  return kept;
}

function keptTiers(model: string, stated: ModelPrice, { tables, record }: PresentPrice, form: SourceForm) {
  if (stated.call !== undefined) return undefined;
  if (stated.contextTiers !== undefined || statesLengths.has(form)) return stated.contextTiers;
  return record === null ? tables.contextTiers.get(model) : record.contextTiers;
}

/** Tiers of service that the list prices join those that there are. */
function joinedServiceTiers(model: string, stated: ModelPrice, { tables, record }: PresentPrice) {
  if (stated.serviceTiers === undefined) return record?.serviceTiers;
  const present = serviceFactorsOf(tables, model);
  const isNew = Object.entries(stated.serviceTiers).some(([tier, factor]) => {
    const known = present.get(tier);
    return known === undefined || !isSame(decimal(known), decimal(factor));
  });
  return isNew ? { ...Object.fromEntries(present), ...stated.serviceTiers } : record?.serviceTiers;
}

/** `stated`: what the list says, with the margin. */
export function proposedPrice(model: string, stated: ModelPrice, present: PresentPrice, form: SourceForm): ModelPrice {
  const { tokens, pieces, pictures, contextTiers: _, serviceTiers: __, ...rest } = stated;
  const { record } = present;
  const tiers = keptTiers(model, stated, present, form);
  const services = joinedServiceTiers(model, stated, present);
  const allPieces = { ...record?.pieces, ...pieces };
  const allPictures = pictures ?? record?.pictures;
  return {
    ...rest,
    ...(tokens === undefined ? {} : { tokens: { ...keptKinds(model, stated, present), ...tokens } }),
    ...(Object.keys(allPieces).length === 0 ? {} : { pieces: allPieces }),
    ...(allPictures === undefined ? {} : { pictures: allPictures }),
    ...(tiers === undefined || tiers.length === 0 ? {} : { contextTiers: tiers }),
    ...(services === undefined ? {} : { serviceTiers: services }),
  };
}
