import type { ReadModels } from '../projections/database.js';

/* Reads, each for a viewer: what one may see is decided in this room and nowhere else. */

export interface ReadingPorts {
  readonly db: ReadModels;
  /** Resolves when the read models hold all that has happened so far, or after a bounded while. */
  readonly fresh: () => Promise<unknown>;
}

/** What is read is never older than what the asker may have seen: a call's answer, another page. */
export const currentOf =
  ({ db, fresh }: ReadingPorts) =>
  async (): Promise<ReadModels> => {
    await fresh();
    return db;
  };
