import type { PricePeriods } from '../records/model-price.js';

/* What is read out of a price list that others publish, whatever its form. */

export const sourceForms = ['genai-prices', 'litellm', 'openrouter-models', 'ratio-config', 'pricing'] as const;
export type SourceForm = (typeof sourceForms)[number];

export interface PublishedPrice {
  readonly model: string;
  /** Who makes or serves it, as the list names them; null: the list does not. */
  readonly vendor: string | null;
  /** The one in force first, without `from`; then those that are announced. USD, never a margin. */
  readonly periods: PricePeriods;
  /** The list says that it costs nothing. Every other price is above 0. */
  readonly isFree: boolean;
  /** Members with a price that the gateway has no quantity for. */
  readonly unread: readonly string[];
}

/**
 * `negative`, `not-a-number`, `too-large`, `too-small`: of the named member. `zero`: a price of 0, and nothing says that
 * the model is free. `other-currency`: not in USD. `named-twice`: with different prices, or a member of it is there
 * twice. `name-invalid`: no name that a model can have. `not-counted`: it is priced by nothing that the gateway counts.
 * `shape-invalid`: the member is of another type than its form says. `mixed`: a price per call beside one of tokens.
 */
const skipReasons = [
  'negative',
  'not-a-number',
  'too-large',
  'too-small',
  'zero',
  'other-currency',
  'named-twice',
  'name-invalid',
  'not-counted',
  'shape-invalid',
  'mixed',
] as const;
export type SkipReason = (typeof skipReasons)[number];

export interface SkippedModel {
  /** Cut where it is too long. */
  readonly model: string;
  readonly reason: SkipReason;
  readonly member: string | null;
}

export interface PublishedPrices {
  readonly form: SourceForm;
  readonly models: readonly PublishedPrice[];
  readonly skipped: readonly SkippedModel[];
}

/** What a reader of a form needs to know beside the text. */
export interface ReadingTerms {
  /** In UTC, `2026-11-28`: prices that ended before it are left out. */
  readonly today: string;
  /** `vendor/model` is read as `model`. */
  readonly bareNames: boolean;
}

/** Thrown by the reader of one entry: this model is left out, the others are read. */
export class UnusableEntry extends Error {
  constructor(
    readonly reason: SkipReason,
    readonly member: string | null = null,
  ) {
    super(`${reason} ${member ?? ''}`);
    this.name = 'UnusableEntry';
  }
}
