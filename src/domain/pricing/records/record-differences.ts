import type { ContextTierFactors } from '../context-tiers.js';
import type { ModelPrice, PricePeriods, Rates, TokenRate } from './model-price.js';

/* What differs between two statements of a model's price, part by part, for people to read. */

export interface RecordDifference {
  /** The first day of the period it is about; null: the one without. */
  readonly from: string | null;
  /** Path in the record: `tokens.output`, `purchase.call`, `contextTiers.200000.input`, `pictures.1024x1024.high`. */
  readonly part: string;
  /** `$2.5`, `×4`, or a day; null: it is not stated. */
  readonly before: string | null;
  readonly after: string | null;
}

const usd = (amount: string): string => `$${amount}`;
const factor = (amount: string): string => `×${amount}`;
const rateText = (rate: TokenRate): string => ('usd' in rate ? usd(rate.usd) : factor(rate.ratio));

type Parts = Map<string, string>;

/** Of a table by name. */
function addEach<Value>(
  parts: Parts,
  path: string,
  table: { readonly [name: string]: Value | undefined } | undefined,
  text: (value: Value) => string,
): void {
  for (const [name, value] of Object.entries(table ?? {}))
    if (value !== undefined) parts.set(`${path}.${name}`, text(value));
}

function addRates(parts: Parts, path: string, { call, tokens, pieces, pictures = [] }: Rates): void {
  if (call !== undefined) parts.set(`${path}call`, usd(call));
  addEach(parts, `${path}tokens`, tokens, rateText);
  addEach(parts, `${path}pieces`, pieces, usd);
  for (const { size, quality, usd: amount } of pictures)
    parts.set([`${path}pictures`, size ?? 'any', quality ?? 'any'].join('.'), usd(amount));
}

function addTiers(parts: Parts, tiers: readonly ContextTierFactors[] = []): void {
  for (const { over, factors } of tiers) {
    addEach(parts, `contextTiers.${over}`, factors, factor);
    if (Object.keys(factors).length === 0) parts.set(`contextTiers.${over}`, factor('1'));
  }
}

function partsOf(price: ModelPrice): Parts {
  const parts: Parts = new Map();
  addRates(parts, '', price);
  addTiers(parts, price.contextTiers);
  addEach(parts, 'serviceTiers', price.serviceTiers, factor);
  // An empty table says that no tier has a price; none says that the option does.
  if (price.serviceTiers !== undefined && Object.keys(price.serviceTiers).length === 0) parts.set('serviceTiers', '—');
  if (price.purchase !== undefined) addRates(parts, 'purchase.', price.purchase);
  if (price.until !== undefined) parts.set('until', price.until);
  return parts;
}

/** By the first day of each period, in their order. */
const byDay = (periods: PricePeriods): Map<string | null, Parts> =>
  new Map(periods.map((price) => [price.from ?? null, partsOf(price)]));

const noParts: Parts = new Map();

/** null: nothing is stated. */
export function recordDifferences(before: PricePeriods | null, after: PricePeriods | null): RecordDifference[] {
  const [old, next] = [byDay(before ?? []), byDay(after ?? [])];
  const differences: RecordDifference[] = [];
  for (const from of new Set([...old.keys(), ...next.keys()])) {
    const [was, is] = [old.get(from) ?? noParts, next.get(from) ?? noParts];
    for (const part of new Set([...was.keys(), ...is.keys()])) {
      const [one, other] = [was.get(part) ?? null, is.get(part) ?? null];
      if (one !== other) differences.push({ from, part, before: one, after: other });
    }
  }
  return differences;
}
