import type { Instant } from '../kernel/instant.js';
import type { Amounts, TokenRates } from './amounts.js';

/* The two sides of a reconciliation: what a provider's export says, and what the log says. */

/** A row of the export: of one call (`to` is `from`), or of all calls of a model within a time. */
export interface ExportRow {
  /** In the file, for whoever looks it up. */
  readonly line: number;
  readonly from: Instant;
  readonly to: Instant;
  readonly model: string;
  /** null: it names none. */
  readonly requestId: string | null;
  readonly amounts: Amounts;
}

/** A call that was answered. */
export interface OwnCall {
  readonly requestId: string;
  /** By which its provider names its answer; null: nobody knows. */
  readonly answerId: string | null;
  readonly begun: Instant;
  readonly ended: Instant;
  /** As it was asked of upstream. */
  readonly model: string;
  readonly amounts: Amounts;
  /** Whether it is known what it cost. */
  readonly hasCost: boolean;
  /** By which it cost that. null: not by tokens, or nobody knows. */
  readonly rates: TokenRates | null;
}

/**
 * What upstream may have done without telling: a call whose outcome nobody knows, or, with no `calls`, the rest of an
 * answer that broke off. Its amounts are the most that it can explain.
 */
export interface OwnDoubt {
  readonly requestId: string;
  readonly begun: Instant;
  readonly ended: Instant;
  readonly model: string;
  readonly most: Pick<Amounts, 'calls' | 'prompt' | 'output'>;
}

export const differenceClasses = [
  'missing-here',
  'missing-there',
  'price',
  'tokens',
  'rounding',
  'unknown-outcome',
] as const;
export type DifferenceClass = (typeof differenceClasses)[number];

/** Theirs less ours. */
export interface Difference {
  readonly class: DifferenceClass;
  readonly model: string;
  readonly from: Instant;
  readonly to: Instant;
  /** The first row concerned; null: there is none. */
  readonly line: number | null;
  /** Calls concerned, some of them. */
  readonly requestIds: readonly string[];
  readonly amounts: Amounts;
}
