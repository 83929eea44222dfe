import { join } from 'node:path';
import type { Position } from '../../../domain/events/events.js';
import { currentPayloads } from '../../../domain/events/upcast.js';
import { Instant } from '../../../domain/kernel/instant.js';
import { graceMs } from '../../../domain/ledger/closing.js';
import { systemClock } from '../../clock.js';
import type { Log } from '../../log.js';
import type { EventLogEngine, WriterClaim } from '../event-log-engine.js';
import { type Journal, openJournal } from './journal.js';
import { countUnflushed, isAnythingUnflushed, recoverJournals } from './journal-recovery.js';

/* The journals in this machine's data directory: what earlier processes have left there, and one for this one. */

const journalDirectory = (dataDir: string): string => join(dataDir, 'journal');

interface OwnJournalOptions {
  readonly dataDir: string;
  /** Only its own log's journals are looked at. */
  readonly engine: Pick<EventLogEngine, 'identity'>;
  readonly log: Log;
}

/**
 * Brings into the log what earlier processes have left; answers where the log ends then. To be done by its only writer.
 * Throws Failure `store-unavailable` when something is left that cannot be read.
 */
export async function recoverOwnJournals(
  { dataDir, engine, log }: OwnJournalOptions,
  claim: WriterClaim,
): Promise<Position> {
  if (!(await isAnythingUnflushed(journalDirectory(dataDir)))) return claim.head;
  const identity = await engine.identity();
  const options = {
    ...{ directory: journalDirectory(dataDir), log: identity, payloads: currentPayloads, logger: log },
    // Books are closed later than that.
    archivedBefore: Instant(systemClock.now() - graceMs),
  };
  const store = await claim.open({ listens: false });
  try {
    const events = await recoverJournals(options, store);
    if (events === 0) return claim.head;
    log.warn({ events }, 'a process ended before the log had all that its journal holds; it has now');
    return await store.head();
  } finally {
    await store.close();
  }
}

/** null: there can be none, and every event waits for the database. */
export async function openOwnJournal({ dataDir, engine, log }: OwnJournalOptions): Promise<Journal | null> {
  try {
    return await openJournal({ directory: journalDirectory(dataDir), log: await engine.identity() });
  } catch (error) {
    log.error({ err: error }, 'no journal can be kept; every event waits for the database');
    return null;
  }
}

/** Events that may lack in the log, as long as no gateway has been started since. */
export async function countOwnUnflushed({ dataDir, engine, log }: OwnJournalOptions): Promise<number> {
  return countUnflushed({ directory: journalDirectory(dataDir), log: await engine.identity(), logger: log });
}
