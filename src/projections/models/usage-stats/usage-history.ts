import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { percentileOf } from '../../../domain/kernel/durations.js';
import type { ReadModels } from '../../database.js';
import { countsIn } from './distribution.js';
import {
  type CallsBreakdown,
  type UsageDimension,
  type UsageStatsFilter,
  usageRows,
  usageRowsOver,
} from './usage-stats-queries.js';
import { distributions, measures, type Piece, readSum } from './usage-sums.js';

/*
 * A range of time in pieces, whole and by what there is most of. What there is most of is found first, so that only that
 * is added up piece by piece.
 */

export interface UsageHistoryQuery {
  readonly filter: Omit<UsageStatsFilter, 'from' | 'to'>;
  /** Where each piece of time begins, and where the last one ends: unix seconds, ascending, at least two. */
  readonly edges: readonly number[];
  /** Calls count by when the hour or minute began that they were in. Of minutes the last hours are there. */
  readonly piece: Piece;
  /** What is distinguished beside time; null: nothing. */
  readonly by: UsageDimension | null;
  /** How many of these are listed by name. */
  readonly top: number;
  /** What there must be most of to be among them. */
  readonly order: HistoryOrder;
}

export type HistoryOrder = 'quota' | 'requests' | 'errors' | 'tokens';

export type UsageSums = Readonly<Record<(typeof measures)[number], number>>;

/** Milliseconds; null: there were no such calls. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface UsageFigures extends UsageSums {
  readonly latency: Percentiles;
  readonly firstToken: Percentiles;
}

/** `start`: of the piece, unix seconds. */
export type UsagePiece = UsageFigures & { readonly start: number };

export interface UsageShare {
  /** The user, model and so on; null: all that are not among the first. */
  readonly about: number | string | null;
  readonly total: UsageFigures;
  /** One for each piece of time, in its order. */
  readonly pieces: readonly UsageSums[];
}

export interface UsageHistory {
  readonly total: UsageFigures;
  readonly pieces: readonly UsagePiece[];
  /** Those there is most of first, and what is left of all others, where there are more, last. */
  readonly shares: readonly UsageShare[];
}

/** What is added up of rows: sums, and counts by class of duration. */
interface Added extends Record<(typeof measures)[number], number> {
  latencies: number[];
  first_tokens: number[];
}

const nothing = (): Added => ({
  requests: 0,
  errors: 0,
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  use_time_ms: 0,
  cost: 0,
  requests_without_cost: 0,
  quota_without_cost: 0,
  latencies: [],
  first_tokens: [],
});

function add(sum: Added, more: Added, sign: 1 | -1): void {
  for (const measure of measures) sum[measure] += sign * more[measure];
  for (const distribution of distributions) {
    const counts = sum[distribution];
    for (const [index, count] of more[distribution].entries()) counts[index] = (counts[index] ?? 0) + sign * count;
  }
}

const sumsOf = ({ latencies: _, first_tokens: __, ...sums }: Added): UsageSums => sums;

const percentilesOf = (counts: readonly number[]): Percentiles => ({
  p50: percentileOf(counts, 0.5),
  p95: percentileOf(counts, 0.95),
  p99: percentileOf(counts, 0.99),
});

const figuresOf = ({ latencies, first_tokens, ...sums }: Added): UsageFigures => ({
  ...sums,
  latency: percentilesOf(latencies),
  firstToken: percentilesOf(first_tokens),
});

const rankedBy: Readonly<Record<HistoryOrder, RawBuilder<unknown>>> = {
  quota: sql`sum(quota)`,
  requests: sql`sum(requests)`,
  errors: sql`sum(errors)`,
  tokens: sql`sum(prompt_tokens + completion_tokens)`,
};

const summed = <Column extends string>(columns: readonly Column[]) =>
  columns.map((column) => sql<unknown>`sum(${sql.ref(column)})`.as(column));
const sums = sql.join(measures.map((measure) => sql`${readSum(measure, sql.ref(measure))} as ${sql.ref(measure)}`));
const distributionsAsText = sql.join(distributions.map((column) => sql`${sql.ref(column)}::text`));

const isNumber: ReadonlySet<UsageDimension> = new Set(['user_id', 'api_key_id', 'channel_id']);

/**
 * Those there is most of, that first, and one more than are listed by name, where there are more: as the column has
 * them.
 */
async function maxOf(db: ReadModels, query: UsageHistoryQuery): Promise<(number | string)[]> {
  const { filter, edges, piece, by, top, order } = query;
  if (by === null) return [];
  const rows = await usageRowsOver(db, piece, { filter, ...rangeOf(edges) }, { by: [by], durations: false })
    .select(sql<number | string>`${sql.ref(by)}`.as('about'))
    .groupBy(sql`1`)
    .orderBy(sql`${rankedBy[order]} desc`)
    .orderBy(sql`${sql.ref(by)}::text`)
    .limit(top + 1)
    .execute();
  return rows.map(({ about }) => about);
}

const rangeOf = (edges: UsageHistoryQuery['edges']) => ({ from: edges[0] ?? 0, to: edges.at(-1) ?? 0 });

