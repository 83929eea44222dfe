import type { ContextTierFactors } from '../context-tiers.js';
import type { PriceRates } from '../pricing.js';
import type { PieceQuantity, TokenQuantity } from '../quantities.js';

/*
 * The price table: what a model costs, in one record over the closed list of quantities. Events in the log hold records
 * as they are here.
 */

/** USD of a million tokens, or a ratio: relative to a token of plain input. Decimal texts. */
export type TokenRate = { readonly usd: string } | { readonly ratio: string };

/** USD of a picture that is made, by what was ordered. Left out: of any. */
export interface PicturePrice {
  readonly size?: string;
  readonly quality?: string;
  readonly usd: string;
}

/** What one side of a deal pays: the caller to the operator, or the operator to the provider. */
export interface Rates {
  /** USD of a call, whatever it uses: its tokens cost nothing then. */
  readonly call?: string;
  /**
   * `input` in USD. A kind that is left out costs what the rules of the model's family say, else what the plain tokens
   * of its direction do.
   */
  readonly tokens?: Readonly<Partial<Record<TokenQuantity, TokenRate>>>;
  /** USD of one second, character, picture or call of a tool, beside the tokens. */
  readonly pieces?: PriceRates<PieceQuantity>;
  readonly pictures?: readonly PicturePrice[];
}

export interface ModelPrice extends Rates {
  /** By ascending length. Left out: the price is the same at every length. */
  readonly contextTiers?: readonly ContextTierFactors[];
  /** Factors by tier of service. Left out: what the option ServiceTiers says. */
  readonly serviceTiers?: Readonly<Record<string, string>>;
  /** What the provider takes. */
  readonly purchase?: Rates;
  /** The first day on which it holds, and the first on which it does no more: `2026-12-01`, from midnight in UTC. */
  readonly from?: string;
  readonly until?: string;
}

/** All that is stated of one model, by ascending day; of two that hold on a day, the later one does. */
export type PricePeriods = readonly ModelPrice[];
