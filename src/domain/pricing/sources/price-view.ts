import { type Decimal, decimal, quotient, times } from '../../kernel/decimal.js';
import { pricesByTier } from '../context-tiers.js';
import { billedName, type PriceTables, priceOf, recordIn, serviceFactorsOf } from '../price-tables.js';
import type { Price, TokenPrice } from '../pricing.js';
import { isToolCalls, pieceQuantities, type TokenQuantity, tokenQuantities } from '../quantities.js';
import { quantityRatio } from '../rates.js';
import type { PicturePrice } from '../records/model-price.js';
import { isSoldByPiece } from '../records/recorded-price.js';
import { toolPriceOf } from '../tool-prices.js';

/* What a model costs, quantity by quantity, so that two prices can be compared. */

/**
 * By name: a kind of token, a piece or `call`, in USD of a million or of one; `input>200000`, beyond that length;
 * `tier:flex`, a factor; `picture:1024x1024/hd`.
 */
export interface PriceView {
  readonly per: Price['per'] | 'piece';
  readonly amounts: ReadonlyMap<string, Decimal>;
  /** What a kind of token costs that is not among the amounts, beyond a length or before it. */
  kind(name: TokenQuantity, over: number): Decimal | null;
}

const two = decimal('2');

const tokenAmount = (price: TokenPrice, name: TokenQuantity): Decimal =>
  times(times(decimal(price.model), decimal(quantityRatio(price, name))), two);

const isStated = (price: TokenPrice, name: TokenQuantity): boolean =>
  name === 'input' || name === 'output' || price.ratios[name] !== undefined;

const at = (name: TokenQuantity, over: number): string => (over === 0 ? name : `${name}>${over}`);

const pictureName = ({ size, quality }: PicturePrice): string =>
  `picture:${[size, quality].filter((part) => part !== undefined).join('/')}`;

/** For a group whose ratio is 1. null: the model has no price. */
export function priceView(tables: PriceTables, model: string): PriceView | null {
  const price = priceOf(tables, model, '', false);
  if (price === null) return null;
  const amounts = new Map<string, Decimal>();
  const record = recordIn(tables, billedName(model));
  const isByPiece = record !== undefined && isSoldByPiece(record);
  const lengths: readonly { readonly over: number; readonly price: TokenPrice }[] =
    price.per === 'call' || isByPiece ? [] : [{ over: 0, price }, ...pricesByTier(price)];
  for (const { over, price: inForce } of lengths)
    for (const name of tokenQuantities)
      if (isStated(inForce, name)) amounts.set(at(name, over), tokenAmount(inForce, name));
  if (price.per === 'call') amounts.set('call', decimal(price.price));
  for (const name of pieceQuantities) {
    // What is sold by the piece runs no tools.
    if (isByPiece && isToolCalls(name) && record.pieces?.[name] === undefined) continue;
    const usd = isToolCalls(name) ? toolPriceOf(tables, name, model) : price.pieces?.dollars[name];
    if (usd !== undefined) amounts.set(name, decimal(usd));
  }
  for (const [tier, factor] of serviceFactorsOf(tables, model)) amounts.set(`tier:${tier}`, decimal(factor));
  for (const picture of record?.pictures ?? []) amounts.set(pictureName(picture), decimal(picture.usd));
  return {
    per: isByPiece ? 'piece' : price.per,
    amounts,
    kind(name, over) {
      const inForce = lengths.findLast((length) => length.over <= over)?.price;
      return inForce === undefined ? null : tokenAmount(inForce, name);
    },
  };
}

/** `name` of a view, as its kind of token and length; null: it is no kind of token. */
export function tokenName(name: string): { readonly kind: TokenQuantity; readonly over: number } | null {
  const [kind = '', over = '0'] = name.split('>');
  const found = tokenQuantities.find((quantity) => quantity === kind);
  return found === undefined ? null : { kind: found, over: Number(over) };
}

/** How many times the larger of two positive amounts is the smaller one; null: one of them is 0. */
export function ratioBetween(one: Decimal, other: Decimal): Decimal | null {
  if (one.digits === 0n || other.digits === 0n) return null;
  const up = quotient(one, other, 6);
  const down = quotient(other, one, 6);
  return up.digits > down.digits ? up : down;
}
