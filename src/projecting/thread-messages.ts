import type { MessagePort } from 'node:worker_threads';
import type { PostgresConnection } from '../adapters/database/postgres.js';

/* What the thread of the projectors is given, and what it says beside what its runner says. */

export interface ThreadSetting {
  readonly connection: PostgresConnection;
  /** Purpose → key derived from the master key: what opens personal data, and no other secret. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly lingerMs: number;
}

export type ToThread =
  /** Once, and first. The port leads to the runner, see runner-messages. */
  | { readonly kind: 'begin'; readonly setting: ThreadSetting; readonly runner: MessagePort }
  /** Is it stuck? */
  | { readonly kind: 'ask' };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export type FromThread =
  | { readonly kind: 'log'; readonly level: LogLevel; readonly facts: object; readonly message: string }
  /** Answers `ask`. */
  | { readonly kind: 'alive' };
