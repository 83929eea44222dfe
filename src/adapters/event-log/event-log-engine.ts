import type { EventStore } from '../../application/ports/storage-ports.js';
import type { Position } from '../../domain/events/events.js';

/*
 * What keeps the log of events, before anybody has opened it: which log it is, and who may write it. How an engine
 * guarantees that one process writes is its own matter: Postgres has an epoch, which each append names.
 */

export interface EventLogEngine {
  /** What distinguishes this log from every other, for as long as its data exist; a short plain text. */
  identity(): Promise<string>;
  /**
   * Makes the caller the only writer: from now on the log takes nothing of the writers before it, not even what is on its
   * way. `onLost`: another process has claimed the log since, and nothing of this one will be written any more. Throws
   * Failure `store-unavailable`.
   */
  claimWriter(onLost: (reason: string) => void): Promise<WriterClaim>;
}

export interface WriterClaim {
  /** The end of the log as it was claimed: whatever earlier writers have begun lies up to here. */
  readonly head: Position;
  /** The log for its writer. */
  open(options?: OpenOptions): Promise<EventStore>;
}

interface OpenOptions {
  /** How long an append is tried before it rejects. Left out: the engine's usual. */
  readonly patienceMs?: number;
  /** Left out: true. false: nobody subscribes to what other processes append. */
  readonly listens?: boolean;
}
