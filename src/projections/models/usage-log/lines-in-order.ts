import { type AliasedExpression, type SqlBool, sql } from 'kysely';
import type { ReadModels } from '../../database.js';
import { type LineFilter, type Lines, whenever } from './usage-log-filter.js';
import { idsWithin } from './usage-log-hours.js';

/*
 * Lines of the log, newest first, without a look at those in between: an index has the lines of a series, or of a single
 * value, in the order of their ids.
 */

/** Lines of these series, where series are named. */
export interface InOrder {
  readonly lines: Lines;
  readonly series: readonly number[] | undefined;
}

/**
 * The lines that fit, to be taken in the order of their ids: what is newer or older than the time asked for is not looked at.
 * null: there are none.
 */
export async function inOrder(db: ReadModels, { series, from, to, ...timeless }: LineFilter): Promise<InOrder | null> {
  const lines = whenever(db, timeless);
  if (from === undefined && to === undefined) return { lines, series };
  const ids = await idsWithin(db, { from, to });
  if (ids === null) return null;
  const isOfTime = sql<SqlBool>`line.created_at between ${from ?? 0} and ${to ?? Number.MAX_SAFE_INTEGER}`;
  return {
    lines: lines
      .where('line.id', '>=', ids.first)
      .where('line.id', '<=', ids.last)
      // The planner must not take the time for a second condition: the ids let through next to nothing that is not of it.
      // Of a series it takes the index in any case, and looks into the months of this time alone.
      .where(series === undefined ? sql<SqlBool>`case when ${isOfTime} then true else false end` : isOfTime),
    series,
  };
}

/** Where the newest of each series would be more than these, what fits is looked for among all lines. */
const maxTaken = 200_000;

interface Taken {
  readonly limit: number;
  readonly offset?: number;
}

/** The ids of the newest. Each series has its own in order, so no line in between is looked at. */
export function newest(db: ReadModels, { lines, series }: InOrder, { limit, offset = 0 }: Taken) {
  const idsOf = (some: Lines) => some.select('line.id').orderBy('line.id', 'desc');
  if (series === undefined) return idsOf(lines).limit(limit).offset(offset);
  const each = limit + offset;
  if (series.length * each > maxTaken) return idsOf(ofSeries(lines, series)).limit(limit).offset(offset);
  return eachSeries(db, series, newestOfWanted(lines, each))
    .select('line.id')
    .orderBy('line.id', 'desc')
    .limit(limit)
    .offset(offset);
}

const ofSeries = (lines: Lines, series: readonly number[]): Lines => lines.where('line.series_id', 'in', series);

/**
 * In an order that no index has but that of series, and by a range, which the planner does not see to be of one series:
 * where there are few series it would else expect the newest lines of all, or whichever come first, to be of this one soon
 * enough, and where none of them is, look through all.
 */
const newestOfWanted = (lines: Lines, max: number) =>
  lines
    .select('line.id')
    .where(sql<SqlBool>`line.series_id >= wanted.id and line.series_id <= wanted.id`)
    .orderBy('line.series_id', 'desc')
    .orderBy('line.id', 'desc')
    .limit(max);

/** What is selected of each series, one after the other. */
const eachSeries = <Row extends object>(
  db: ReadModels,
  series: readonly number[],
  selected: { as(alias: 'line'): AliasedExpression<Row, 'line'> },
) =>
  db
    .selectFrom(sql<{ id: number }>`unnest(${series}::integer[])`.as<'wanted'>(sql`wanted (id)`))
    .innerJoinLateral(selected.as('line'), (join) => join.onTrue());

/** As far as `max`. */
export async function countedUpTo(db: ReadModels, { lines, series }: InOrder, max: number): Promise<number> {
  const counted =
    series === undefined
      ? lines.select('line.id')
      : eachSeries(db, series, newestOfWanted(lines, max)).select('line.id');
  const { total } = await db
    .selectFrom(counted.limit(max).as('some'))
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return total;
}
