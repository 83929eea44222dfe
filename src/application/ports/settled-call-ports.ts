import type { Position, StreamName } from '../../domain/events/events.js';
import type { StoredPayload } from '../../domain/events/upcast.js';
import type { Instant } from '../../domain/kernel/instant.js';

/* Settled calls of the log, without all that lies between them. */

/** As it is stored. */
export type SettledLine = readonly [version: number, at: number, payload: StoredPayload];

export interface ChangedCharge {
  readonly stream: StreamName;
  readonly position: number;
}

export interface SettledPage {
  /** Of the last event that was looked at; null: there is none. */
  readonly last: Position | null;
  /** Settlements of the time asked for, each a `SettledLine` as JSON. */
  readonly settled: readonly string[];
  /** Refunds and corrections, whenever their calls were settled, in the order of the log. */
  readonly changed: readonly ChangedCharge[];
}

export interface SettledPart {
  /** Behind which to begin. */
  readonly after: Position;
  readonly upTo: Position;
  /** Of all kinds that are looked at. */
  readonly limit: number;
  /** When a settlement was written: inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

export interface SettledCalls {
  page(part: SettledPart): Promise<SettledPage>;
}
