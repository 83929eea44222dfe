import { beginning, type Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { mayRead } from '../../domain/user/role.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { channels } from '../../projections/models/channels.js';
import { logTypes, usageLog } from '../../projections/models/usage-log/usage-log.js';
import { clearedBefore } from '../../projections/models/usage-log/usage-log-clearing.js';
import { type UsageLogEntry, usageLogAfter } from '../../projections/models/usage-log/usage-log-queries.js';
import { users } from '../../projections/models/users.js';
import { type WalletMovement, walletMovements, walletOver } from '../../projections/models/wallet-queries.js';
import { wallets } from '../../projections/models/wallets.js';
import { authorise } from '../authorise.js';
import { type Month, monthNamed } from '../calendar.js';
import { type ConsistencyPorts, waitForHead } from '../consistency.js';
import type { Clock, Directory } from '../ports/storage-ports.js';
import { type StatementLine, statementLines } from './statement-lines.js';

/* A month of one user, to be kept: every call, and every change of the balance. Whole, or not at all. */

interface StatementPorts extends ConsistencyPorts {
  readonly db: ReadModels;
  readonly directory: Pick<Directory, 'user'>;
  readonly clock: Clock;
}

export interface StatementMonth {
  /** null: the viewer's own. */
  readonly userId: UserId | null;
  /** `2026-03` */
  readonly month: string;
  readonly zone: string;
}

/** Lines come in pages; whoever reads no further asks the database no further. */
export interface MonthOf<Line> {
  readonly month: Month;
  readonly userId: UserId;
  readonly pages: AsyncGenerator<readonly Line[], void, undefined>;
}

/** Reading and writing so many takes some milliseconds, in which nobody else has the process. */
const linesPerPage = 100;

/** Throws `usage-log-cleared` where lines of the month are shown no more. */
async function demandUncleared(db: ReadModels, { from }: Month): Promise<void> {
  if ((await clearedBefore(db)) * 1000 > from) throw new Failure('usage-log-cleared');
}

async function* usagePages(db: ReadModels, userId: UserId, month: Month, upTo: Position) {
  const { from, to } = month;
  const filter = { userId, type: logTypes.consume, from: from / 1000, to: to / 1000 - 1 };
  let after: Position = beginning;
  for (;;) {
    const lines = await usageLogAfter(db, filter, { after, upTo, limit: linesPerPage });
    // A channel test is no call, and was charged to nobody.
    yield lines.filter(({ request_id }) => request_id !== null);
    const last = lines.at(-1);
    // Cleared meanwhile, the file breaks off: it would look whole.
    if (last === undefined || lines.length < linesPerPage) return await demandUncleared(db, month);
    after = last.id;
  }
}

async function* movementPages(db: ReadModels, userId: UserId, month: Month, upTo: Position) {
  let after: WalletMovement | null = null;
  for (;;) {
    const page: WalletMovement[] = await walletMovements(db, userId, month, { upTo, after, limit: linesPerPage });
    yield page;
    after = page.at(-1) ?? null;
    if (after === null || page.length < linesPerPage) return;
  }
}

export function statementQueries(ports: StatementPorts) {
  const { db, directory, clock } = ports;

  /** Oneself; admins may ask about users below them, as about their accounts. */
  const holderOf = async (viewer: Actor, userId: UserId | null): Promise<UserId> => {
    if (userId === null || userId === viewer.id) return viewer.id;
    authorise(viewer, 'admin-reading');
    const user = await directory.user(userId);
    if (user === null || user.status === 'deleted') throw new Failure('user-not-found');
    if (!mayRead(viewer, user.role)) throw new Failure('peer-read-forbidden');
    return userId;
  };

  return {
    /**
     * Every call that was charged for, oldest first. Throws `store-unavailable` while the log is being rebuilt, and
     * `usage-log-cleared`, while the pages are read too, once lines of the month are shown no more.
     */
    async monthOfUsage(viewer: Actor, asked: StatementMonth): Promise<MonthOf<UsageLogEntry>> {
      const month = monthNamed(asked.month, asked.zone, clock.now());
      const userId = await holderOf(viewer, asked.userId);
      const upTo = await waitForHead(ports, [usageLog.name, users.name, channels.name]);
      await demandUncleared(db, month);
      return { month, userId, pages: usagePages(db, userId, month, upTo) };
    },

    /**
     * The balance at the beginning, what changed it in order, and the balance at the end, which is the ledger's. Throws
     * `store-unavailable` while that is being rebuilt.
     */
    async monthOfWallet(viewer: Actor, asked: StatementMonth): Promise<MonthOf<StatementLine>> {
      const now = clock.now();
      const month = monthNamed(asked.month, asked.zone, now);
      const userId = await holderOf(viewer, asked.userId);
      await waitForHead(ports, [wallets.name]);
      const range = await walletOver(db, userId, month);
      const movements = movementPages(db, userId, month, range.position);
      return { month, userId, pages: statementLines(month, range, movements, now) };
    },
  };
}
