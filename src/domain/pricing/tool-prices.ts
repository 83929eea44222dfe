import type { Usage } from '../call/usage.js';
import { decimal, decimalText, times } from '../kernel/decimal.js';
import { longestFamily } from './model-family.js';
import type { PriceTables, RatioTable } from './price-tables.js';
import type { Price } from './pricing.js';
import { isToolCalls, type Quantity, type ToolCalls, toolOf } from './quantities.js';

/* What calls of tools cost that a provider runs by itself: so much a thousand, beside the tokens they bring. */

const perThousand = decimal('0.001');

/** USD of a thousand calls: the entry for this model, for the longest beginning of its name, or for all models. */
export function toolPriceIn(table: RatioTable, tool: string, model: string): string | undefined {
  return (
    table.get(`${tool}:${model}`) ??
    longestFamily(model, (beginning) => table.get(`${tool}:${beginning}*`)) ??
    table.get(tool)
  );
}

/** The price of a call that may call these tools; the same where none of them has one. */
export function withTools(
  price: Price,
  { toolPrice, quotaPerUnit }: Pick<PriceTables, 'toolPrice' | 'quotaPerUnit'>,
  model: string,
  calls: Usage,
): Price {
  const dollars: Partial<Record<ToolCalls, string>> = {};
  for (const name of Object.keys(calls) as Quantity[]) {
    if (!isToolCalls(name)) continue;
    const thousand = toolPriceIn(toolPrice, toolOf(name), model);
    if (thousand !== undefined) dollars[name] = decimalText(times(decimal(thousand), perThousand));
  }
  return Object.keys(dollars).length === 0 ? price : { ...price, pieces: { dollars, quotaPerUnit } };
}
