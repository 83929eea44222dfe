import type { Usage } from '../call/usage.js';
import { decimal, decimalText, times } from '../kernel/decimal.js';
import { longestPrefixMatch } from './model-family.js';
import { billedName, type PriceTables, type RatioTable } from './price-tables.js';
import type { Price } from './pricing.js';
import { isToolCalls, type Quantity, type ToolCalls, toolOf } from './quantities.js';

/* What calls of tools cost that a provider runs by itself: so much a thousand, beside the tokens they bring. */

const perThousand = decimal('0.001');

/** USD of a thousand calls: the entry for this model, for the longest beginning of its name, or for all models. */
export function toolPriceIn(table: RatioTable, tool: string, model: string): string | undefined {
  return (
    table.get(`${tool}:${model}`) ??
    longestPrefixMatch(model, (beginning) => table.get(`${tool}:${beginning}*`)) ??
    table.get(tool)
  );
}

/** USD of one call of the tool: as the record of the model states, or the table; undefined: it has no price. */
export function toolPriceOf(
  { records, toolPrice }: Pick<PriceTables, 'records' | 'toolPrice'>,
  name: ToolCalls,
  model: string,
): string | undefined {
  const own = records.get(billedName(model))?.pieces?.[name];
  if (own !== undefined) return own;
  const thousand = toolPriceIn(toolPrice, toolOf(name), model);
  return thousand === undefined ? undefined : decimalText(times(decimal(thousand), perThousand));
}

/** The price of a call that may call these tools; the same where none of them has one. */
export function withTools(
  price: Price,
  tables: Pick<PriceTables, 'records' | 'toolPrice' | 'quotaPerUnit'>,
  model: string,
  calls: Usage,
): Price {
  const dollars: Partial<Record<ToolCalls, string>> = {};
  for (const name of Object.keys(calls) as Quantity[]) {
    if (!isToolCalls(name)) continue;
    const usd = toolPriceOf(tables, name, model);
    if (usd !== undefined) dollars[name] = usd;
  }
  if (Object.keys(dollars).length === 0) return price;
  const { quotaPerUnit } = tables;
  return { ...price, pieces: { dollars: { ...price.pieces?.dollars, ...dollars }, quotaPerUnit } };
}
