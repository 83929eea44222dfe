import { type Selectable, type SqlBool, sql } from 'kysely';
import type { CallFacts, CallReleased } from '../../../domain/call/call.js';
import type { ApiKeyId, UserId } from '../../../domain/kernel/ids.js';
import { type Instant, unixSeconds } from '../../../domain/kernel/instant.js';
import type { Refusal } from '../../../domain/kernel/refusal.js';
import type { ReadModels } from '../../database.js';
import { storableText } from '../../engine/column-arrays.js';
import { addToRows } from '../../engine/multi-row.js';
import { type Sum, tallyOf } from '../../engine/tallies.js';
import { beganIn } from './usage-sums.js';

/* Why calls got nowhere, hour by hour: what was refused and what failed, by the status and code that were answered. */

/** Before or after something had been reserved for the call. */
export const callFailureKinds = { refused: 0, failed: 1 } as const;
export type CallFailureKind = (typeof callFailureKinds)[keyof typeof callFailureKinds];

export interface UsageFailureTables {
  usage_stats_failures: {
    /** When it began, unix seconds. */
    hour: number;
    kind: CallFailureKind;
    /** 0: nobody who is known. */
    user_id: UserId | 0;
    /** 0: none, or not known. */
    api_key_id: ApiKeyId | 0;
    /** 0: none was answered. */
    status: number;
    /** Empty: none was answered. */
    code: string;
    failures: Sum;
  };
}

export const tablesOfFailures = `
  create table usage_stats_failures (
    hour bigint not null,
    kind smallint not null,
    user_id bigint not null,
    api_key_id bigint not null,
    status bigint not null,
    code text not null,
    failures numeric not null,
    primary key (hour, kind, user_id, api_key_id, status, code)
  ) with (fillfactor = 70);
  create index usage_stats_failures_user on usage_stats_failures (user_id, hour);
`;

type Row = Selectable<UsageFailureTables['usage_stats_failures']>;
const key = ['hour', 'kind', 'user_id', 'api_key_id', 'status', 'code'] as const;
type Failure = Pick<Row, (typeof key)[number]>;

/** Whose call it was, if anybody's, and what was answered. */
type ReportedFailure = Pick<CallReleased, 'status' | 'code'> & {
  readonly userId: UserId | null;
  readonly apiKeyId: ApiKeyId | null;
};

/** What a batch comes to. */
export class FailureSums {
  private readonly rows = new Map<string, Failure & { failures: bigint }>();

  refused(at: Instant, refusal: Refusal, count: number): void {
    this.add(at, callFailureKinds.refused, refusal, count);
  }

  failed(at: Instant, { userId, apiKeyId }: CallFacts, { status, code }: Pick<CallReleased, 'status' | 'code'>): void {
    this.add(at, callFailureKinds.failed, { userId, apiKeyId, status, code }, 1);
  }

  async write(tx: ReadModels): Promise<void> {
    if (this.rows.size > 0) await addToRows(tx, 'usage_stats_failures', key, [...this.rows.values()]);
  }

  private add(
    at: Instant,
    kind: CallFailureKind,
    { userId, apiKeyId, status, code }: ReportedFailure,
    count: number,
  ): void {
    const failure: Failure = {
      hour: beganIn('hour', unixSeconds(at)),
      kind,
      user_id: userId ?? 0,
      api_key_id: apiKeyId ?? 0,
      status: status ?? 0,
      code: storableText(code ?? ''),
    };
    const row = tallyOf(this.rows, key.map((column) => failure[column]).join(' '), () => ({
      ...failure,
      failures: 0n,
    }));
    row.failures += BigInt(count);
  }
}

/** Whose failures are asked for; what is not given does not filter. */
interface FailureScope {
  readonly userId?: UserId;
  readonly apiKeyId?: ApiKeyId;
}

export interface UsageFailureFilter extends FailureScope {
  /** Unix seconds, both inclusive; hours count by their start. */
  readonly from: number;
  readonly to: number;
}

export type UsageFailure = Pick<Row, 'kind' | 'status' | 'code' | 'failures'>;

/** As many causes as anybody looks at. */
const maxRows = 200;

const rowsOf = (db: ReadModels, { userId, apiKeyId }: FailureScope) => {
  let rows = db.selectFrom('usage_stats_failures');
  if (userId !== undefined) rows = rows.where('user_id', '=', userId);
  if (apiKeyId !== undefined) rows = rows.where('api_key_id', '=', apiKeyId);
  return rows;
};

/** Most frequent first. */
export function usageFailures(db: ReadModels, { from, to, ...scope }: UsageFailureFilter): Promise<UsageFailure[]> {
  return rowsOf(db, scope)
    .where('hour', '>=', from)
    .where('hour', '<=', to)
    .select(['kind', 'status', 'code', sql<number>`sum(failures)`.as('failures')])
    .groupBy(['kind', 'status', 'code'])
    .orderBy('failures', 'desc')
    .orderBy('kind')
    .orderBy('status')
    .orderBy('code')
    .limit(maxRows)
    .execute();
}

export interface FailureHistoryQuery extends FailureScope {
  /** Where each piece of time begins, and where the last one ends: unix seconds, ascending, at least two. */
  readonly edges: readonly number[];
  /** How many causes are distinguished. */
  readonly top: number;
}

export interface FailureShare {
  /** null: all causes that are not among the first. */
  readonly cause: Omit<UsageFailure, 'failures'> | null;
  readonly failures: number;
  /** One for each piece of time, in its order. */
  readonly pieces: readonly number[];
}

/** A cause in one piece of time. `rank`: among the causes, from 1; null: not among the first. */
interface Cell extends Omit<UsageFailure, 'failures'> {
  readonly rank: number | null;
  /** From 1. */
  readonly piece: number;
  readonly failures: number;
}

/** The most frequent first, and what is left of all others, where there are more, last. */
export async function failureHistory(
  db: ReadModels,
  { edges, top, ...scope }: FailureHistoryQuery,
): Promise<FailureShare[]> {
  const counted = rowsOf(db, scope)
    .where(sql<SqlBool>`hour >= ${edges[0]} and hour < ${edges.at(-1)}`)
    .select(['kind', 'status', 'code'])
    .select(sql<number>`width_bucket(hour, ${edges}::bigint[])`.as('piece'))
    .select(sql<number>`sum(failures)`.as('failures'))
    .groupBy(['kind', 'status', 'code', 'piece']);
  // What is not among the first loses its name here, so that an answer is as long as a chart and not as there are causes.
  const { rows } = await sql<Cell>`
    with counted as materialized (${counted}), first as (
      select kind, status, code, (row_number() over (order by sum(failures) desc, kind, status, code))::int as rank
      from counted group by kind, status, code order by rank limit ${top}
    )
    select first.rank, first.kind, first.status, first.code, piece, sum(failures) as failures
    from counted left join first using (kind, status, code)
    group by first.rank, first.kind, first.status, first.code, piece
    order by first.rank nulls last
  `.execute(db);
  return sharesOf(rows, edges.length - 1);
}

/** `cells` by rank. */
function sharesOf(cells: readonly Cell[], pieces: number): FailureShare[] {
  const shares = new Map<number | null, { cause: FailureShare['cause']; failures: number; pieces: number[] }>();
  for (const { rank, kind, status, code, piece, failures } of cells) {
    const share = shares.get(rank) ?? {
      cause: rank === null ? null : { kind, status, code },
      failures: 0,
      pieces: new Array<number>(pieces).fill(0),
    };
    share.failures += failures;
    share.pieces[piece - 1] = failures;
    shares.set(rank, share);
  }
  return [...shares.values()];
}
