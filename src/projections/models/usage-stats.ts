import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import type { CallFacts, CallRefunded, CallReleased, CallSettled, TakenBack } from '../../domain/call.js';
import type { ChannelEvent, ChannelTestUsage } from '../../domain/channel.js';
import { streamKey } from '../../domain/events.js';
import { assertNever } from '../../domain/failure.js';
import { type ApiKeyId, ChannelId, type UserId } from '../../domain/ids.js';
import { type Instant, unixSeconds } from '../../domain/instant.js';
import type { OptionEvent } from '../../domain/option.js';
import type { Quota } from '../../domain/quota.js';
import type { SetupEvent } from '../../domain/setup.js';
import { completionTokens, promptTokens } from '../../domain/usage.js';
import type { ReadModels } from '../database.js';
import { addToRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';
import { type Sum, tallyOf } from '../engine/tallies.js';

/*
 * Calls counted by hour and by everything one may ask about. Channel tests are nobody's usage and are kept apart, and so
 * are calls settled while the usage log was switched off: what is logged sums to what the log's lines do.
 */

/** What a row counts. */
export const counted = { logged: 0, unlogged: 1, channelTests: 2 } as const;
type Counted = (typeof counted)[keyof typeof counted];

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
    counted: Counted;
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
  /** One row, as of the last event folded. */
  usage_stats_rules: {
    log_consume: boolean;
    root_user_id: UserId;
  };
  /** When the usage log was switched on or off. */
  usage_stats_switches: {
    at: Instant;
  };
}

type UsageStatsRow = Selectable<UsageStatsTables['usage_stats']>;

type Rules = Selectable<UsageStatsTables['usage_stats_rules']>;
type Tally = Insertable<UsageStatsTables['usage_stats']>;

const tables = `
  create table usage_stats (
    hour bigint not null,
    user_id bigint not null,
    api_key_id bigint not null,
    model text not null,
    channel_id bigint not null,
    "group" text not null,
    counted smallint not null,
    requests bigint not null,
    errors bigint not null,
    quota numeric not null,
    prompt_tokens numeric not null,
    completion_tokens numeric not null,
    cached_tokens numeric not null,
    reasoning_tokens numeric not null,
    use_time_ms numeric not null,
    primary key (hour, user_id, api_key_id, model, channel_id, "group", counted)
  ) with (fillfactor = 70);
  create index usage_stats_user on usage_stats (user_id, hour);

  create table usage_stats_rules (log_consume boolean not null, root_user_id bigint not null);
  insert into usage_stats_rules values (true, 1);
  create table usage_stats_switches (at bigint not null);
`;

const key = ['hour', 'user_id', 'api_key_id', 'model', 'channel_id', 'group', 'counted'] as const;

type CountedEvent =
  | CallSettled
  | CallReleased
  | CallRefunded
  | Extract<ChannelEvent, { type: 'ChannelTested' }>
  | OptionEvent
  | SetupEvent;

export const usageStats = projection<CountedEvent>({
  name: 'usage_stats',
  version: 3,
  purpose: 'showing',
  tables,
  interestedIn: {
    CallSettled: true,
    CallReleased: true,
    CallRefunded: true,
    ChannelTested: true,
    OptionChanged: true,
    SetupCompleted: true,
  },
  async project(tx, batch) {
    const before = await tx.selectFrom('usage_stats_rules').selectAll().executeTakeFirstOrThrow();
    let rules = before;
    const rows = new Map<string, Tally>();
    for (const { event, at, stream } of batch) {
      switch (event.type) {
        case 'CallSettled': {
          const logged = rules.log_consume ? counted.logged : counted.unlogged;
          count(rowOf(rows, at, event.facts, event.channelId, logged), event, 1);
          break;
        }
        case 'CallReleased':
          if (isFault(event)) rowOf(rows, at, event.facts, event.attempts.at(-1) ?? 0, counted.logged).errors += 1;
          break;
        case 'CallRefunded': {
          // It counts as what its caller was told: a call that could not be served.
          const { settlement, facts } = event;
          const logged = (await wasLogging(tx, rules, settlement.at)) ? counted.logged : counted.unlogged;
          count(rowOf(rows, settlement.at, facts, settlement.channelId, logged), settlement, -1);
          rowOf(rows, at, facts, settlement.channelId, counted.logged).errors += 1;
          break;
        }
        case 'ChannelTested':
          // Without a line in the log it is of no interest to anybody.
          if (event.usage !== null && rules.log_consume)
            countTest(rows, at, ChannelId(streamKey(stream)), rules.root_user_id, event.usage, event.responseTimeMs);
          break;
        case 'OptionChanged': {
          const logging = loggingAfter(event);
          if (logging === null || logging === rules.log_consume) break;
          rules = { ...rules, log_consume: logging };
          await tx.insertInto('usage_stats_switches').values({ at }).execute();
          break;
        }
        case 'SetupCompleted':
          rules = { ...rules, root_user_id: event.rootUserId };
          break;
        default:
          assertNever(event);
      }
    }
    if (rules !== before) await tx.updateTable('usage_stats_rules').set(rules).execute();
    await addToRows(tx, 'usage_stats', key, [...rows.values()]);
  },
});

