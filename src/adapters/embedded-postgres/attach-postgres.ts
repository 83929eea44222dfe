import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Failure } from '../../domain/kernel/failure.js';
import { newClient, type PostgresConnection } from '../database/postgres.js';
import type { Log } from '../log.js';
import { embeddedDatabase, startEmbeddedPostgres } from './embedded-postgres.js';
import { isOwned, maintenanceDatabase } from './running-postmaster.js';

/**
 * What `open` makes of the embedded Postgres for a command that runs beside the gateway: that of the running gateway,
 * or, when none runs, one of its own. `stop` ends only the latter. Throws Failure `store-unavailable`, and what `open`
 * throws.
 */
export async function attachEmbeddedPostgres<Opened>(
  options: { readonly dataDir: string; readonly log: Log },
  open: (connection: PostgresConnection) => Promise<Opened>,
): Promise<{ readonly opened: Opened; readonly stop: () => Promise<void> }> {
  const running = await runningConnection(resolve(options.dataDir));
  if (running !== null)
    try {
      return { opened: await open(running), stop: async () => {} };
    } catch (error) {
      // A Postgres whose gateway was killed a moment ago answers, and ends while one is being connected.
      if (!(error instanceof Failure && error.code === 'store-unavailable') || (await isServing(running))) throw error;
    }
  const own = await startEmbeddedPostgres(options);
  try {
    return { opened: await open(own.connection), stop: () => own.stop() };
  } catch (error) {
    await own.stop();
    throw error;
  }
}

async function runningConnection(dataDir: string): Promise<PostgresConnection | null> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => null);
  const [, , , port, host] = text?.split('\n') ?? [];
  if (!port || !host) return null;
  const connection = { host, port: Number(port), ...embeddedDatabase };
  // A lock file without a server behind it, or a server without an owner: starting one deals with it.
  return (await isServing(connection)) ? connection : null;
}

/** Whether it takes connections and belongs to a gateway that lives. */
async function isServing(connection: PostgresConnection): Promise<boolean> {
  const client = newClient({ ...connection, database: maintenanceDatabase });
  client.on('error', () => {});
  try {
    await client.connect();
    return await isOwned(client);
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
