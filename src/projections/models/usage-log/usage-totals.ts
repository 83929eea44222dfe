import { sql } from 'kysely';
import { type Quota, zero } from '../../../domain/quota.js';
import type { ReadModels } from '../../database.js';
import { hoursTable, matchingHours } from '../usage-stats/usage-stats-queries.js';
import { counted, type UsageSumTable } from '../usage-stats/usage-sums.js';
import { numbered } from './narrowed-filter.js';
import { logTypes } from './usage-log.js';
import { isModel, type LineFilter, matching, shown, type UsageLogFilter } from './usage-log-filter.js';
import type { Times } from './usage-log-hours.js';

/*
 * What the lines of the usage log sum to, without those that have been cleared. A log has millions of lines and a year
 * has 8,760 hours: whole hours come from the statistics, and only the pieces of hours at the ends of a range are read
 * line by line.
 */

/** Sums over lines of type 2. */
export interface UsageTotals {
  readonly quota: Quota;
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
}

type TotalsFilter = Omit<UsageLogFilter, 'type'>;

/** Of settled calls, of channel tests, which nobody is charged for, or of both, as the legacy contract has it. */
export type Summed = 'calls' | 'tests' | 'both';

const sums = ['quota', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] as const;

const countedAs: Readonly<Record<Summed, readonly (typeof counted)[keyof typeof counted][]>> = {
  calls: [counted.logged],
  tests: [counted.channelTests],
  both: [counted.logged, counted.channelTests],
};

/** A channel test is the only line of its type that is about no request. */
function consumed(db: ReadModels, filter: LineFilter, of: Summed) {
  const found = matching(db, { ...filter, type: logTypes.consume });
  return of === 'both' ? found : found.where('line.request_id', of === 'tests' ? 'is' : 'is not', null);
}

const lines = (db: ReadModels, filter: LineFilter, of: Summed) =>
  consumed(db, filter, of)
    .select(sums.map((sum) => sql<number>`${sql.ref(`line.${sum}`)}::numeric`.as(sum)))
    .select(sql<number>`1::bigint`.as('requests'));

const hours = (db: ReadModels, table: UsageSumTable, { model, ...filter }: TotalsFilter, of: Summed) => {
  const rows = matchingHours(db, table, filter).where('counted', 'in', countedAs[of]);
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

/** Lines of the 60 s before `now` (unix seconds), and their prompt and completion tokens. */
export async function usageOfLastMinute(
  db: ReadModels,
  filter: Omit<TotalsFilter, 'from' | 'to'>,
  now: number,
  of: Summed,
): Promise<{ requests: number; tokens: number }> {
  const asked = await numbered(db, await shown(db, { ...filter, from: now - 60 }));
  if (asked === null) return { requests: 0, tokens: 0 };
  return consumed(db, asked, of)
    .select([
      sql<number>`count(*)`.as('requests'),
      sql<number>`coalesce(sum(line.prompt_tokens + line.completion_tokens), 0)`.as('tokens'),
    ])
    .executeTakeFirstOrThrow();
}

const hour = 3_600;

export const noTotals: UsageTotals = {
  quota: zero,
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
};

export async function usageTotals(db: ReadModels, asked: TotalsFilter, of: Summed): Promise<UsageTotals> {
  const filter = await shown(db, asked);
  const { from, to } = filter;
  const first = from === undefined ? null : Math.ceil(from / hour) * hour;
  const end = to === undefined ? null : Math.floor((to + 1) / hour) * hour;
  const known = filter.requestId === undefined && filter.code === undefined;
  const table = known ? hoursTable(filter, filter.model === undefined ? [] : ['model']) : null;
  const ofLines = await numbered(db, filter);
  // Of single calls the statistics know nothing.
  if (table === null || (first !== null && end !== null && first >= end))
    return ofLines === null ? noTotals : totalled(db, lines(db, ofLines, of));

  let whole = hours(db, table, filter, of);
  if (first !== null) whole = whole.where('hour', '>=', first);
  if (end !== null) whole = whole.where('hour', '<', end);
  // One by one, so that each is looked for by its own time.
  const ends: Times[] = [
    ...(first === null || first === from ? [] : [{ from, to: first - 1 }]),
    ...(end === null || to === undefined || end > to ? [] : [{ from: end, to }]),
  ];
  if (ofLines === null) return totalled(db, whole);
  return totalled(
    db,
    ends.reduce((sum, part) => sum.unionAll(lines(db, { ...ofLines, ...part }, of) as never), whole),
  );
}
