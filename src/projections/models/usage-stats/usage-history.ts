import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { percentileOf } from '../../../domain/durations.js';
import type { ReadModels } from '../../database.js';
import { countsIn } from './distribution.js';
import { type UsageDimension, type UsageStatsFilter, usageRows } from './usage-stats-queries.js';
import { distributions, measures, type Piece } from './usage-sums.js';

/*
 * A range of time in pieces, whole and by what there is most of. Rows are added up once, by piece and dimension, and
 * everything else is added up from that.
 */

export interface UsageHistoryQuery {
  readonly filter: Omit<UsageStatsFilter, 'from' | 'to'>;
  /** Where each piece of time begins, and where the last one ends: unix seconds, ascending, at least two. */
  readonly edges: readonly number[];
  /** Calls count by when the hour or minute began that they were in. Of minutes the last hours are there. */
  readonly piece: Piece;
  /** What is told apart beside time; null: nothing. */
  readonly by: UsageDimension | null;
  /** How many of these are told by name. */
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
const sums = sql.join(measures.map((measure) => sql.ref(measure)));
const sumsOfCells = sql.join(summed(measures));
const distributionsAsText = sql.join(distributions.map((column) => sql`${sql.ref(column)}::text`));

/** `cell`: of one share in one piece of time. */
type Row = Readonly<Record<(typeof measures)[number], number>> & {
  readonly kind: 'piece' | 'share' | 'cell';
  /** Which piece of time, or which of the shares: from 1. */
  readonly place: number;
  readonly about: string | null;
  readonly latencies: string | null;
  readonly first_tokens: string | null;
};

/**
 * The pieces in total, those there is most of (one more than are told by name), and these piece by piece. Distributions
 * are dear to add up: they are added by piece or by share, and not by both.
 */
async function read(db: ReadModels, query: UsageHistoryQuery): Promise<Row[]> {
  const { filter, edges, piece, by, top, order } = query;
  const time = sql.ref(piece);
  const rowsBy = (dimensions: readonly UsageDimension[]) =>
    usageRows(db, piece, filter, dimensions).where(sql<SqlBool>`${time} >= ${edges[0]} and ${time} < ${edges.at(-1)}`);
  const place = sql`width_bucket(${time}, ${edges}::bigint[])`.as('place');
  const pieces = rowsBy([])
    .select(place)
    .select(summed([...measures, ...distributions]))
    .groupBy(sql`1`);
  if (by === null) {
    const { rows } = await sql<Row>`
      select 'piece' as kind, place, null as about, ${sums}, ${distributionsAsText} from (${pieces}) as pieces
    `.execute(db);
    return rows;
  }
  const about = sql<string>`${sql.ref(by)}::text`;
  const cells = rowsBy([by])
    .select([place, about.as('about')])
    .select(summed(measures))
    .groupBy([sql`1`, sql`2`]);
  const timed = rowsBy([by])
    .where(sql<SqlBool>`${about} in (select about from share)`)
    .select(about.as('about'))
    .select(summed(distributions))
    .groupBy(sql`1`);
  const { rows } = await sql<Row>`
    with cell as materialized (${cells}), share as materialized (
      select about, row_number() over (order by ${rankedBy[order]} desc, about)::int as place, ${sumsOfCells}
      from cell group by about order by place limit ${top + 1}
    )
    select 'piece' as kind, place, null as about, ${sums}, ${distributionsAsText} from (${pieces}) as pieces
    union all
    select 'share', place, about, ${sums}, ${distributionsAsText} from share join (${timed}) as timed using (about)
    union all
    select 'cell', place, about, ${sums}, null, null
    from cell where about in (select about from share order by place limit ${top})
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
  for (const row of rows) found[row.place - 1] = addedOf(row);
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

const isNumber: ReadonlySet<UsageDimension> = new Set(['user_id', 'api_key_id', 'channel_id']);

/** What a share is about, as its column has it. */
const aboutOf = (by: UsageDimension, text: string): number | string => (isNumber.has(by) ? Number(text) : text);

function sharesOf(
  { by, top }: UsageHistoryQuery & { readonly by: UsageDimension },
  rows: readonly Row[],
  pieces: readonly Added[],
): UsageShare[] {
  const named = rows.filter(({ kind }) => kind === 'share').sort((one, other) => one.place - other.place);
  const shares = named.slice(0, top).map((row) => {
    const cells = rows.filter(({ kind, about }) => kind === 'cell' && about === row.about);
    return { about: row.about ?? '', total: addedOf(row), pieces: byPiece(cells, pieces.length) };
  });
  const told = shares.map(({ about, total, pieces }) => ({
    about: aboutOf(by, about),
    total: figuresOf(total),
    pieces: pieces.map(sumsOf),
  }));
  if (named.length <= top) return told;
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
  return [...told, others];
}

export async function usageHistory(db: ReadModels, query: UsageHistoryQuery): Promise<UsageHistory> {
  const rows = await read(db, query);
  const { edges, by } = query;
  const pieces = byPiece(
    rows.filter(({ kind }) => kind === 'piece'),
    edges.length - 1,
  );
  return {
    total: figuresOf(sumOf(pieces)),
    pieces: pieces.map((piece, index) => ({ start: edges[index] ?? 0, ...figuresOf(piece) })),
    shares: by === null ? [] : sharesOf({ ...query, by }, rows, pieces),
  };
}