/** `cell`: of one share in one piece of time. */
type Row = Readonly<Record<(typeof measures)[number], number>> & {
  readonly kind: 'piece' | 'share' | 'cell';
  /** Which piece of time: from 1; null: of a share. */
  readonly place: number | null;
  readonly about: number | string | null;
  readonly latencies: string | null;
  readonly first_tokens: string | null;
};

/**
 * The pieces in total, each of `first` in total, and those of them that are listed by name piece by piece: as of one
 * moment, so that what is left of all others is not less than nothing. Distributions are dear to add up: they are added
 * by piece or by share, and not by both.
 */
async function read(db: ReadModels, query: UsageHistoryQuery, first: readonly (number | string)[]): Promise<Row[]> {
  const { filter, edges, piece, by, top } = query;
  const time = sql.ref(piece);
  const { from, to } = rangeOf(edges);
  const rowsOf = (asked: CallsBreakdown) =>
    usageRows(db, piece, filter, asked).where(sql<SqlBool>`${time} >= ${from} and ${time} < ${to}`);
  const place = sql`width_bucket(${time}, ${edges}::bigint[])`.as('place');
  const pieces = rowsOf({ by: [], durations: true })
    .select(place)
    .select(summed([...measures, ...distributions]))
    .groupBy(sql`1`);
  if (by === null || first.length === 0) {
    const { rows } = await sql<Row>`
      select 'piece' as kind, place, null as about, ${sums}, ${distributionsAsText} from (${pieces}) as pieces
    `.execute(db);
    return rows;
  }
  const about = sql.ref(by);
  const type = isNumber.has(by) ? sql`bigint[]` : sql`text[]`;
  const among = (values: readonly (number | string)[]) => sql<SqlBool>`${about} = any(${values}::${type})`;
  const shares = usageRowsOver(db, piece, { filter, from, to }, { by: [by], durations: true })
    .where(among(first))
    .select(about.as('about'))
    .select(summed([...measures, ...distributions]))
    .groupBy(sql`1`);
  const cells = rowsOf({ by: [by], durations: false })
    .where(among(first.slice(0, top)))
    .select([place, about.as('about')])
    .select(summed(measures))
    .groupBy([sql`1`, sql`2`]);
  const { rows } = await sql<Row>`
    select 'share' as kind, null as place, about, ${sums}, ${distributionsAsText} from (${shares}) as shares
    union all
    select 'cell', place, about, ${sums}, null, null from (${cells}) as cells
    union all
    select 'piece', place, null, ${sums}, ${distributionsAsText} from (${pieces}) as pieces
  `.execute(db);
  return rows;
}

const addedOf = ({ latencies, first_tokens, ...row }: Row): Added => ({
  ...nothing(),
  ...Object.fromEntries(measures.map((measure) => [measure, row[measure]])),
  latencies: countsIn(latencies ?? ''),
  first_tokens: countsIn(first_tokens ?? ''),
});

/** As many of each piece as there were, pieces without calls included. */
function byPiece(rows: readonly Row[], pieces: number): Added[] {
  const found = Array.from({ length: pieces }, nothing);
  for (const row of rows) if (row.place !== null) found[row.place - 1] = addedOf(row);
  return found;
}

const sumOf = (parts: readonly Added[]): Added => {
  const sum = nothing();
  for (const part of parts) add(sum, part, 1);
  return sum;
};

const without = (whole: Added, parts: readonly Added[]): Added => {
  const rest = nothing();
  add(rest, whole, 1);
  for (const part of parts) add(rest, part, -1);
  return rest;
};

function sharesOf(
  top: number,
  first: readonly (number | string)[],
  rows: readonly Row[],
  pieces: readonly Added[],
): UsageShare[] {
  const shares = first.slice(0, top).map((about) => {
    const its = rows.filter((row) => row.about === about);
    const total = its.find(({ kind }) => kind === 'share');
    const cells = its.filter(({ kind }) => kind === 'cell');
    return { about, total: total === undefined ? nothing() : addedOf(total), pieces: byPiece(cells, pieces.length) };
  });
  const series = shares.map(({ about, total, pieces }) => ({
    about,
    total: figuresOf(total),
    pieces: pieces.map(sumsOf),
  }));
  if (first.length <= top) return series;
  const totals = shares.map(({ total }) => total);
  const others = {
    about: null,
    total: figuresOf(without(sumOf(pieces), totals)),
    pieces: pieces.map((piece, index) =>
      sumsOf(
        without(
          piece,
          shares.map(({ pieces }) => pieces[index] ?? nothing()),
        ),
      ),
    ),
  };
  return [...series, others];
}

export async function usageHistory(db: ReadModels, query: UsageHistoryQuery): Promise<UsageHistory> {
  const { edges, top } = query;
  const first = await maxOf(db, query);
  const rows = await read(db, query, first);
  const pieces = byPiece(
    rows.filter(({ kind }) => kind === 'piece'),
    edges.length - 1,
  );
  return {
    total: figuresOf(sumOf(pieces)),
    pieces: pieces.map((piece, index) => ({ start: edges[index] ?? 0, ...figuresOf(piece) })),
    shares: sharesOf(top, first, rows, pieces),
  };
}
