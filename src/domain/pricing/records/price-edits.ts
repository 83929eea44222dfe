import { type Decimal, decimal, decimalText, integer, quotient, times } from '../../kernel/decimal.js';
import type { Instant } from '../../kernel/instant.js';
import type { PieceQuantity, TokenQuantity } from '../quantities.js';
import type { ModelPrice, PicturePrice, PricePeriods, Rates, TokenRate } from './model-price.js';
import { startOfDay } from './price-records.js';

/* One change of many prices at once, worked out before anything is stored. */

/** What can be set by itself. */
export type PricePart =
  | { readonly of: 'call' }
  | { readonly of: 'tokens'; readonly quantity: TokenQuantity }
  | { readonly of: 'pieces'; readonly quantity: PieceQuantity };

export type PriceEdit =
  /** What is paid in USD is multiplied; ratios and factors stay, so everything costs as much more. */
  | { readonly kind: 'multiply'; readonly factor: string }
  /** Everything that has a purchase price is sold at that times the factor. */
  | { readonly kind: 'margin'; readonly factor: string }
  /** USD, or a ratio of a kind of token; null: it is taken out. */
  | { readonly kind: 'set'; readonly part: PricePart; readonly rate: TokenRate | null }
  /** The record of another model. */
  | { readonly kind: 'copy'; readonly periods: PricePeriods }
  /** The record is taken out. */
  | { readonly kind: 'built-in' };

/** Why a model stays as it is. */
export type NotEdited = 'no-price' | 'no-purchase-price';

const one = integer(1);
const fractionDigits = 12;
const product = (amount: string, factor: Decimal): string =>
  decimalText(quotient(times(decimal(amount), factor), one, fractionDigits));

const eachOf = <Name extends string, Value>(
  table: Readonly<Partial<Record<Name, Value>>>,
  change: (value: Value) => Value,
): Partial<Record<Name, Value>> =>
  Object.fromEntries(
    (Object.entries(table) as [Name, Value][]).map(([name, value]) => [name, change(value)]),
  ) as Partial<Record<Name, Value>>;

/** All that is in USD times the factor. */
function multiplied({ call, tokens, pieces, pictures }: Rates, factor: Decimal): Rates {
  const rate = (value: TokenRate): TokenRate => ('usd' in value ? { usd: product(value.usd, factor) } : value);
  return {
    ...(call === undefined ? {} : { call: product(call, factor) }),
    ...(tokens === undefined ? {} : { tokens: eachOf(tokens, rate) }),
    ...(pieces === undefined ? {} : { pieces: eachOf(pieces, (usd) => product(usd, factor)) }),
    ...(pictures === undefined
      ? {}
      : { pictures: pictures.map((picture) => ({ ...picture, usd: product(picture.usd, factor) })) }),
  };
}

const samePicture = (a: PicturePrice, b: PicturePrice): boolean => a.size === b.size && a.quality === b.quality;

/** What has no purchase price keeps its own, unless the call as such is bought, or is not any more. */
function soldWithMargin(price: ModelPrice, factor: Decimal): ModelPrice | null {
  const { purchase, call: _, ...selling } = price;
  if (purchase === undefined || Object.keys(purchase).length === 0) return null;
  const sold = multiplied(purchase, factor);
  const pictures = [
    ...(selling.pictures ?? []).filter((own) => !sold.pictures?.some((other) => samePicture(own, other))),
    ...(sold.pictures ?? []),
  ];
  return {
    ...selling,
    ...(sold.call === undefined ? {} : { call: sold.call }),
    ...(sold.tokens === undefined ? {} : { tokens: { ...selling.tokens, ...sold.tokens } }),
    ...(sold.pieces === undefined ? {} : { pieces: { ...selling.pieces, ...sold.pieces } }),
    ...(pictures.length === 0 ? {} : { pictures }),
    purchase,
  };
}

function withEntry<Name extends string, Value>(
  table: Readonly<Partial<Record<Name, Value>>> | undefined,
  name: Name,
  value: Value | null,
): Readonly<Partial<Record<Name, Value>>> {
  const { [name]: _, ...rest } = { ...table } as Partial<Record<Name, Value>>;
  return (value === null ? rest : { ...rest, [name]: value }) as Partial<Record<Name, Value>>;
}

const usdIn = (rate: TokenRate): string => ('usd' in rate ? rate.usd : rate.ratio);

function withPart(price: ModelPrice, part: PricePart, rate: TokenRate | null): ModelPrice {
  switch (part.of) {
    case 'call': {
      const { call: _, ...rest } = price;
      return rate === null ? rest : { ...rest, call: usdIn(rate) };
    }
    case 'tokens':
      return { ...price, tokens: withEntry(price.tokens, part.quantity, rate) };
    case 'pieces':
      return { ...price, pieces: withEntry(price.pieces, part.quantity, rate === null ? null : usdIn(rate)) };
  }
}

function edited(price: ModelPrice, edit: Exclude<PriceEdit, { kind: 'copy' | 'built-in' }>): ModelPrice | null {
  switch (edit.kind) {
    case 'multiply':
      return { ...price, ...multiplied(price, decimal(edit.factor)) };
    case 'margin':
      return soldWithMargin(price, decimal(edit.factor));
    case 'set':
      return withPart(price, edit.part, edit.rate);
  }
}

/**
 * The record of a model after the edit, null: none; or why it stays as it is. `periods`: what is stated at present.
 * Periods that have ended stay.
 */
export function editedPeriods(
  periods: PricePeriods | null,
  edit: PriceEdit,
  at: Instant,
): { readonly periods: PricePeriods | null } | NotEdited {
  if (edit.kind === 'built-in') return { periods: null };
  if (edit.kind === 'copy') return { periods: edit.periods };
  if (periods === null && edit.kind !== 'set') return 'no-price';
  const next: ModelPrice[] = [];
  for (const price of periods ?? [{}]) {
    const hasEnded = price.until !== undefined && startOfDay(price.until) <= at;
    const changed = hasEnded ? price : edited(price, edit);
    if (changed === null) return 'no-purchase-price';
    next.push(changed);
  }
  return { periods: next };
}
