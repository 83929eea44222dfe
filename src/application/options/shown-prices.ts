import type { Instant } from '../../domain/kernel/instant.js';
import {
  type PieceUnitPrice,
  piecePricesOf,
  type TierUnitPrices,
  tierUnitPrices,
  type UnitPrices,
  unitPricesOf,
} from '../../domain/pricing/billing.js';
import { type PriceTables, priceOf } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { toolsSoldWith } from '../../domain/pricing/provider-tools.js';
import { tierFactorsOf } from '../../domain/pricing/service-tiers.js';
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

export const shownServiceTiers = ({ serviceTiers }: PriceTables, model: string): ServiceTierFactor[] =>
  [...tierFactorsOf(serviceTiers, model)].map(([tier, factor]) => ({ tier, factor }));

/** Of what operators have priced themselves nothing is announced. `present`: what a call costs now; null: no other price. */
export function announcedPrice(
  coming: ComingPrices | null,
  present: Price | null,
  [model, group, acceptsUnpriced]: readonly [model: string, group: string, acceptsUnpriced: boolean],
): AnnouncedPrice | null {
  if (coming === null || present === null) return null;
  const next = shownPrice(coming.tables, model, group, acceptsUnpriced);
  return next === null || JSON.stringify(next) === JSON.stringify(present) ? null : { from: coming.from, price: next };
}
