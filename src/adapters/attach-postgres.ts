import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type EmbeddedPostgres, embeddedDatabase, startEmbeddedPostgres } from './embedded-postgres.js';
import type { Log } from './log.js';
import { newClient, type PostgresConnection } from './postgres.js';

/**
 * The embedded Postgres for a command that runs beside the gateway: that of the running gateway, or, when none runs,
 * one of its own. `stop` ends only the latter. Throws Failure `store-unavailable`.
 */
export async function attachEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly log: Log;
}): Promise<EmbeddedPostgres> {
  const running = await runningConnection(resolve(options.dataDir));
  return running === null ? startEmbeddedPostgres(options) : { connection: running, stop: async () => {} };
}

async function runningConnection(dataDir: string): Promise<PostgresConnection | null> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => null);
  const [, , , port, host] = text?.split('\n') ?? [];
  if (!port || !host) return null;
  const connection = { host, port: Number(port), ...embeddedDatabase };
  const client = newClient(connection);
  client.on('error', () => {});
  try {
    await client.connect();
    return connection;
  } catch {
    // A lock file without a server behind it: starting one deals with it.
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}
