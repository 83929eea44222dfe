import { Failure } from '../domain/failure.js';
import type { Log } from './log.js';
import { newClient, type PostgresConnection } from './postgres.js';

/** Any number nobody else uses: the advisory lock that the one node of a database holds. */
const nodeLock = 7_411_202_611;

/**
 * Makes this process the only node on its database: quota is admitted in one memory, and two would each admit the
 * whole of it. Held by a connection, so it ends with the process, however that ends. Resolves with a function that
 * gives it up. Throws Failure `store-unavailable` when another node holds it.
 */
export async function claimOnlyNode(connection: PostgresConnection, log: Log): Promise<() => Promise<void>> {
  const client = newClient(connection);
  client.on('error', ({ message }) => log.error({ reason: message }, 'lost the connection that marks this node'));
  await client.connect();
  const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [nodeLock]);
  if (rows[0]?.held !== true) {
    await client.end();
    throw new Failure('store-unavailable', {
      reason:
        'Another Tallygate node already serves this database. Stop it first: several nodes need a shared quota gate, which this version does not have.',
    });
  }
  return () => client.end();
}
