import { newClient, openPool } from '../adapters/database/postgres.js';
import { longQueries, projecting, shortStatements } from '../adapters/database/session-limits.js';
import { personalDataPurposes } from '../adapters/vault/personal-data.js';
import type { ProjectingThread } from '../projecting/projecting-thread.js';
import { dropOldVersions } from '../projections/engine/rebuild.js';
import { watchBuilding } from '../projections/engine/watch-building.js';
import { openReadModels, readModels } from '../projections/read-models.js';
import type { NodeStart } from './node-start.js';
import type { NodeDatabase } from './open-node-database.js';
import type { NodeLog } from './open-node-log.js';
import type { NodeVault } from './open-vault.js';

/* The read models: who keeps them, and who reads them. */

interface ProjectionParts {
  readonly projections: ProjectingThread;
  readonly database: Pick<NodeDatabase, 'connection'>;
  readonly secrets: Pick<NodeVault, 'masterKey'>;
  readonly eventLog: Pick<NodeLog, 'store' | 'began'>;
}

/** Resolves once the projectors run; whether they have caught up is another question. */
export async function openProjections(node: NodeStart, parts: ProjectionParts) {
  const { config, log, closing } = node;
  const { projections, eventLog } = parts;
  const { connection } = parts.database;
  const { masterKey } = parts.secrets;
  // Apart, so that nobody who looks at long lists keeps calls, sign-ins or projectors waiting for a connection.
  const lookups = await openPool(connection, log, { size: 6, limits: shortStatements });
  closing.add(() => lookups.end());
  const lists = await openPool(connection, log, { size: 8, limits: longQueries });
  closing.add(() => lists.end());
  closing.add(() => projections.stop());
  await projections.start(eventLog.store, {
    connection,
    keys: new Map(personalDataPurposes.map((purpose) => [purpose, masterKey.derive(purpose)])),
    lingerMs: config.projections.lingerMs,
  });
  closing.add(watchReadModels(node, parts));
  return { db: openReadModels(lookups), lists: openReadModels(lists), progress: projections };
}

export type NodeProjections = Awaited<ReturnType<typeof openProjections>>;

function watchReadModels({ log, ending }: NodeStart, { projections, database, eventLog }: ProjectionParts) {
  return watchBuilding({
    progress: projections,
    feed: eventLog.store,
    head: eventLog.began,
    // Nobody else serves this database.
    dropOld: (kept) => dropOldVersions(() => newClient(database.connection, projecting), readModels, kept),
    unreadable(reason) {
      log.fatal({ reason }, 'this node cannot read all of the log; it ends');
      ending.begin(reason);
    },
    log,
  });
}
