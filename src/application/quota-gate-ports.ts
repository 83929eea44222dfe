import type { SpendingTerms } from '../domain/api-key-terms.js';
import type { Budget } from '../domain/budget.js';
import type { ApiKeyId, CallId, UserId } from '../domain/ids.js';
import type { Instant } from '../domain/instant.js';
import type { Quota } from '../domain/quota.js';

/* What the quota gate is asked before a call, and what it answers. */

export interface AdmissionRequest {
  readonly callId: CallId;
  readonly userId: UserId;
  /** null: only the user pays. */
  readonly apiKeyId: ApiKeyId | null;
  /** Of the API key; without one they limit nothing. */
  readonly terms: SpendingTerms;
  /** The most the call can cost: held where there is as much. */
  readonly most: Quota;
  /** Where there is not, the least it makes sense with. */
  readonly least: Quota;
}

export type Admission =
  /** `granted`: what is held, from `least` to `most`. */
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
