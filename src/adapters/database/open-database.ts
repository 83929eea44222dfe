import type { Logger } from 'pino';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.js';
import type { PostgresConnection } from './postgres.js';

/* The database a gateway works with: one that is there, or one that it starts for itself. */

export interface OpenDatabase {
  readonly connection: PostgresConnection;
  /** null: somebody else's, and not to be stopped. */
  readonly embedded: EmbeddedPostgres | null;
}

/**
 * `url` null: one of its own, with its data below `dataDir`; `launched` is called when that has been started, and only
 * takes its time until it answers.
 */
export async function openDatabase(
  { url, dataDir }: { readonly url: string | null; readonly dataDir: string },
  log: Logger,
  launched?: () => void,
): Promise<OpenDatabase> {
  if (url !== null) return { connection: { url }, embedded: null };
  const embedded = await startEmbeddedPostgres({ dataDir, log, launched });
  return { connection: embedded.connection, embedded };
}
