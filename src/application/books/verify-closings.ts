import type { Position } from '../../domain/events/events.js';
import type { PeriodClosed } from '../../domain/ledger/closing.js';
import type { LedgerFacts } from '../../projections/models/ledger/ledger-facts.js';
import type { LedgerCheck } from '../audit/ledger-walk.js';
import type { EventStore } from '../ports/storage-ports.js';
import { booksOf } from './close-period.js';
import { balancesOf, ClosingDamaged, changedDays, checkedClosing, daysUpTo, EntriesDigest } from './closing-entries.js';

/** Each closing behind a position, to be held against what the log says up to there. */
export async function closingChecks(
  store: Pick<EventStore, 'streamPages'>,
  after: Position,
): Promise<readonly LedgerCheck[]> {
  const { closed } = await booksOf(store);
  let days = await daysUpTo(
    store,
    closed.filter(({ position }) => position <= after),
  );
  const differenceFrom = (facts: LedgerFacts, { period, digest }: PeriodClosed): string | null => {
    const state = facts.state();
    const entries = new EntriesDigest().add(changedDays(state, days)).add(balancesOf(facts));
    days = new Map(state.spent);
    if (entries.digest() === digest) return null;
    return `the books of ${period} were closed with other balances than the log says up to there`;
  };
  const behind = closed.filter(({ position }) => position > after);
  return Promise.all(
    behind.map(async (closing) => {
      const damage = await damageOf(store, closing);
      return { position: closing.position, check: (facts) => differenceFrom(facts, closing) ?? damage };
    }),
  );
}

/** null: what was recorded is what the books were closed with. */
async function damageOf(store: Pick<EventStore, 'streamPages'>, closing: PeriodClosed): Promise<string | null> {
  try {
    await checkedClosing(store, closing);
    return null;
  } catch (error) {
    if (error instanceof ClosingDamaged) return error.message;
    throw error;
  }
}
