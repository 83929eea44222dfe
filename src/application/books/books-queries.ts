import { Failure } from '../../domain/kernel/failure.js';
import { archivedAs, closedAs, type PeriodArchived, type PeriodClosed } from '../../domain/ledger/closing.js';
import { Period } from '../../domain/ledger/period.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { EventStore } from '../ports/storage-ports.js';
import { booksOf } from './close-period.js';
import { type ClosingEntry, recordedParts } from './closing-entries.js';

/** A balance by its place: `part` and `index` in it. */
interface BalanceCursor {
  readonly part: number;
  readonly index: number;
}

interface BalancePage {
  readonly items: readonly ClosingEntry[];
  /** Behind which the next page begins; null: this was the last one. */
  readonly next: BalanceCursor | null;
}

/** With its archive; null: it has none. */
export interface ListedPeriod extends PeriodClosed {
  readonly archive: PeriodArchived | null;
}

/** Closed periods, for people. */
export function booksQueries({ store }: { readonly store: Pick<EventStore, 'streamPages'> }) {
  const closedPeriods = async (viewer: Actor): Promise<readonly ListedPeriod[]> => {
    authorise(viewer, 'admin-reading');
    const books = await booksOf(store);
    return books.closed.map((closed) => ({ ...closed, archive: archivedAs(books, closed.period) })).reverse();
  };
  return {
    /** Newest first. */
    closedPeriods,

    /** What the accounts held, in the order of their names. Throws `invalid-field`, and `period-not-closed`. */
    async closingBalances(
      viewer: Actor,
      period: string,
      { after, first }: { readonly after: BalanceCursor | null; readonly first: number },
    ): Promise<BalancePage> {
      const closed = closedAs({ closed: await closedPeriods(viewer) }, Period(period));
      if (closed === null) throw new Failure('period-not-closed', { period });
      const items: ClosingEntry[] = [];
      let last: BalanceCursor | null = null;
      for await (const { part, kind, balances } of recordedParts(store, closed.position, (after?.part ?? 0) - 1)) {
        if (kind !== 'balances') continue;
        for (const [index, entry] of balances.entries()) {
          if (after !== null && part === after.part && index <= after.index) continue;
          if (items.length === first) return { items, next: last };
          items.push(entry);
          last = { part, index };
        }
      }
      return { items, next: null };
    },
  };
}
