import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { type Quota, zero } from '../../../domain/kernel/quota.js';
import type { ReadModels } from '../../database.js';
import { hoursTable, matchingHours } from '../usage-stats/usage-stats-queries.js';
import { type Dimension, rowKinds, type UsageSumTable } from '../usage-stats/usage-sums.js';
import { numbered } from './narrowed-filter.js';
import { logTypes } from './usage-log.js';
import { isModel, type LineFilter, matching, shown, type UsageLogFilter } from './usage-log-filter.js';
import type { Times } from './usage-log-hours.js';

/*
 * Sums over lines that have not been cleared. Whole hours come from the statistics; only the ends of a range, and hours
 * in which an API key had two names, are read line by line: the statistics know a name by its user, all else by the key.
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

type Summand = keyof UsageTotals;

const sums = ['quota', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] as const;

const countedAs: Readonly<Record<Summed, readonly (typeof rowKinds)[keyof typeof rowKinds][]>> = {
  calls: [rowKinds.logged],
  tests: [rowKinds.channelTests],
  both: [rowKinds.logged, rowKinds.channelTests],
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

/** Whole hours; `end` exclusive, null: no limit. */
interface Hours {
  readonly first: number | null;
  readonly end: number | null;
}

const whole = (rows: ReturnType<typeof matchingHours>, { first, end }: Hours) => {
  const begun = first === null ? rows : rows.where('hour', '>=', first);
  return end === null ? begun : begun.where('hour', '<', end);
};

/** The table that knows all that is asked; null: none does. */
const tableOf = (filter: TotalsFilter): UsageSumTable | null =>
  hoursTable(filter, filter.model === undefined ? [] : ['model']);

interface SummedHours {
  readonly of: Summed;
  readonly within: Hours;
}

function hours(db: ReadModels, table: UsageSumTable, { model, ...filter }: TotalsFilter, { of, within }: SummedHours) {
  const rows = whole(matchingHours(db, table, filter).where('counted', 'in', countedAs[of]), within);
  return (model === undefined ? rows : rows.where(isModel('model', model)))
    .select(sums.map((sum) => sql<number>`${sql.ref(sum)}`.as(sum)))
    .select(sql<number>`requests`.as('requests'));
}

/** Whole hours in which somebody's API key had the name, and no other one (`one`) or another one as well (`several`). */
function hoursOfName(db: ReadModels, filter: TotalsFilter, within: Hours, names: 'one' | 'several') {
  const { userId, username, apiKeyId, apiKeyName } = filter;
  const otherName = sql<SqlBool>`exists (
    select from usage_stats_callers as other
    where (other.hour, other.user_id, other.api_key_id) =
        (usage_stats_callers.hour, usage_stats_callers.user_id, usage_stats_callers.api_key_id)
      and other.api_key_name <> usage_stats_callers.api_key_name
  )`;
  return whole(matchingHours(db, 'usage_stats_callers', { userId, username, apiKeyId, apiKeyName }), within)
    .where(names === 'several' ? otherName : sql<SqlBool>`not ${otherName}`)
    .select(['hour', 'user_id', 'api_key_id'])
    .distinct();
}

/** What the hours come to in which a key had the name and no other. */
function hoursByName(db: ReadModels, filter: TotalsFilter, of: Summed, within: Hours) {
  const { apiKeyName: _, ...nameless } = filter;
  const ofKeys: readonly Dimension[] = ['user_id', 'api_key_id'];
  const table = hoursTable(nameless, filter.model === undefined ? ofKeys : [...ofKeys, 'model']);
  // The table with most columns knows every dimension there is but the name.
  return hours(db, table ?? 'usage_stats', nameless, { of, within }).where(({ eb, refTuple }) =>
    eb(
      refTuple('hour', 'user_id', 'api_key_id'),
      'in',
      hoursOfName(db, filter, within, 'one').$asTuple('hour', 'user_id', 'api_key_id'),
    ),
  );
}

/** The lines of hours in which a key had the name and another one, each looked for by its own time. */
const linesOfRenamed = (db: ReadModels, filter: TotalsFilter, ofLines: LineFilter, { of, within }: SummedHours) =>
  db
    .selectFrom(hoursOfName(db, filter, within, 'several').as('used'))
    .innerJoinLateral(
      lines(db, { ...ofLines, from: undefined, to: undefined }, of)
        .where(sql<SqlBool>`line.created_at >= used.hour and line.created_at < used.hour + ${sql.lit(hour)}`)
        .where(sql<SqlBool>`(line.user_id, line.api_key_id) = (used.user_id, used.api_key_id)`)
        .as('line'),
      (join) => join.onTrue(),
    )
    .select([...sums.map((sum) => `line.${sum}` as const), 'line.requests']);

/** To the compiler they are all of different tables, however much their columns are the same. */
type Part = SelectQueryBuilder<never, never, Record<Summand, number>>;

const totalled = (db: ReadModels, [first, ...others]: readonly [Part, ...Part[]]): Promise<UsageTotals> =>
  db
    .selectFrom(others.reduce((all, part) => all.unionAll(part), first).as('part'))
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
  // Lines with a code are of calls that were charged nothing.
  if (asked.code !== undefined) return noTotals;
  const filter = await shown(db, asked);
  const { from, to } = filter;
  const first = from === undefined ? null : Math.ceil(from / hour) * hour;
  const end = to === undefined ? null : Math.floor((to + 1) / hour) * hour;
  const ofLines = await numbered(db, filter);
  // Of single calls the statistics know nothing.
  if (filter.requestId !== undefined || (first !== null && end !== null && first >= end))
    return ofLines === null ? noTotals : totalled(db, [lines(db, ofLines, of)]);

  const within = { first, end };
  const table = tableOf(filter);
  const ofHours = table === null ? hoursByName(db, filter, of, within) : hours(db, table, filter, { of, within });
  if (ofLines === null) return totalled(db, [ofHours]);
  // One by one, so that each is looked for by its own time.
  const ends: Times[] = [
    ...(first === null || first === from ? [] : [{ from, to: first - 1 }]),
    ...(end === null || to === undefined || end > to ? [] : [{ from: end, to }]),
  ];
  return totalled(db, [
    ofHours,
    ...ends.map((part) => lines(db, { ...ofLines, ...part }, of)),
    ...(table === null ? [linesOfRenamed(db, filter, ofLines, { of, within })] : []),
  ]);
}
