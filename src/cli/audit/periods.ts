import { postgresDetachedLog } from '../../adapters/archives/detached-log.js';
import { booksOf } from '../../application/books/close-period.js';
import { checkedClosing } from '../../application/books/closing-entries.js';
import { archivedAs, closedAs } from '../../domain/ledger/closing.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { withDatabase } from '../database.js';
import { periodGiven } from './close.js';
import { archiveLine, closingJson, closingLine } from './closing-text.js';

/**
 * `audit periods [--json]`: the closed periods, oldest first. `audit periods --period 2026-10 [--json]`: what each account
 * held at the end of one, as `account amount`, or as a JSON text in each line.
 */
export async function auditPeriods({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, { period: { type: 'string' }, json: { type: 'boolean' } });
  const period = periodGiven(given.period);
  await withDatabase(config, log, async ({ store, pool }) => {
    const books = await booksOf(store);
    if (period === null) {
      if (books.closed.length === 0 && !given.json) console.log('No period has been closed yet.');
      const gone = await postgresDetachedLog(pool).all();
      for (const closed of books.closed) {
        const archived = archivedAs(books, closed.period);
        const file = gone.find(({ period }) => period === closed.period)?.file ?? null;
        const archive = archived && { events: archived.events, digest: archived.digest, file };
        console.log(given.json ? closingJson(closed, archive) : closingLine(closed));
        if (archive !== null && !given.json) console.log(archiveLine(archive));
      }
      return;
    }
    const closed = closedAs(books, period);
    if (closed === null) throw new UsageError(`--period ${period}: its books are not closed.`);
    await checkedClosing(store, closed, ({ kind, balances }) => {
      if (kind === 'balances')
        for (const [account, amount] of balances)
          console.log(given.json ? JSON.stringify({ account, amount }) : `${account} ${amount}`);
    });
  });
}
