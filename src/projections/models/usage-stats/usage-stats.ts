import { type Selectable, sql } from 'kysely';
import type { CallFacts, CallRefunded, CallReleased, CallSettled, TakenBack } from '../../../domain/call.js';
import type { ChannelEvent, ChannelTestUsage } from '../../../domain/channel.js';
import { streamKey } from '../../../domain/events.js';
import { assertNever } from '../../../domain/failure.js';
import { ChannelId, type UserId } from '../../../domain/ids.js';
import { type Instant, unixSeconds } from '../../../domain/instant.js';
import type { OptionEvent } from '../../../domain/option.js';
import type { SetupEvent } from '../../../domain/setup.js';
import { completionTokens, promptTokens } from '../../../domain/usage.js';
import type { ReadModels } from '../../database.js';
import { projection } from '../../engine/projection.js';
import { channelTestKeyName } from '../usage-log/usage-log.js';
import { addSums, counted, type Tally, tablesOfSums, tallyOfCalls, type UsageSumTables } from './usage-sums.js';

/*
 * Calls counted by hour and by everything one may ask about. Channel tests are nobody's usage and are kept apart, and so
 * are calls settled while the usage log was switched off: what is logged sums to what the log's lines do.
 */

export interface UsageStatsTables extends UsageSumTables {
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

type Rules = Selectable<UsageStatsTables['usage_stats_rules']>;

const tables = `
  ${tablesOfSums}
  create table usage_stats_rules (log_consume boolean not null, root_user_id bigint not null);
  insert into usage_stats_rules values (true, 1);
  create table usage_stats_switches (at bigint not null);
`;

type CountedEvent =
  | CallSettled
  | CallReleased
  | CallRefunded
  | Extract<ChannelEvent, { type: 'ChannelTested' }>
  | OptionEvent
  | SetupEvent;

export const usageStats = projection<CountedEvent>({
  name: 'usage_stats',
  version: 4,
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
    await addSums(tx, rows);
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
  const facts = { userId, apiKeyId: null, apiKeyName: channelTestKeyName, model: usage.model, group: '' };
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
  { userId, apiKeyId, apiKeyName, model, group }: Omit<CallFacts, 'path' | 'stream'>,
  channelId: ChannelId | 0,
  what: Tally['counted'],
): Tally {
  const seconds = unixSeconds(at);
  return tallyOfCalls(rows, {
    hour: seconds - (seconds % 3600),
    user_id: userId,
    api_key_id: apiKeyId ?? 0,
    api_key_name: apiKeyName,
    model,
    channel_id: channelId,
    group,
    counted: what,
  });
}
