import { type Selectable, sql } from 'kysely';
import type { CallFacts, CallReleased } from '../../../domain/call.js';
import type { ApiKeyId, UserId } from '../../../domain/ids.js';
import { type Instant, unixSeconds } from '../../../domain/instant.js';
import type { Refusal } from '../../../domain/refusal.js';
import type { ReadModels } from '../../database.js';
import { addToRows, storableText } from '../../engine/multi-row.js';
import { type Sum, tallyOf } from '../../engine/tallies.js';

/* Why calls got nowhere, hour by hour: what was refused and what failed, by the status and code that were told. */

/** Before or after something had been reserved for the call. */
export const failureKinds = { refused: 0, failed: 1 } as const;
export type FailureKind = (typeof failureKinds)[keyof typeof failureKinds];

export interface UsageFailureTables {
  usage_stats_failures: {
    /** When it began, unix seconds. */
    hour: number;
    kind: FailureKind;
    /** 0: nobody who is known. */
    user_id: UserId | 0;
    /** 0: none, or not known. */
    api_key_id: ApiKeyId | 0;
    /** 0: none was told. */
    status: number;
    /** Empty: none was told. */
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

/** Whose call it was, if anybody's, and what was told. */
type ToldFailure = Pick<CallReleased, 'status' | 'code'> & {
  readonly userId: UserId | null;
  readonly apiKeyId: ApiKeyId | null;
};

/** What a batch comes to. */
export class FailureSums {
  private readonly rows = new Map<string, Failure & { failures: bigint }>();

  refused(at: Instant, refusal: Refusal, count: number): void {
    this.add(at, failureKinds.refused, refusal, count);
  }

  failed(at: Instant, { userId, apiKeyId }: CallFacts, { status, code }: Pick<CallReleased, 'status' | 'code'>): void {
    this.add(at, failureKinds.failed, { userId, apiKeyId, status, code }, 1);
  }

  async write(tx: ReadModels): Promise<void> {
    if (this.rows.size > 0) await addToRows(tx, 'usage_stats_failures', key, [...this.rows.values()]);
  }

  private add(at: Instant, kind: FailureKind, { userId, apiKeyId, status, code }: ToldFailure, count: number): void {
    const seconds = unixSeconds(at);
    const failure: Failure = {
      hour: seconds - (seconds % 3_600),
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

/** What is not given does not filter. */
export interface UsageFailureFilter {
  /** Unix seconds, both inclusive; hours count by their start. */
  readonly from: number;
  readonly to: number;
  readonly userId?: UserId;
  readonly apiKeyId?: ApiKeyId;
}

export type UsageFailure = Pick<Row, 'kind' | 'status' | 'code' | 'failures'>;

/** As many causes as anybody looks at. */
const mostRows = 200;

/** Most frequent first. */
export function usageFailures(
  db: ReadModels,
  { from, to, userId, apiKeyId }: UsageFailureFilter,
): Promise<UsageFailure[]> {
  let rows = db.selectFrom('usage_stats_failures').where('hour', '>=', from).where('hour', '<=', to);
  if (userId !== undefined) rows = rows.where('user_id', '=', userId);
  if (apiKeyId !== undefined) rows = rows.where('api_key_id', '=', apiKeyId);
  return rows
    .select(['kind', 'status', 'code', sql<number>`sum(failures)`.as('failures')])
    .groupBy(['kind', 'status', 'code'])
    .orderBy('failures', 'desc')
    .orderBy('kind')
    .orderBy('status')
    .orderBy('code')
    .limit(mostRows)
    .execute();
}
