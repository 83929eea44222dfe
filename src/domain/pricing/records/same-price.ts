import { decimalText } from '../../kernel/decimal.js';
import { pricesByTier } from '../context-tiers.js';
import { type Price, type TokenPrice, tokenUnit } from '../pricing.js';
import { tokenQuantities } from '../quantities.js';
import { callRate, rateOf } from '../rates.js';

/* Whether two prices charge the same, however they are written. */

const tokenRates = (price: TokenPrice): string =>
  tokenQuantities.map((name) => decimalText(rateOf(price, name, tokenUnit(price)))).join(' ');

const pieceRates = ({ pieces }: Price): string =>
  Object.entries(pieces?.dollars ?? {})
    .map(([name, usd]) => `${name} ${usd}`)
    .sort()
    .join(' ');

/** The same text for prices that charge the same. null: no price. */
export function priceIdentity(price: Price | null): string {
  if (price === null) return 'none';
  if (price.per === 'call') return `call ${decimalText(callRate(price))}|${pieceRates(price)}`;
  const tiers = pricesByTier(price).map(({ over, price: tier }) => `${over} ${tokenRates(tier)}`);
  return [tokenRates(price), ...tiers, pieceRates(price)].join('|');
}
