import { sql } from 'kysely';
import { auditedBalance, historyPages } from '../src/application/audit/quota-history.js';
import type { EventStore } from '../src/application/ports/storage-ports.js';
import type { Random } from '../src/demo/random.js';
import { Instant } from '../src/domain/kernel/instant.js';
import { historyAsLines } from '../src/exports/history-file.js';
import type { ReadModels } from '../src/projections/database.js';
import { type Percentiles, percentilesOf } from './figures.js';

/* The history of quota as its readers have it: written out whole, and one balance at a time. */

export interface HistoryRead {
  readonly db: ReadModels;
  readonly store: Pick<EventStore, 'streamPages'>;
}

export interface Written {
  readonly movements: number;
  /** Of the account that has most. */
  readonly longest: number;
  readonly perSecond: number;
  /** Most that the process had more in memory than before, in megabytes: with what it takes once, such as code. */
  readonly takenMb: number;
  /** Most that it had more than after the first movements. */
  readonly grownMb: number;
}

const megabyte = 2 ** 20;
/** By then everything has been taken that is taken once. */
const firstMovements = 50_000;
const megabytes = (bytes: number): number => Math.round((bytes / megabyte) * 10) / 10;
const everything = { causes: null, from: null, to: null };

/** The longest history of a user, written as JSON lines for nobody, again and again, until so many movements were. */
export async function writeHistory(read: HistoryRead, atLeast: number, signal: AbortSignal): Promise<Written> {
  const { rows } = await sql<{ id: string; movements: string }>`
    select user_id as id, count(*) as movements from quota_movement
    where user_id is not null group by user_id order by count(*) desc limit 1`.execute(read.db);
  const { id = '1', movements: longest = '0' } = rows[0] ?? {};
  const before = process.memoryUsage().rss;
  const began = performance.now();
  let movements = 0;
  let afterFirst: number | null = null;
  let most = before;
  while (movements < atLeast && longest !== '0') {
    for await (const text of historyAsLines(historyPages(read, { kind: 'user', id }, everything, { upTo: null }))) {
      movements += text.split('\n').length - 1;
      const now = process.memoryUsage.rss();
      most = Math.max(most, now);
      if (afterFirst === null && movements >= firstMovements) afterFirst = most;
      signal.throwIfAborted();
    }
  }
  const seconds = (performance.now() - began) / 1000;
  return {
    movements,
    longest: Number(longest),
    perSecond: Math.round(movements / seconds),
    takenMb: megabytes(most - before),
    grownMb: megabytes(most - (afterFirst ?? most)),
  };
}

interface Asked {
  readonly userIds: readonly number[];
  /** Unix seconds. */
  readonly from: number;
  readonly to: number;
  readonly times: number;
}

/** How long a balance takes, of users and at instants drawn by chance, one after the other. */
export async function timeBalances(read: HistoryRead, asked: Asked, random: Random): Promise<Percentiles> {
  const { userIds, from, to, times } = asked;
  const took: number[] = [];
  for (let time = 0; time < times; time++) {
    const id = String(userIds[Math.floor(random() * userIds.length)]);
    const at = Instant(Math.floor((from + random() * (to - from)) * 1000));
    const began = performance.now();
    await auditedBalance(read, { kind: 'user', id }, { at });
    took.push(performance.now() - began);
  }
  return percentilesOf(took);
}
