import type { ApiKeyId, UserId } from './ids.js';
import type { Instant } from './instant.js';

/*
 * A call that was refused before anything was reserved for it. The first ones of a kind in a minute are events of their
 * own, in the streams of their calls; the rest of that minute is one event, in the stream of its hour: whoever sends a
 * hundred thousand wrong keys a minute must not be able to fill the log with them.
 */

/** What refusals have in common that are counted as one kind. */
export interface Refusal {
  /** Whose API key, or who in person; null: nobody's who is known, or of several. */
  readonly userId: UserId | null;
  /** null: none was known, the user called in person, or of several. */
  readonly apiKeyId: ApiKeyId | null;
  readonly apiKeyName: string;
  readonly group: string;
  /** As asked for; empty: not known yet, of several, or no name that a model can have. */
  readonly model: string;
  /** The endpoint; empty: of several. */
  readonly path: string;
  /** The status and code the callers were given. */
  readonly status: number;
  readonly code: string;
  /** Where callers are that nobody knows, or that may not call from there: `192.0.2.0/24`, `2001:db8:7::/48`. null: untold. */
  readonly network: string | null;
}

export type RefusalEvent =
  | { type: 'CallRefused'; refusal: Refusal }
  /** So many more than those with events of their own, from `since` to the time of the event. */
  | { type: 'CallsRefused'; refusal: Refusal; count: number; since: Instant };

export type CallRefused = Extract<RefusalEvent, { type: 'CallRefused' }>;
export type CallsRefused = Extract<RefusalEvent, { type: 'CallsRefused' }>;
