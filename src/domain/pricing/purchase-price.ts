import type { Usage } from '../call/usage.js';
import { add, type Decimal, decimal, integer, isDecimal, isNegative, larger, times, ZERO } from '../kernel/decimal.js';
import { invalidField } from '../kernel/failure.js';
import { isOutput, isPieces, type Quantity } from './quantities.js';

/*
 * What a channel's provider charges the operator, by model: member `purchase_prices` of the channel's setting. US dollars, of
 * a million tokens or of a call. `*` stands for every model that is not named.
 */

export interface PurchasePrice {
  readonly input: Decimal;
  readonly cachedInput: Decimal;
  readonly cacheWrite: Decimal;
  readonly output: Decimal;
  readonly call: Decimal;
  /** Tokens cost something, so what is no token does too, and nobody has said what. */
  readonly isByToken: boolean;
}

export type PurchasePrices = ReadonlyMap<string, PurchasePrice>;

const field = 'setting';
const members = ['input', 'cached_input', 'cache_write', 'output', 'call'] as const;
const maxModels = 2_000;
const maxPrice = decimal('1000000');
const perToken = decimal('0.000001');

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A number, or decimal text; null: neither, or out of bounds. */
function priceIn(value: unknown): Decimal | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > 40 || !isDecimal(text)) return null;
  const price = decimal(text);
  return isNegative(price) || larger(price, maxPrice) !== maxPrice ? null : price;
}

/** Throws `invalid-field` for prices that are none. */
export function checkPurchasePrices(prices: unknown): void {
  if (prices === undefined) return;
  if (!isObject(prices))
    throw invalidField(field, 'a JSON object whose purchase_prices is an object of prices by model');
  const models = Object.entries(prices);
  if (models.length > maxModels) throw invalidField(field, `purchase_prices of at most ${maxModels} models`);
  for (const [model, price] of models) {
    const where = `purchase_prices of ${JSON.stringify(model.slice(0, 64))}`;
    if (!isObject(price) || Object.keys(price).some((name) => !(members as readonly string[]).includes(name)))
      throw invalidField(field, `${where} as an object of ${members.join(', ')}`);
    for (const [name, value] of Object.entries(price))
      if (priceIn(value) === null) throw invalidField(field, `${where} whose ${name} is US dollars from 0 to 1000000`);
    if (price.call === undefined && (price.input === undefined || price.output === undefined))
      throw invalidField(field, `${where} with input and output, or with call`);
  }
}

function givenIn(setting: string | null): Readonly<Record<string, unknown>> | null {
  if (!setting?.includes('purchase_prices')) return null;
  const whole = jsonIn(setting);
  const given = isObject(whole) ? whole.purchase_prices : undefined;
  return isObject(given) ? given : null;
}

/** A setting that says only these prices; null: it says none. */
export function purchasePricesAlone(setting: string | null): string | null {
  const given = givenIn(setting);
  return given === null ? null : JSON.stringify({ purchase_prices: given });
}

/** Of a channel's setting, whoever wrote it; what is no price is left out. */
export function purchasePricesIn(setting: string | null): PurchasePrices {
  const prices = new Map<string, PurchasePrice>();
  const given = givenIn(setting);
  if (given === null) return prices;
  for (const [model, price] of Object.entries(given).slice(0, maxModels)) {
    if (!isObject(price)) continue;
    const input = priceIn(price.input) ?? ZERO;
    prices.set(model, {
      ...{ input, output: priceIn(price.output) ?? ZERO, call: priceIn(price.call) ?? ZERO },
      cachedInput: priceIn(price.cached_input) ?? input,
      cacheWrite: priceIn(price.cache_write) ?? input,
      isByToken: price.input !== undefined || price.output !== undefined,
    });
  }
  return prices;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** By what upstream calls the model, else by what callers do. null: nobody has said. */
export const purchasePriceOf = (
  prices: PurchasePrices,
  { upstreamModel, model }: { readonly upstreamModel: string | null; readonly model: string },
): PurchasePrice | null => prices.get(upstreamModel ?? model) ?? prices.get(model) ?? prices.get('*') ?? null;

const rateOfTokens = (price: PurchasePrice, name: Quantity): Decimal => {
  if (isOutput(name)) return price.output;
  if (name === 'cachedInput' || name === 'cachedAudioInput') return price.cachedInput;
  return name === 'cacheWrite' || name === 'cacheWriteHour' ? price.cacheWrite : price.input;
};

/** What a call cost in US dollars, exactly. null: it used something beside tokens, and nobody has said what that costs. */
export function purchaseCost(usage: Usage, price: PurchasePrice): Decimal | null {
  let cost = price.call;
  for (const [name, count] of Object.entries(usage) as [Quantity, number][]) {
    if (!(count > 0)) continue;
    if (isPieces(name)) {
      if (price.isByToken) return null;
      continue;
    }
    cost = add(cost, times(times(integer(count), perToken), rateOfTokens(price, name)));
  }
  return cost;
}

/** What upstream said that it charges, in US dollars; null: nothing. */
export const statedCost = (upstreamCost: string | null | undefined): Decimal | null =>
  typeof upstreamCost === 'string' && isDecimal(upstreamCost) ? decimal(upstreamCost) : null;

/** Of one token each. null: cache writes cost otherwise than input, or calls cost something, so tokens do not tell. */
export const tokenRatesOf = ({ input, cachedInput, cacheWrite, output, call }: PurchasePrice) =>
  cacheWrite === input && call.digits === 0n
    ? { prompt: times(input, perToken), cached: times(cachedInput, perToken), output: times(output, perToken) }
    : null;
