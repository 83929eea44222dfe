import { decimal, isZero } from '../../domain/kernel/decimal.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { factsOf } from '../../domain/models/model-facts.js';
import {
  type PieceUnitPrice,
  piecePricesOf,
  type TierUnitPrices,
  tierUnitPrices,
  type UnitPrices,
  unitPricesOf,
} from '../../domain/pricing/billing.js';
import { withDearestPicture } from '../../domain/pricing/picture-prices.js';
import { type PriceTables, priceOf, serviceFactorsOf } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { toolsSoldWith } from '../../domain/pricing/provider-tools.js';
import { isToolCalls, type PieceQuantity } from '../../domain/pricing/quantities.js';
import { isSoldBy } from '../../domain/pricing/rates.js';
import { withTools } from '../../domain/pricing/tool-prices.js';
import type { ComingPrices } from '../memory/changed-options.js';

/* What price lists show of a model: everything that a call of it may be charged by. */

/** Of one price, all factors applied. */
export interface ShownPrices {
  /** Empty: what is sold by the piece is charged instead. */
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
  /** null: from then on it has none. */
  readonly price: Price | null;
  readonly serviceTiers: readonly ServiceTierFactor[];
}

/** With the tools that are sold with the model. null: it has no price, and unpriced models are not accepted. */
export function shownPrice(tables: PriceTables, model: string, group: string, acceptsUnpriced: boolean): Price | null {
  const price = priceOf(tables, model, group, acceptsUnpriced);
  if (price === null) return null;
  const shown = withDearestPicture(price, tables, model);
  return withTools(shown, tables, model, Object.fromEntries(toolsSoldWith(model).map((tool) => [tool, 1])));
}

/** Whether what is sold by the piece is charged instead of all tokens: these only stand for it, or cost nothing. */
export function replacesTokens(price: Price, model: string): boolean {
  if (price.per === 'call') return false;
  if (isSoldBy(price, 'characters') && factsOf(model).speaksByCharacter) return true;
  const isByPiece = (Object.keys(price.pieces?.dollars ?? {}) as PieceQuantity[]).some((name) => !isToolCalls(name));
  return isByPiece && isZero(decimal(price.model));
}

export const shownPrices = (price: Price, model: string): ShownPrices => ({
  ...(replacesTokens(price, model)
    ? { unitPrices: {}, tiers: [] }
    : { unitPrices: unitPricesOf(price), tiers: tierUnitPrices(price) }),
  pieces: piecePricesOf(price),
});

export const shownServiceTiers = (tables: PriceTables, model: string): ServiceTierFactor[] =>
  [...serviceFactorsOf(tables, model)].map(([tier, factor]) => ({ tier, factor }));

interface PricedFor {
  readonly model: string;
  readonly group: string;
  readonly acceptsUnpriced: boolean;
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The next price that differs, or that has other tiers of service. null: none is announced, or it has no price now. */
export function announcedPrice(
  coming: readonly ComingPrices[],
  tables: PriceTables,
  { model, group, acceptsUnpriced }: PricedFor,
): AnnouncedPrice | null {
  const present = shownPrice(tables, model, group, acceptsUnpriced);
  if (present === null) return null;
  const presentTiers = shownServiceTiers(tables, model);
  for (const { from, tables: next } of coming) {
    const price = shownPrice(next, model, group, acceptsUnpriced);
    const serviceTiers = shownServiceTiers(next, model);
    if (!same(price, present) || !same(serviceTiers, presentTiers)) return { from, price, serviceTiers };
  }
  return null;
}

export interface ComingShownPrices extends Omit<ShownPrices, 'unitPrices'> {
  readonly from: Instant;
  /** null: from then on it has no price, so calls are refused. */
  readonly unitPrices: UnitPrices | null;
  readonly serviceTiers: readonly ServiceTierFactor[];
}

/** Of a model that has none. */
export const noPrices = { unitPrices: null, tiers: [], pieces: [] } as const;

export const shownComing = ({ from, price, serviceTiers }: AnnouncedPrice, model: string): ComingShownPrices => ({
  from,
  serviceTiers,
  ...(price === null ? noPrices : shownPrices(price, model)),
});
