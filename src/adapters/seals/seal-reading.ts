import type { Pool } from 'pg';
import { postgresEventLines, postgresLineByPosition } from './event-lines.js';
import { postgresSealKeyStore } from './seal-key-store.js';
import { postgresSealStore } from './seal-store.js';

/** The log as lines, its seals and their keys. */
export const sealReading = (pool: Pool) => ({
  lines: postgresEventLines(pool),
  single: postgresLineByPosition(pool),
  seals: postgresSealStore(pool),
  keys: postgresSealKeyStore(pool),
});
