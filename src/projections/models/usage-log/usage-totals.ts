import { sql } from 'kysely';
import type { Quota } from '../../../domain/quota.js';
import type { ReadModels } from '../../database.js';
import { hoursTable, matchingHours } from '../usage-stats/usage-stats-queries.js';
import { counted, type UsageSumTable } from '../usage-stats/usage-sums.js';
import { logTypes } from './usage-log.js';
import { isModel, matching, shown, type UsageLogFilter } from './usage-log-queries.js';

/*
 * What the lines of the usage log sum to, without those that have been cleared. A log has millions of lines and a year
 * has 8,760 hours: whole hours come from the statistics, and only the pieces of hours at the ends of a range are read
 * line by line.
 */

/** Sums over settled calls and channel tests (type 2). */
export interface UsageTotals {
  readonly quota: Quota;
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
}

type TotalsFilter = Omit<UsageLogFilter, 'type'>;

const sums = ['quota', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] as const;

const lines = (db: ReadModels, filter: TotalsFilter) =>
  matching(db, { ...filter, type: logTypes.consume })
    .select(sums.map((sum) => sql<number>`${sql.ref(`line.${sum}`)}::numeric`.as(sum)))
    .select(sql<number>`1::bigint`.as('requests'));

const hours = (db: ReadModels, table: UsageSumTable, { model, ...filter }: TotalsFilter) => {
  const rows = matchingHours(db, table, filter).where('counted', '!=', counted.unlogged);
  return (model === undefined ? rows : rows.where(isModel('model', model)))
    .select(sums.map((sum) => sql<number>`${sql.ref(sum)}`.as(sum)))
    .select(sql<number>`requests`.as('requests'));
};

type Parts = ReturnType<typeof lines> | ReturnType<typeof hours>;

const totalled = (db: ReadModels, parts: Parts): Promise<UsageTotals> =>
  db
    .selectFrom((parts as ReturnType<typeof lines>).as('part'))
    .select([...sums, 'requests' as const].map((sum) => sql<number>`coalesce(sum(${sql.ref(sum)}), 0)`.as(sum)))
    .$castTo<UsageTotals>()
    .executeTakeFirstOrThrow();

const hour = 3_600;

export async function usageTotals(db: ReadModels, asked: TotalsFilter): Promise<UsageTotals> {
  const filter = await shown(db, asked);
  const { from, to } = filter;
  const first = from === undefined ? null : Math.ceil(from / hour) * hour;
  const end = to === undefined ? null : Math.floor((to + 1) / hour) * hour;
  const known = filter.requestId === undefined && filter.code === undefined;
  const table = known ? hoursTable(filter, filter.model === undefined ? [] : ['model']) : null;
  // Of single calls the statistics know nothing.
  if (table === null || (first !== null && end !== null && first >= end)) return totalled(db, lines(db, filter));

  let whole = hours(db, table, filter);
  if (first !== null) whole = whole.where('hour', '>=', first);
  if (end !== null) whole = whole.where('hour', '<', end);
  const outside = lines(db, filter).where(({ eb, or }) =>
    or([
      ...(first === null ? [] : [eb('line.created_at', '<', first)]),
      ...(end === null ? [] : [eb('line.created_at', '>=', end)]),
    ]),
  );
  return totalled(db, whole.unionAll(outside as never));
}
