import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import type { CallFacts, CallRefunded, CallReleased, CallSettled, TakenBack } from '../../domain/call.js';
import { assertNever } from '../../domain/failure.js';
import type { ApiKeyId, ChannelId, UserId } from '../../domain/ids.js';
import { type Instant, unixSeconds } from '../../domain/instant.js';
import type { Quota } from '../../domain/quota.js';
import type { ReadModels } from '../database.js';
import { addToRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';
import { type Sum, tallyOf } from '../engine/tallies.js';

/* Calls counted by hour and by everything one may ask about. Channel tests are nobody's usage and do not count. */

export interface UsageStatsTables {
  usage_stats: {
    /** Start of the hour, unix seconds. */
    hour: number;
    user_id: UserId;
    /** 0: no API key paid. */
    api_key_id: ApiKeyId | 0;
    model: string;
    /** The channel that answered, or was tried last; 0: none. */
    channel_id: ChannelId | 0;
    group: string;
    /** Settled calls. */
    requests: number;
    /** Calls that were reserved and could not be served. */
    errors: number;
    quota: Sum<Quota>;
    prompt_tokens: Sum;
    completion_tokens: Sum;
    cached_tokens: Sum;
    reasoning_tokens: Sum;
    /** Summed over settled calls. */
    use_time_ms: Sum;
  };
}

export type UsageStatsRow = Selectable<UsageStatsTables['usage_stats']>;

type Tally = Insertable<UsageStatsTables['usage_stats']>;

const tables = `
  create table usage_stats (
    hour bigint not null,
    user_id bigint not null,
    api_key_id bigint not null,
    model text not null,
    channel_id bigint not null,
    "group" text not null,
    requests bigint not null,
    errors bigint not null,
    quota numeric not null,
    prompt_tokens numeric not null,
    completion_tokens numeric not null,
    cached_tokens numeric not null,
    reasoning_tokens numeric not null,
    use_time_ms numeric not null,
    primary key (hour, user_id, api_key_id, model, channel_id, "group")
  ) with (fillfactor = 70);
  create index usage_stats_user on usage_stats (user_id, hour);
`;

const key = ['hour', 'user_id', 'api_key_id', 'model', 'channel_id', 'group'] as const;

type CountedEvent = CallSettled | CallReleased | CallRefunded;

export const usageStats = projection<CountedEvent>({
  name: 'usage_stats',
  version: 2,
  tables,
  interestedIn: { CallSettled: true, CallReleased: true, CallRefunded: true },
  async project(tx, batch) {
    const rows = new Map<string, Tally>();
    for (const { event, at } of batch) {
      if (event.type === 'CallReleased' && !isFault(event)) continue;
      switch (event.type) {
        case 'CallSettled':
          count(rowOf(rows, at, event.facts, event.channelId), event, 1);
          break;
        case 'CallReleased':
          rowOf(rows, at, event.facts, event.attempts.at(-1) ?? 0).errors += 1;
          break;
        case 'CallRefunded': {
          // It counts as what its caller was told: a call that could not be served.
          const { settlement } = event;
          count(rowOf(rows, settlement.at, event.facts, settlement.channelId), settlement, -1);
          rowOf(rows, at, event.facts, settlement.channelId).errors += 1;
          break;
        }
        default:
          assertNever(event);
      }
    }
    await addToRows(tx, 'usage_stats', key, [...rows.values()]);
  },
});

/** A caller that left and a node that died say nothing about the service. */
const isFault = ({ reason }: CallReleased): boolean => reason !== 'caller-left' && reason !== 'recovered';

/** Counts a settlement, or takes it back. */
function count(row: Tally, settlement: CallSettled | TakenBack, sign: 1 | -1): void {
  const { usage } = settlement;
  row.requests += sign;
  row.quota += BigInt(sign * settlement.charged);
  row.prompt_tokens += BigInt(sign * usage.prompt);
  row.completion_tokens += BigInt(sign * usage.completion);
  row.cached_tokens += BigInt(sign * usage.cached);
  row.reasoning_tokens += BigInt(sign * usage.reasoning);
  row.use_time_ms += BigInt(sign * Math.round(settlement.useTimeMs));
}

function rowOf(rows: Map<string, Tally>, at: Instant, facts: CallFacts, channelId: ChannelId | 0): Tally {
  const seconds = unixSeconds(at);
  const hour = seconds - (seconds % 3600);
  const apiKeyId = facts.apiKeyId ?? 0;
  const { model, group } = facts;
  // The length keeps the two texts apart, whatever they hold.
  return tallyOf(rows, `${hour} ${facts.userId} ${apiKeyId} ${channelId} ${model.length} ${model}${group}`, () => ({
    hour,
    user_id: facts.userId,
    api_key_id: apiKeyId,
    model,
    channel_id: channelId,
    group,
    requests: 0,
    errors: 0,
    quota: 0n,
    prompt_tokens: 0n,
    completion_tokens: 0n,
    cached_tokens: 0n,
    reasoning_tokens: 0n,
    use_time_ms: 0n,
  }));
}

/* ---- queries ---- */

export interface UsageStatsFilter {
  /** Unix seconds, inclusive; hours count by their start. */
  readonly from: number;
  readonly to: number;
  readonly userId?: UserId;
  readonly username?: string;
  readonly apiKeyId?: ApiKeyId;
  readonly model?: string;
  readonly channelId?: ChannelId;
  readonly group?: string;
}

export type UsageDimension = 'user_id' | 'api_key_id' | 'model' | 'channel_id' | 'group';

export interface UsageStatsQuery {
  /** What each row is about; several may be given. */
  readonly by: readonly UsageDimension[];
  /** null: the whole range in one. */
  readonly interval: 'hour' | 'day' | null;
  /** Where days begin: minutes east of UTC. A zone off the full hour counts each hour to the day it starts in. */
  readonly offsetMinutes: number;
}

type Measures = Pick<
  UsageStatsRow,
  | 'requests'
  | 'errors'
  | 'quota'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cached_tokens'
  | 'reasoning_tokens'
  | 'use_time_ms'
>;

/** `start`: of the interval, unix seconds; null without interval. Dimensions not asked for are null. */
export type UsageStatsGroup = { readonly start: number | null } & {
  readonly [Dimension in UsageDimension]: UsageStatsRow[Dimension] | null;
} & Readonly<Measures>;

const dimensions = ['user_id', 'api_key_id', 'model', 'channel_id', 'group'] as const;

const measures = [
  'requests',
  'errors',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'use_time_ms',
] as const satisfies readonly (keyof Measures)[];

/** Sums over a range, by the dimensions and the interval asked for; oldest interval first, then the dearest. */
export function usageStatsBy(
  db: ReadModels,
  filter: UsageStatsFilter,
  { by, interval, offsetMinutes }: UsageStatsQuery,
): Promise<UsageStatsGroup[]> {
  const offset = Math.round(offsetMinutes) * 60;
  const start: RawBuilder<number | null> =
    interval === 'day'
      ? sql`(hour + ${sql.lit(offset)}) / 86400 * 86400 - ${sql.lit(offset)}`
      : interval === 'hour'
        ? sql`hour`
        : sql`null::bigint`;
  const grouped = [...(interval === null ? [] : [start]), ...by.map((dimension) => sql.ref(dimension))];
  let rows = db.selectFrom('usage_stats').where('hour', '>=', filter.from).where('hour', '<=', filter.to);
  if (filter.userId !== undefined) rows = rows.where('user_id', '=', filter.userId);
  const { username } = filter;
  if (username !== undefined)
    rows = rows.where('user_id', 'in', (where) =>
      where.selectFrom('users').select('users.id').where('users.username', '=', username),
    );
  if (filter.apiKeyId !== undefined) rows = rows.where('api_key_id', '=', filter.apiKeyId);
  if (filter.model !== undefined) rows = rows.where('model', '=', filter.model);
  if (filter.channelId !== undefined) rows = rows.where('channel_id', '=', filter.channelId);
  if (filter.group !== undefined) rows = rows.where('group', '=', filter.group);
  const query = rows
    .select(start.as('start'))
    .select(
      dimensions.map((dimension) =>
        by.includes(dimension) ? sql<unknown>`${sql.ref(dimension)}`.as(dimension) : sql<unknown>`null`.as(dimension),
      ),
    )
    .select(measures.map((measure) => sql<number>`coalesce(sum(${sql.ref(measure)}), 0)`.as(measure)));
  return (grouped.length === 0 ? query : query.groupBy(grouped))
    .orderBy(sql`1`)
    .orderBy(sql`sum(quota) desc`)
    .$castTo<UsageStatsGroup>()
    .execute();
}
