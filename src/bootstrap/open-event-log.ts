import type { Logger } from 'pino';
import { withDurableAppends } from '../adapters/event-log/durable-appends.js';
import type { EventLogEngine } from '../adapters/event-log/event-log-engine.js';
import { withJournal } from '../adapters/event-log/journal/journaled-event-store.js';
import { openOwnJournal, recoverOwnJournals } from '../adapters/event-log/journal/own-journal.js';
import type { DurableEventStore } from '../application/ports/storage-ports.js';
import type { Config } from '../config.js';
import type { Position } from '../domain/events/events.js';

/* How a node comes to the event log that it alone writes: it claims it, recovers journals, and opens it with its own. */

interface OpeningLog {
  readonly engine: EventLogEngine;
  /** The log is on this machine, so its journals lie beside it. */
  readonly isOurs: boolean;
  readonly database: Pick<Config['database'], 'dataDir' | 'journal' | 'appendPatienceMs'>;
  readonly onLost: (reason: string) => void;
  readonly log: Logger;
}

interface OpenLog {
  readonly store: DurableEventStore;
  /** Its end as this node began: whatever was reserved before is nobody's any more. */
  readonly began: Position;
  /** Another node writes it now. */
  readonly isFencedOff: () => boolean;
}

/** Throws Failure `store-unavailable`, whose `reason` says what is in the way. */
export async function openEventLog({ engine, isOurs, database, log, ...options }: OpeningLog): Promise<OpenLog> {
  const { dataDir, appendPatienceMs: patienceMs } = database;
  let fencedOff = false;
  const onLost = (reason: string): void => {
    fencedOff = true;
    options.onLost(reason);
  };
  // From here on the log takes nothing of an earlier node, not even what is on its way; so it is read only now.
  const claim = await engine.claimWriter(onLost);
  const journals = { dataDir, engine, log };
  const began = isOurs ? await recoverOwnJournals(journals, claim) : claim.head;
  const journal = isOurs && database.journal ? openOwnJournal(journals) : null;
  const engineStore = await claim.open({ patienceMs });
  const reopen = () => openOwnJournal(journals);
  const store =
    journal === null
      ? withDurableAppends(engineStore)
      : withJournal(engineStore, { journal, reopen, log, patienceMs, onLost });
  return { store, began, isFencedOff: () => fencedOff };
}
