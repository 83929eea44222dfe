import { sql } from 'kysely';
import type { DomainEvent, Position, Recorded } from '../../../domain/events/events.js';
import type { ReadModels } from '../../database.js';
import type { NextStep } from '../../engine/projection.js';
import { hourOf, linesWithin, takeHoursBefore } from './usage-log-hours.js';
import { monthOfPartition } from './usage-log-partitions.js';

/*
 * Lines that are shown no more. The fold says from where on lines are shown, and how many went; that takes a moment
 * however many they are. Their rows, which no query looks at, are taken away afterwards.
 */

export interface UsageLogClearings {
  /** One for each time the log was cleared. */
  usage_log_clearings: {
    position: Position;
    /** That were shown until then. */
    lines: number;
  };
}

export const tableOfClearings = `
  create table usage_log_clearings (position bigint primary key, lines bigint not null);
`;

/** Rows that are deleted in one step, and as many more as their last second has. */
const deletedAtOnce = 10_000;

/** Readers that come while a partition is to be dropped wait for so long at most. */
const maxLockMs = 50;

const lockNotAvailable = '55P03';

/** The batch in pieces, of which each ends with a clearing or with the batch: what came before is counted by it. */
export function* upToClearings<Event extends DomainEvent>(
  batch: readonly Recorded<Event>[],
): Generator<readonly Recorded<Event>[]> {
  let from = 0;
  for (const [index, { event }] of batch.entries()) {
    if (event.type !== 'LogsCleared') continue;
    yield batch.slice(from, index + 1);
    from = index + 1;
  }
  if (from < batch.length) yield from === 0 ? batch : batch.slice(from);
}

/** From where on lines are shown, unix seconds; 0: from the first. */
export async function clearedBefore(db: ReadModels): Promise<number> {
  const { cleared_before } = await db.selectFrom('usage_log_rules').select('cleared_before').executeTakeFirstOrThrow();
  return cleared_before;
}

/** How many lines are shown of what happened before, unix seconds. */
export const linesBefore = async (db: ReadModels, before: number): Promise<number> =>
  linesWithin(db, { from: await clearedBefore(db), to: before - 1 });

/** Counts the lines that have been shown from `shownFrom` on and are so only from `before` on, and forgets their hours. */
export async function clearLines(
  tx: ReadModels,
  position: Position,
  { shownFrom, before }: { readonly shownFrom: number; readonly before: number },
): Promise<void> {
  const hour = hourOf(before);
  const ofItsHour = await linesWithin(tx, { from: Math.max(hour, shownFrom), to: before - 1 });
  const ofHours = await takeHoursBefore(tx, hour);
  await sql`update usage_log_hours set lines = lines - ${ofItsHour} where hour = ${hour}`.execute(tx);
  const lines = ofHours + ofItsHour;
  await tx.insertInto('usage_log_clearings').values({ position, lines }).execute();
}

/** How many lines a clearing took; undefined: the log has not come to it. */
export async function linesCleared(db: ReadModels, position: Position): Promise<number | undefined> {
  const clearing = await db
    .selectFrom('usage_log_clearings')
    .where('position', '=', position)
    .select('lines')
    .executeTakeFirst();
  return clearing?.lines;
}

/** One step: a whole month, or some rows of one that is shown in part or that somebody reads. */
export async function takeAwayCleared(tx: ReadModels): Promise<NextStep> {
  const before = await clearedBefore(tx);
  const month = await clearedMonth(tx, before);
  if (month !== null && (await dropped(tx, month))) return 'now';
  if (await deleteSome(tx, before)) return 'now';
  // Its table is empty. Whoever comes waits behind each attempt to drop it, so there are few.
  return month === null ? null : 'later';
}

/** The name of a partition without a line that is shown. */
async function clearedMonth(tx: ReadModels, before: number): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`
    select relname::text as name from pg_catalog.pg_inherits join pg_catalog.pg_class on pg_class.oid = inhrelid
    where inhparent = 'usage_log'::regclass order by relname
  `.execute(tx);
  return rows.find(({ name }) => monthOfPartition(name).to <= before)?.name ?? null;
}

/** False: somebody has read it for longer than others are to wait. */
async function dropped(tx: ReadModels, partition: string): Promise<boolean> {
  await sql`savepoint dropping`.execute(tx);
  try {
    await sql`set local lock_timeout to ${sql.lit(`${maxLockMs}ms`)}`.execute(tx);
    await sql`drop table ${sql.table(partition)}`.execute(tx);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== lockNotAvailable) throw error;
    await sql`rollback to savepoint dropping`.execute(tx);
    return false;
  }
}

/** False: there are no more. */
async function deleteSome(tx: ReadModels, before: number): Promise<boolean> {
  const cleared = tx.selectFrom('usage_log').where('created_at', '<', before);
  const last = await cleared
    .select('created_at')
    .orderBy('created_at')
    .offset(deletedAtOnce - 1)
    .limit(1)
    .executeTakeFirst();
  // Whole seconds, which the index of times finds.
  await tx
    .deleteFrom('usage_log')
    .where('created_at', '<', Math.min(before, (last?.created_at ?? before) + 1))
    .execute();
  return last !== undefined;
}
