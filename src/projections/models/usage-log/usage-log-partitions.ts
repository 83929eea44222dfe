import { sql } from 'kysely';
import type { Instant } from '../../../domain/kernel/instant.js';
import type { ReadModels } from '../../database.js';
import type { UsageLogRow } from './usage-log.js';
import { withoutStatistics } from './usage-log-columns.js';

/** The partitions these lines need and do not have. */
export async function makePartitions(tx: ReadModels, lines: readonly Pick<UsageLogRow, 'created_at'>[]): Promise<void> {
  const months = new Map(
    lines.map(({ created_at }) => monthOf(created_at * 1000)).map((month) => [month.table, month]),
  );
  if (months.size === 0) return;
  const missing = await sql<{ table: string }>`
    select wanted as table from unnest(${[...months.keys()]}::text[]) wanted where to_regclass(wanted) is null
  `.execute(tx);
  for (const { table } of missing.rows) {
    const month = months.get(table);
    if (month === undefined) continue;
    // `create … partition of` would lock readers out of the whole log until the batch commits; attaching does not.
    await sql`create table ${sql.table(table)} (like usage_log including all)`.execute(tx);
    await sql`alter table ${sql.table(table)} ${sql.raw(withoutStatistics)}`.execute(tx);
    await sql`
      alter table usage_log attach partition ${sql.table(table)}
      for values from (${sql.lit(month.from)}) to (${sql.lit(month.to)})
    `.execute(tx);
  }
}

interface PartitionMonth {
  /** Of its partition. */
  readonly table: string;
  /** Unix seconds: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

/** `month`: from 0. */
function monthIn(year: number, month: number): PartitionMonth {
  return {
    table: `usage_log_${year}_${String(month + 1).padStart(2, '0')}`,
    from: Date.UTC(year, month) / 1000,
    to: Date.UTC(year, month + 1) / 1000,
  };
}

/** The calendar month (UTC) of a moment in milliseconds. */
export function monthOf(at: Instant | number): PartitionMonth {
  const date = new Date(at);
  return monthIn(date.getUTCFullYear(), date.getUTCMonth());
}

/** By the name of its partition. */
export function monthOfPartition(table: string): PartitionMonth {
  const [year, month] = table.split('_').slice(-2).map(Number);
  return monthIn(year ?? Number.NaN, (month ?? Number.NaN) - 1);
}
