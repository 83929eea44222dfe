import type { SpendingTerms } from '../../domain/api-key/api-key-terms.js';
import type { ApiKeyId, CallId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Budget } from '../../domain/ledger/budget.js';

/* What the quota gate is asked before a call, and what it answers. */

export interface Payers {
  readonly userId: UserId;
  /** null: only the user pays. */
  readonly apiKeyId: ApiKeyId | null;
}

export interface AdmissionRequest extends Payers {
  readonly callId: CallId;
  /** Of the API key; without one they limit nothing. */
  readonly terms: SpendingTerms;
  /** The most the call can cost: reserved where there is as much. */
  readonly max: Quota;
  /** Where there is not, the least it makes sense with. */
  readonly min: Quota;
  /**
   * The least of what an API key and its budget must have for it; not below `min`. These bounds are its owner's to set,
   * and no charge exceeds them: what an upstream may bring into the prompt must fit, or a small one would make it free.
   */
  readonly minOfKey: Quota;
}

/** A call under way that nobody serves any more. */
export interface LeftCall extends Payers {
  readonly callId: CallId;
  readonly reserved: Quota;
}

export type Admission =
  /** `granted`: what is reserved, from `min` to `max`. */
  { readonly admitted: true; readonly granted: Quota } | ({ readonly admitted: false } & Shortage);

/** Whose quota is not sufficient, and what there is of it. */
export type Shortage =
  | { readonly short: 'user' | 'api-key'; readonly available: Quota }
  | {
      readonly short: 'budget';
      readonly available: Quota;
      readonly budget: Budget;
      /** When all of it is there again, and how far away that is by the gate's clock. */
      readonly resetsAt: Instant;
      readonly resetsInMs: number;
    };
