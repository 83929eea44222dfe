import type pg from 'pg';
import type { Logger } from 'pino';
import type { NodeClaim } from '../adapters/database/only-node.js';
import type { PostgresConnection } from '../adapters/database/postgres.js';
import { openOwnJournal, placeLeftBehind } from '../adapters/event-log/journal/own-journal.js';
import { openPostgresEventStore } from '../adapters/event-log/postgres-event-store.js';
import type { EventStore } from '../application/ports/storage-ports.js';
import type { Config } from '../config.js';
import type { Position } from '../domain/events/events.js';

/* How a node comes to the event log that it alone writes. */

interface OpeningLog {
  readonly connection: PostgresConnection;
  /** The database is the embedded one, so its journals lie beside it. */
  readonly isOurs: boolean;
  readonly database: Pick<Config['database'], 'dataDir' | 'journal' | 'appendPatienceMs'>;
  readonly pool: pg.Pool;
  readonly claim: Pick<NodeClaim, 'beginEpoch'>;
  readonly onLost: (reason: string) => void;
  readonly log: Logger;
}

interface OpenLog {
  readonly store: EventStore;
  /** Its end as this node began: whatever was reserved before is nobody's any more. */
  readonly began: Position;
  /** Another node writes it now. */
  readonly isFencedOff: () => boolean;
}

/** Throws Failure `store-unavailable`, whose `reason` says what is in the way. */
export async function openEventLog(options: OpeningLog): Promise<OpenLog> {
  const { connection, isOurs, database, pool, claim, log } = options;
  // From here on the log takes nothing of an earlier node, not even what is on its way; so it is read only now.
  const { epoch, head } = await claim.beginEpoch();
  let fencedOff = false;
  const fence = {
    epoch,
    onLost(reason: string) {
      fencedOff = true;
      options.onLost(reason);
    },
  };
  const { dataDir, appendPatienceMs: patienceMs } = database;
  const began = isOurs ? await placeLeftBehind({ dataDir, pool, log }, connection, { fence, head }) : head;
  const journal = isOurs && database.journal ? openOwnJournal({ dataDir, pool, log }) : undefined;
  const store = await openPostgresEventStore({ connection, log, fence, patienceMs, journal });
  return { store, began, isFencedOff: () => fencedOff };
}
