/* How a projector goes about its work, and whom it notifies. */

export interface ProjectorPace {
  /** Events folded in one transaction, at most. */
  readonly batchSize: number;
  /** Between two batches, unless one is full or somebody waits: many small batches cost more than a few large ones. */
  readonly lingerMs: number;
  /** How long a checkpoint may lag behind events that changed nothing, and by how many of them. */
  readonly idleCheckpointMs: number;
  readonly idleCheckpointEvents: number;
  /** Between two attempts to reach the database. */
  readonly retryMs: number;
}

export interface ProjectorLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
