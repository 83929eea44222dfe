/* The tables of prices as one row for each model, and back. */

export const priceTableKeys = ['ModelPrice', 'ModelRatio', 'CompletionRatio', 'CacheRatio', 'ReasoningRatio'] as const;
export type PriceTableKey = (typeof priceTableKeys)[number];
export const ratioKeys = ['ModelRatio', 'CompletionRatio', 'CacheRatio', 'ReasoningRatio'] as const;
export type RatioKey = (typeof ratioKeys)[number];

type Table = ReadonlyMap<string, number>;
export type PriceTables = Readonly<Record<PriceTableKey, Table>>;

/** null: none is set. */
export type ModelPrices = Readonly<Record<PriceTableKey, number | null>>;
export interface PriceRow {
  readonly name: string;
  readonly prices: ModelPrices;
}

function tableIn(text: string): Table | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const members = Object.entries(value);
    return members.every((member): member is [string, number] => typeof member[1] === 'number')
      ? new Map(members)
      : null;
  } catch {
    return null;
  }
}

/** null: one of the texts is no table, and has to be mended as text. */
export function tablesIn(textOf: (key: PriceTableKey) => string): PriceTables | null {
  const tables = priceTableKeys.map((key) => [key, tableIn(textOf(key))] as const);
  return tables.some(([, table]) => table === null) ? null : (Object.fromEntries(tables) as PriceTables);
}

export const tableText = (table: Table): string => JSON.stringify(Object.fromEntries(table), null, 2);

export const pricesOf = (tables: PriceTables, name: string): ModelPrices =>
  Object.fromEntries(priceTableKeys.map((key) => [key, tables[key].get(name) ?? null])) as ModelPrices;

/** Every model that stands in one of the tables, by name. */
export const priceRows = (tables: PriceTables): readonly PriceRow[] =>
  [...new Set(priceTableKeys.flatMap((key) => [...tables[key].keys()]))]
    .sort()
    .map((name) => ({ name, prices: pricesOf(tables, name) }));

/** What is left out stays as it is; null takes it away. */
export const withPrices = (tables: PriceTables, names: readonly string[], prices: Partial<ModelPrices>): PriceTables =>
  Object.fromEntries(
    priceTableKeys.map((key) => {
      const price = prices[key];
      const table = new Map(tables[key]);
      for (const name of names) {
        if (price === null) table.delete(name);
        else if (price !== undefined) table.set(name, price);
      }
      return [key, table];
    }),
  ) as unknown as PriceTables;

export const nothing: ModelPrices = {
  ModelPrice: null,
  ModelRatio: null,
  CompletionRatio: null,
  CacheRatio: null,
  ReasoningRatio: null,
};

/** US dollars for a million tokens at a ratio of 1. */
const dollarsPerRatio = 2;
/** So that 0.15 ÷ 0.05 is 3. */
const tidy = (value: number): number => Number(value.toPrecision(12));

/** Prices of a million tokens, by the ratio each of them becomes. */
export const asDollars = (prices: ModelPrices, key: RatioKey): number | null => {
  const { ModelRatio } = prices;
  const own = prices[key];
  if (ModelRatio === null || own === null) return null;
  return tidy(key === 'ModelRatio' ? own * dollarsPerRatio : own * ModelRatio * dollarsPerRatio);
};

/** The other way; null where the input costs nothing, of which nothing is a multiple. */
export function ratiosFrom(dollars: Readonly<Record<RatioKey, number | null>>): ModelPrices | null {
  const input = dollars.ModelRatio;
  if (input === null) return null;
  const relative = (price: number | null): number | null => (price === null ? null : tidy(price / input));
  const ratios = {
    ...nothing,
    ModelRatio: tidy(input / dollarsPerRatio),
    CompletionRatio: relative(dollars.CompletionRatio),
    CacheRatio: relative(dollars.CacheRatio),
    ReasoningRatio: relative(dollars.ReasoningRatio),
  };
  return Object.values(ratios).every((ratio) => ratio === null || Number.isFinite(ratio)) ? ratios : null;
}

/** null: nothing was typed; undefined: it is no number from 0. */
export function typedNumber(text: string): number | null | undefined {
  if (text.trim() === '') return null;
  return /^(\d+\.?\d*|\.\d+)$/.test(text.trim()) ? Number(text.trim()) : undefined;
}
