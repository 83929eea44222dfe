import { checkConnections, checkDatabase } from '../adapters/database/check-database.js';
import { migrate } from '../adapters/database/migrate.js';
import { claimOnlyNode } from '../adapters/database/only-node.js';
import type { OpenDatabase } from '../adapters/database/open-database.js';
import { openPool, type PostgresConnection } from '../adapters/database/postgres.js';
import { shortStatements } from '../adapters/database/session-limits.js';
import type { NodeStart } from './node-start.js';

/* The database, claimed for this node, with the tables of this release. */

/** Throws Failure `store-unavailable` when it cannot be used. */
export async function openNodeDatabase({ config, log, closing, ending }: NodeStart, opening: Promise<OpenDatabase>) {
  const { connection, embedded } = await opening;
  const pool = await openPool(connection, log, { limits: shortStatements });
  closing.add(() => pool.end());
  const pooled = embedded === null && (await checkDatabase(connection)).pooled;
  const onLost = (reason: string): void => {
    if (ending.reason() === null) log.fatal({ reason }, 'this node has lost its database to another one and ends');
    ending.begin(reason);
  };
  const claim = await claimOnlyNode({ connection, log, waitMs: config.database.takeoverWaitMs, onLost });
  closing.add(() => claim.release());
  // The pool and the claim have one each.
  if (pooled) await checkConnections(connection, 2);
  // Only by the node that serves: a second one that will not start must not change the tables under the first.
  await migrateTables(connection, log);
  return { connection, pool, claim, onLost, isOurs: embedded !== null };
}

export type NodeDatabase = Awaited<ReturnType<typeof openNodeDatabase>>;

async function migrateTables(connection: PostgresConnection, log: NodeStart['log']): Promise<void> {
  const pool = await openPool(connection, log, { size: 1 });
  await migrate(pool).finally(() => pool.end());
}
