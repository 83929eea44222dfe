import type { Position, Recorded } from '../../domain/events/events.js';
import type { ReadModels } from '../../projections/database.js';
import { apiKeySnapshot, quotaSnapshot } from '../../projections/models/ledger/ledger-queries.js';
import type { EventStore, ReadModelProgress } from '../ports/storage-ports.js';
import type { AccountSource } from './quota-account-cache.js';

/* The quota gate's view of the ledger, and of the log where the ledger is behind. */

const pageSize = 1000;

export const accountSource = (db: ReadModels, progress: ReadModelProgress, store: EventStore): AccountSource => ({
  user: (id) => quotaSnapshot(db, id),
  apiKey: (id) => apiKeySnapshot(db, id),
  // Long enough for a projector under load, short enough for a stopped one: then the log itself is read.
  caughtUp: (position) => progress.reached(position, 500, ['ledger']),
  async between(after: Position, to: Position) {
    const events: Recorded[] = [];
    let from = after;
    while (from < to) {
      const page = await store.readAll(from, pageSize);
      const last = page.at(-1);
      if (last === undefined) break;
      for (const event of page) if (event.position <= to) events.push(event);
      from = last.position;
    }
    return events;
  },
});
