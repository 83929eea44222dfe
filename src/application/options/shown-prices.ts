import type { Instant } from '../../domain/kernel/instant.js';
import {
  type PieceUnitPrice,
  piecePricesOf,
  type TierUnitPrices,
  tierUnitPrices,
  type UnitPrices,
  unitPricesOf,
} from '../../domain/pricing/billing.js';
import { type PriceTables, priceOf, serviceFactorsOf } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { toolsSoldWith } from '../../domain/pricing/provider-tools.js';
import { withTools } from '../../domain/pricing/tool-prices.js';
import type { ComingPrices } from '../memory/changed-options.js';

/* What price lists show of a model: everything that a call of it may be charged by. */

/** Of one price, all factors applied. */
export interface ShownPrices {
  readonly unitPrices: UnitPrices;
  /** What the whole of a call costs whose prompt is longer; by ascending length. */
  readonly tiers: readonly TierUnitPrices[];
  /** What is sold by the piece beside the tokens, or beside the call. */
  readonly pieces: readonly PieceUnitPrice[];
}

/** What all prices of a call but those of tools are multiplied by that is served at the tier. */
export interface ServiceTierFactor {
  /** `auto`: the most that a call is multiplied by whose tier is left to the upstream's account. */
  readonly tier: string;
  readonly factor: string;
}

export interface AnnouncedPrice {
  readonly from: Instant;
  readonly price: Price;
}

/** With the tools that are sold with the model. null: it has no price, and unpriced models are not accepted. */
export function shownPrice(tables: PriceTables, model: string, group: string, acceptsUnpriced: boolean): Price | null {
  const price = priceOf(tables, model, group, acceptsUnpriced);
  if (price === null) return null;
  return withTools(price, tables, model, Object.fromEntries(toolsSoldWith(model).map((tool) => [tool, 1])));
}

export const shownPrices = (price: Price): ShownPrices => ({
  unitPrices: unitPricesOf(price),
  tiers: tierUnitPrices(price),
  pieces: piecePricesOf(price),
});

export const shownServiceTiers = (tables: PriceTables, model: string): ServiceTierFactor[] =>
  [...serviceFactorsOf(tables, model)].map(([tier, factor]) => ({ tier, factor }));

/** The next price that differs. `present`: what a call costs now. null: no other price is announced. */
export function announcedPrice(
  coming: readonly ComingPrices[],
  present: Price | null,
  [model, group, acceptsUnpriced]: readonly [model: string, group: string, acceptsUnpriced: boolean],
): AnnouncedPrice | null {
  if (present === null) return null;
  for (const { from, tables } of coming) {
    const price = shownPrice(tables, model, group, acceptsUnpriced);
    if (price !== null && JSON.stringify(price) !== JSON.stringify(present)) return { from, price };
  }
  return null;
}
