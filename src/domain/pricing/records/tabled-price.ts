import { type Decimal, decimal, decimalText, times } from '../../kernel/decimal.js';
import { billedName, familyRatiosOf, type PriceTables, priceOf, recordIn, withoutNearest } from '../price-tables.js';
import { isOutput, type TokenQuantity } from '../quantities.js';
import type { ModelPrice, TokenRate } from './model-price.js';

/* What the maps of prices, set or built in, say of a model, as a record would say it. */

const two = decimal('2');
const noRecords: PriceTables['records'] = new Map();

const knownWithout = new WeakMap<PriceTables, PriceTables>();

/** The same tables, as if there were no records. One object for the same tables, so that prices are worked out once. */
function withoutRecords(tables: PriceTables): PriceTables {
  if (tables.records.size === 0 && tables.groupRatio.size === 0 && tables.nearest === undefined) return tables;
  let known = knownWithout.get(tables);
  if (known === undefined) {
    known = { ...withoutNearest(tables), records: noRecords, groupRatio: new Map() };
    knownWithout.set(tables, known);
  }
  return known;
}

const inUsd = (ratio: string, input: Decimal): TokenRate => ({ usd: decimalText(times(decimal(ratio), input)) });

/**
 * null: they have no price for it. A kind is left out that costs what the plain tokens of its side do, by the rules of
 * the model's family too: all others are stated, so that none of them moves with the price of another.
 */
export function tabledPrice(tables: PriceTables, model: string): ModelPrice | null {
  const plain = withoutRecords(tables);
  const price = priceOf(plain, model, '', false);
  if (price === null) return null;
  if (price.per === 'call') return { call: price.price };
  const name = billedName(model);
  const builtIn = recordIn(plain, name);
  if (builtIn !== undefined) return builtIn;
  const input = times(decimal(price.model), two);
  const ofFamily = familyRatiosOf(name);
  const isPlain = (quantity: TokenQuantity, ratio: string): boolean =>
    quantity !== 'output' &&
    ratio === (ofFamily[quantity] ?? ratio) &&
    ratio === (isOutput(quantity) ? (price.ratios.output ?? '1') : '1');
  const tokens: Partial<Record<TokenQuantity, TokenRate>> = { input: { usd: decimalText(input) } };
  for (const [quantity, ratio] of Object.entries(price.ratios) as [TokenQuantity, string][])
    if (quantity !== 'input' && !isPlain(quantity, ratio)) tokens[quantity] = inUsd(ratio, input);
  const contextTiers = tables.contextTiers.get(name);
  return { tokens, ...(contextTiers === undefined ? {} : { contextTiers }) };
}

/** What a model costs at present: its record, else what the maps say. null: it has no price. */
export const statedPrice = (tables: PriceTables, model: string): ModelPrice | null =>
  tables.records.get(billedName(model)) ?? tabledPrice(tables, model);
