import { postgresCallProgress } from '../adapters/call-progress.js';
import { postgresEventLog } from '../adapters/event-log/postgres-event-log.js';
import type { NodeStart } from './node-start.js';
import { openEventLog } from './open-event-log.js';
import type { NodeDatabase } from './open-node-database.js';

/** The log, and the notes of how far calls have come, from which this node's begin. */
export async function openNodeLog({ config, log, closing }: NodeStart, database: NodeDatabase) {
  const { connection, pool, claim, onLost, isOurs } = database;
  const opened = await openEventLog({
    engine: postgresEventLog({ connection, pool, claim, log }),
    ...{ log, onLost, isOurs, database: config.database },
  });
  closing.add(() => opened.store.close());
  const notes = postgresCallProgress(pool);
  await notes.begin(opened.began);
  return { ...opened, notes };
}

export type NodeLog = Awaited<ReturnType<typeof openNodeLog>>;
