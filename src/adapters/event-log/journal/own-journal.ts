import { join } from 'node:path';
import type pg from 'pg';
import type { Position } from '../../../domain/events/events.js';
import { currentPayloads } from '../../../domain/events/upcast.js';
import type { PostgresConnection } from '../../database/postgres.js';
import type { Log } from '../../log.js';
import type { Fence } from '../log-writer.js';
import { openPostgresEventStore } from '../postgres-event-store.js';
import { type Journal, openJournal } from './journal.js';
import { countLeft, isAnythingLeft, placeLeft } from './left-journals.js';

/* The journals beside the embedded Postgres: what earlier processes have left there, and one for this one. */

const placeIn = (dataDir: string): string => join(dataDir, 'journal');

/** The same for as long as the data of this Postgres exist. */
async function logIn(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()');
  return rows[0]?.id ?? '';
}

interface OwnJournalOptions {
  readonly dataDir: string;
  readonly pool: pg.Pool;
  readonly log: Log;
}

/**
 * Brings into the log what earlier processes have left; `head`: its end before and, as the answer, after that. To be done
 * in an epoch of one's own. Throws Failure `store-unavailable` when something is left that cannot be read.
 */
export async function placeLeftBehind(
  { dataDir, pool, log }: OwnJournalOptions,
  connection: PostgresConnection,
  { fence, head }: { readonly fence: Fence; readonly head: Position },
): Promise<Position> {
  if (!(await isAnythingLeft(placeIn(dataDir)))) return head;
  const options = { place: placeIn(dataDir), log: await logIn(pool), payloads: currentPayloads, logger: log };
  const store = await openPostgresEventStore({ connection, log, fence, listens: false });
  try {
    const events = await placeLeft(options, store);
    if (events === 0) return head;
    log.warn({ events }, 'a process ended before the log had all that its journal holds; it has now');
    return await store.head();
  } finally {
    await store.close();
  }
}

/** null: there can be none, and every event waits for the database. */
export async function openOwnJournal({ dataDir, pool, log }: OwnJournalOptions): Promise<Journal | null> {
  try {
    return await openJournal({ place: placeIn(dataDir), log: await logIn(pool) });
  } catch (error) {
    log.error({ err: error }, 'no journal can be kept; every event waits for the database');
    return null;
  }
}

/** Events that may lack in the log, as long as no gateway has been started since. */
export async function countLeftBehind({ dataDir, pool, log }: OwnJournalOptions): Promise<number> {
  return countLeft({ place: placeIn(dataDir), log: await logIn(pool), logger: log });
}