/** Whether the usage log is on after this event; null: it says nothing of that. */
const loggingAfter = ({ key: option, value }: OptionEvent): boolean | null =>
  option === 'LogConsumeEnabled' && 'text' in value ? value.text === 'true' : null;

/** Whether the usage log was on when a settlement was made that is now taken back. */
async function wasLogging(tx: ReadModels, rules: Rules, settledAt: Instant): Promise<boolean> {
  const { switches } = await tx
    .selectFrom('usage_stats_switches')
    .where('at', '>', settledAt)
    .select(sql<number>`count(*)`.as('switches'))
    .executeTakeFirstOrThrow();
  return rules.log_consume === (switches % 2 === 0);
}

/** A caller that left and a node that died say nothing about the service. */
const isFault = ({ reason }: CallReleased): boolean => reason !== 'caller-left' && reason !== 'recovered';

/** Counts a settlement, or takes it back. */
function count(row: Tally, settlement: CallSettled | TakenBack, sign: 1 | -1): void {
  const { usage } = settlement;
  row.requests += sign;
  row.quota += BigInt(sign * settlement.charged);
  row.prompt_tokens += BigInt(sign * promptTokens(usage));
  row.completion_tokens += BigInt(sign * completionTokens(usage));
  row.cached_tokens += BigInt(sign * (usage.cachedInput ?? 0));
  row.reasoning_tokens += BigInt(sign * (usage.reasoning ?? 0));
  row.use_time_ms += BigInt(sign * Math.round(settlement.useTimeMs));
}

/** A test of a channel is root's, and says what it would have cost. */
function countTest(
  rows: Map<string, Tally>,
  at: Instant,
  channelId: ChannelId,
  userId: UserId,
  usage: ChannelTestUsage,
  responseTimeMs: number,
): void {
  const facts = { userId, apiKeyId: null, model: usage.model, group: '' };
  const row = rowOf(rows, at, facts, channelId, counted.channelTests);
  row.requests += 1;
  row.quota += BigInt(usage.quota);
  row.prompt_tokens += BigInt(usage.promptTokens);
  row.completion_tokens += BigInt(usage.completionTokens);
  row.use_time_ms += BigInt(Math.round(responseTimeMs));
}

function rowOf(
  rows: Map<string, Tally>,
  at: Instant,
  facts: Pick<CallFacts, 'userId' | 'apiKeyId' | 'model' | 'group'>,
  channelId: ChannelId | 0,
  what: Counted,
): Tally {
  const seconds = unixSeconds(at);
  const hour = seconds - (seconds % 3600);
  const apiKeyId = facts.apiKeyId ?? 0;
  const { userId, model, group } = facts;
  // The length keeps the two texts apart, whatever they hold.
  return tallyOf(rows, `${hour} ${userId} ${apiKeyId} ${channelId} ${what} ${model.length} ${model}${group}`, () => ({
    hour,
    user_id: userId,
    api_key_id: apiKeyId,
    model,
    channel_id: channelId,
    group,
    counted: what,
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

/** Rows about whom and what the filter names, of any time and model. */
export function matchingHours(
  db: ReadModels,
  { userId, username, apiKeyId, channelId, group }: Omit<UsageStatsFilter, 'from' | 'to' | 'model'>,
) {
  let rows = db.selectFrom('usage_stats');
  if (userId !== undefined) rows = rows.where('user_id', '=', userId);
  if (username !== undefined)
    rows = rows.where('user_id', 'in', (where) =>
      where.selectFrom('users').select('users.id').where('users.username', '=', username),
    );
  if (apiKeyId !== undefined) rows = rows.where('api_key_id', '=', apiKeyId);
  if (channelId !== undefined) rows = rows.where('channel_id', '=', channelId);
  if (group !== undefined) rows = rows.where('group', '=', group);
  return rows;
}

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
  let rows = matchingHours(db, filter)
    .where('counted', '!=', counted.channelTests)
    .where('hour', '>=', filter.from)
    .where('hour', '<=', filter.to);
  if (filter.model !== undefined) rows = rows.where('model', '=', filter.model);
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
