import type { Usage } from '../call/usage.js';
import { add, type Decimal, decimalText, integer, isZero, negative, quotient } from '../kernel/decimal.js';
import { invalidField } from '../kernel/failure.js';
import { type Billing, billingOf } from './billing.js';
import { withDearestPicture } from './picture-prices.js';
import { billedName, type PriceTables, priceOf, serviceFactorsOf } from './price-tables.js';
import { exactCharge, type Price, tokenUnit } from './pricing.js';
import { type Quantity, tokenQuantities } from './quantities.js';
import { callRate, rateOf } from './rates.js';
import type { ModelPrice } from './records/model-price.js';
import { isPricedBy } from './records/recorded-price.js';
import { pricedTier, pricedTiers, servedPrice, serviceTermsOf, withService } from './service-tiers.js';
import { withTools } from './tool-prices.js';

/* What a call would cost by a record that may not be stored yet, and what the provider would take for it. */

export interface ExampleCall {
  readonly model: string;
  readonly usage: Usage;
  readonly group: string;
  /** null: the usual one. */
  readonly serviceTier: string | null;
}

export interface QuantityPrice {
  readonly quantity: Quantity | 'call';
  /** Quota for one, for a group whose ratio is 1; null: the record has no price for it. */
  readonly unitPrice: string | null;
  readonly purchaseUnitPrice: string | null;
  /** How much more is taken than is paid, relative to what is paid: 0.2 is 20 %. null: one of both is nothing. */
  readonly margin: string | null;
}

export interface ExampleBill {
  /** null: the record has no price. */
  readonly billing: Billing | null;
  /** What the provider takes; null: no purchase price is stated. */
  readonly purchase: Billing | null;
  readonly margin: string | null;
  readonly quantities: readonly QuantityPrice[];
}

const withRecord = (tables: PriceTables, model: string, record: ModelPrice): PriceTables => ({
  ...tables,
  records: new Map([[billedName(model), record]]),
});

/** At the provider the same lengths and tiers cost more by the same factors. */
function purchaseRecord({ purchase, contextTiers, serviceTiers }: ModelPrice): ModelPrice | null {
  if (purchase === undefined || !isPricedBy(purchase)) return null;
  return {
    ...purchase,
    ...(contextTiers === undefined ? {} : { contextTiers }),
    ...(serviceTiers === undefined ? {} : { serviceTiers }),
  };
}

function priceOfCall(tables: PriceTables, { model, usage, group, serviceTier }: ExampleCall): Price | null {
  const price = priceOf(tables, model, group, false);
  if (price === null) return null;
  const withPieces = withTools(withDearestPicture(price, tables, model), tables, model, usage);
  if (serviceTier === null) return withPieces;
  const factors = serviceFactorsOf(tables, model);
  const tier = pricedTier(factors, serviceTier);
  if (tier === null) throw invalidField('serviceTier', `one of ${pricedTiers(factors).join(', ')}`);
  return servedPrice(withService(withPieces, serviceTermsOf(factors, [tier], false)), tier);
}

const marginPlaces = 4;

function marginOf(sold: Decimal, bought: Decimal): string | null {
  if (isZero(bought)) return null;
  return decimalText(add(quotient(sold, bought, marginPlaces), negative(integer(1))));
}

/** null: it has no price of its own. */
function unitPriceOf(price: Price | null, name: Quantity | 'call'): Decimal | null {
  if (price === null) return null;
  if (name === 'call') return price.per === 'call' ? callRate(price) : null;
  if (price.per === 'call') return null;
  return rateOf(price, name, tokenUnit(price));
}

/** Of each kind of token, or of a call. */
export function quantityPrices(selling: Price | null, purchase: Price | null): readonly QuantityPrice[] {
  return (['call', ...tokenQuantities] as const).map((quantity) => {
    const [sold, bought] = [unitPriceOf(selling, quantity), unitPriceOf(purchase, quantity)];
    return {
      quantity,
      unitPrice: sold === null ? null : decimalText(sold),
      purchaseUnitPrice: bought === null ? null : decimalText(bought),
      margin: sold === null || bought === null ? null : marginOf(sold, bought),
    };
  });
}

/** The price by which the record sells, and that by which it buys, for a group whose ratio is 1. */
export function bothPrices(
  tables: PriceTables,
  model: string,
  record: ModelPrice,
): { readonly selling: Price | null; readonly purchase: Price | null } {
  const bought = purchaseRecord(record);
  return {
    selling: priceOf(withRecord(tables, model, record), model, '', false),
    purchase: bought === null ? null : priceOf(withRecord(tables, model, bought), model, '', false),
  };
}

/** Throws `invalid-field` for a tier of service that has no price. */
export function exampleBill(tables: PriceTables, record: ModelPrice, call: ExampleCall): ExampleBill {
  const { model, usage } = call;
  const price = priceOfCall(withRecord(tables, model, record), call);
  const bought = purchaseRecord(record);
  const paid = bought === null ? null : priceOfCall(withRecord(tables, model, bought), { ...call, group: '' });
  const prices = bothPrices(tables, model, record);
  return {
    billing: price === null ? null : billingOf(usage, price),
    purchase: paid === null ? null : billingOf(usage, paid),
    margin:
      price === null || paid === null
        ? null
        : marginOf(exactCharge(usage, price, tokenUnit(price)), exactCharge(usage, paid, tokenUnit(paid))),
    quantities: quantityPrices(prices.selling, prices.purchase),
  };
}
