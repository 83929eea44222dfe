import { type Selectable, sql } from 'kysely';
import type { CallFacts, CallRefunded, CallReleased, CallSettled, TakenBack } from '../../../domain/call/call.js';
import type { CallCorrected } from '../../../domain/call/call-correction.js';
import { cachedTokens, completionTokens, noUsage, promptTokens } from '../../../domain/call/usage.js';
import type { ChannelEvent, ChannelTestUsage } from '../../../domain/channel/channel.js';
import { Position, type StreamName, streamKey } from '../../../domain/events/events.js';
import { assertNever } from '../../../domain/kernel/failure.js';
import { ChannelId, type UserId } from '../../../domain/kernel/ids.js';
import { type Instant, unixSeconds } from '../../../domain/kernel/instant.js';
import type { RefusalEvent } from '../../../domain/kernel/refusal.js';
import type { OptionChanged } from '../../../domain/options/option.js';
import type { SetupEvent } from '../../../domain/user/setup.js';
import type { ReadModels } from '../../database.js';
import { projection } from '../../engine/projection.js';
import { channelTestKeyName } from '../usage-log/usage-log.js';
import { CallCosts, type PurchasePriceTables, tablesOfPurchasePrices } from './purchase-prices.js';
import { FailureSums, tablesOfFailures, type UsageFailureTables } from './usage-failures.js';
import {
  addSums,
  beganIn,
  minutesKept,
  type Piece,
  rowKinds,
  type Tally,
  tablesOfSums,
  tallyOfCalls,
  type UsageSumTables,
} from './usage-sums.js';

/*
 * Calls counted by hour and by everything one may ask about. Channel tests are nobody's usage and are kept apart, and so
 * are calls settled while the usage log was switched off: what is logged sums to what the log's lines do. Minutes are
 * forgotten by the time of events, not by a clock.
 */

export interface UsageStatsTables extends UsageSumTables, UsageFailureTables, PurchasePriceTables {
  /** One row, as of the last event folded. */
  usage_stats_rules: {
    log_consume: boolean;
    root_user_id: UserId;
    /** The minute of the newest event, unix seconds. */
    newest_minute: number;
    /** Whether a channel has ever had a purchase price. */
    has_purchase_prices: boolean;
  };
  /** When the usage log was switched on or off. */
  usage_stats_switches: {
    at: Instant;
  };
}

type Rules = Selectable<UsageStatsTables['usage_stats_rules']>;

const tables = `
  ${tablesOfSums}
  ${tablesOfFailures}
  ${tablesOfPurchasePrices}
  create table usage_stats_rules (
    log_consume boolean not null, root_user_id bigint not null, newest_minute bigint not null,
    has_purchase_prices boolean not null
  );
  insert into usage_stats_rules values (true, 1, 0, false);
  create table usage_stats_switches (at bigint not null);
`;

type CountedEvent =
  | CallSettled
  | CallReleased
  | CallRefunded
  | CallCorrected
  | RefusalEvent
  | Extract<ChannelEvent, { type: 'ChannelAdded' | 'ChannelEdited' | 'ChannelTested' }>
  | OptionChanged
  | SetupEvent;

export const usageStats = projection<CountedEvent>({
  name: 'usage_stats',
  version: 10,
  purpose: 'showing',
  tables,
  interestedIn: {
    CallSettled: true,
    CallReleased: true,
    CallRefunded: true,
    CallCorrected: true,
    CallRefused: true,
    CallsRefused: true,
    ChannelAdded: true,
    ChannelEdited: true,
    ChannelTested: true,
    OptionChanged: true,
    SetupCompleted: true,
  },
  async project(tx, batch, { newest, readStream }) {
    const before = await tx.selectFrom('usage_stats_rules').selectAll().executeTakeFirstOrThrow();
    const newest_minute = batch.reduce(
      (latest, { at }) => Math.max(latest, beganOf('minute', at)),
      before.newest_minute,
    );
    let rules = newest_minute > before.newest_minute ? { ...before, newest_minute } : before;
    const known = await newest();
    const sums = new BatchSums(Math.max(newest_minute, known === null ? 0 : beganOf('minute', known)) - minutesKept);
    const failures = new FailureSums();
    const costs = new CallCosts(tx, readStream, before.has_purchase_prices);
    await costs.open(batch);
    for (const { event, at, stream, position } of batch) {
      switch (event.type) {
        case 'CallSettled': {
          const logged = rules.log_consume ? rowKinds.logged : rowKinds.unlogged;
          const cost = costs.of(event);
          sums.add(at, event.facts, event.channelId, logged, (row) => countSettled(row, event, cost));
          break;
        }
        case 'CallReleased':
          if (!isFault(event)) break;
          sums.add(at, event.facts, event.attempts.at(-1) ?? 0, rowKinds.logged, countError);
          failures.failed(at, event.facts, event);
          break;
        case 'CallRefunded': {
          // It counts as what its caller was answered: a call that could not be served.
          const { settlement, facts } = event;
          const { at: settledAt, channelId } = settlement;
          const logged = (await wasLogging(tx, rules, settledAt)) ? rowKinds.logged : rowKinds.unlogged;
          const hadCost = await costs.wereKnown(stream, event, position);
          sums.add(settledAt, facts, channelId, logged, (row) => countTakenBack(row, settlement, hadCost));
          sums.add(at, facts, channelId, rowKinds.logged, countError);
          failures.failed(at, facts, event);
          break;
        }
        case 'CallCorrected':
          await correct(tx, { sums, costs, rules }, event, stream);
          break;
        case 'CallRefused':
          failures.refused(at, event.refusal, 1);
          break;
        case 'CallsRefused':
          failures.refused(at, event.refusal, event.count);
          break;
        case 'ChannelAdded':
        case 'ChannelEdited':
          costs.priced(ChannelId(streamKey(stream)), event.settings.setting, position);
          break;
        case 'ChannelTested':
          // Without a line in the log it is of no interest to anybody.
          if (event.usage !== null && rules.log_consume)
            countTest(sums, {
              ...{ at, channelId: ChannelId(streamKey(stream)), userId: rules.root_user_id },
              ...{ usage: event.usage, responseTimeMs: event.responseTimeMs },
            });
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
    const has_purchase_prices = await costs.write();
    if (has_purchase_prices !== rules.has_purchase_prices) rules = { ...rules, has_purchase_prices };
    if (rules !== before) await tx.updateTable('usage_stats_rules').set(rules).execute();
    await sums.write(tx);
    await failures.write(tx);
    if (newest_minute > before.newest_minute) await forgetMinutes(tx, newest_minute - minutesKept);
  },
});

const forgetMinutes = (tx: ReadModels, before: number) =>
  tx.deleteFrom('usage_stats_minutes').where('minute', '<', before).execute();

interface Counting {
  readonly sums: BatchSums;
  readonly costs: CallCosts;
  readonly rules: Rules;
}

/** What its call is charged, at the time of the call. */
async function correct(
  tx: ReadModels,
  { sums, costs, rules }: Counting,
  { settlement, facts, from, to }: CallCorrected,
  stream: StreamName,
): Promise<void> {
  const { at, channelId } = settlement;
  const logged = (await wasLogging(tx, rules, at)) ? rowKinds.logged : rowKinds.unlogged;
  // What was used only its settlement says: prices that there were for it have to do where that is in an archive.
  const called = { facts, settlement: { channelId, usage: noUsage } };
  const hadCost = await costs.wereKnown(stream, called, Position(settlement.position));
  const change = BigInt(to.charged) - BigInt(from.charged);
  sums.add(at, facts, channelId, logged, (row) => {
    row.quota += change;
    if (!hadCost) row.quota_without_cost += change;
  });
}

/** When the hour or minute began in which it was so, unix seconds. */
const beganOf = (piece: Piece, at: Instant): number => beganIn(piece, unixSeconds(at));

/** What calls are counted by: who called what. */
type Caller = Omit<CallFacts, 'path' | 'stream'>;

/** What a batch comes to by the hour and, from `oldestMinute` (unix seconds) on, by the minute. */
class BatchSums {
  private readonly hours = new Map<string, Tally>();
  private readonly minutes = new Map<string, Tally>();

  constructor(private readonly oldestMinute: number) {}

  /** Hands every tally that the call belongs to over to `counting`. */
  add(
    at: Instant,
    caller: Caller,
    channelId: ChannelId | 0,
    what: Tally['counted'],
    counting: (row: Tally) => void,
  ): void {
    const { userId, apiKeyId, apiKeyName, model, group } = caller;
    const dimensions = {
      user_id: userId,
      api_key_id: apiKeyId ?? 0,
      api_key_name: apiKeyName,
      model,
      channel_id: channelId,
      group,
      counted: what,
    } as const;
    counting(tallyOfCalls(this.hours, { ...dimensions, began: beganOf('hour', at) }));
    const minute = beganOf('minute', at);
    if (minute >= this.oldestMinute) counting(tallyOfCalls(this.minutes, { ...dimensions, began: minute }));
  }

  write(tx: ReadModels): Promise<void> {
    return addSums(tx, this.hours, this.minutes);
  }
}

/** Whether the usage log is on after this event; null: it says nothing of that. */
const loggingAfter = ({ key: option, value }: OptionChanged): boolean | null =>
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

const countError = (row: Tally): void => {
  row.errors += 1;
};

/** Counts a settlement, or takes it back. */
function count(row: Tally, settlement: CallSettled | TakenBack, firstTokenMs: number | null, sign: 1 | -1): void {
  const { usage, useTimeMs } = settlement;
  row.requests += sign;
  row.quota += BigInt(sign * settlement.charged);
  row.prompt_tokens += BigInt(sign * promptTokens(usage));
  row.completion_tokens += BigInt(sign * completionTokens(usage));
  row.cached_tokens += BigInt(sign * cachedTokens(usage));
  row.reasoning_tokens += BigInt(sign * (usage.reasoning ?? 0));
  row.use_time_ms += BigInt(sign * Math.round(useTimeMs));
  row.latencies.count(useTimeMs, sign);
  if (firstTokenMs !== null) row.first_tokens.count(firstTokenMs, sign);
}

/** `cost`: in the unit of the table; null: nobody knows. */
function countSettled(row: Tally, settlement: CallSettled, cost: bigint | null): void {
  count(row, settlement, settlement.firstTokenMs, 1);
  if (cost === null) countWithoutCost(row, settlement, 1);
  else row.cost += cost;
}

/** What upstream has answered cost something, whether it was paid for or not. */
function countTakenBack(row: Tally, settlement: TakenBack, hadCost: boolean): void {
  // Only whole answers are withheld, and those have no first token.
  count(row, settlement, null, -1);
  if (!hadCost) countWithoutCost(row, settlement, -1);
}

function countWithoutCost(row: Tally, { charged }: CallSettled | TakenBack, sign: 1 | -1): void {
  row.requests_without_cost += sign;
  row.quota_without_cost += BigInt(sign * charged);
}

interface CountedTest {
  readonly at: Instant;
  readonly channelId: ChannelId;
  readonly userId: UserId;
  readonly usage: ChannelTestUsage;
  readonly responseTimeMs: number;
}

/** A test of a channel is root's, and says what it would have cost. */
function countTest(sums: BatchSums, { at, channelId, userId, usage, responseTimeMs }: CountedTest): void {
  const caller = { userId, apiKeyId: null, apiKeyName: channelTestKeyName, model: usage.model, group: '' };
  sums.add(at, caller, channelId, rowKinds.channelTests, (row) => {
    row.requests += 1;
    row.quota += BigInt(usage.quota);
    row.prompt_tokens += BigInt(usage.promptTokens);
    row.completion_tokens += BigInt(usage.completionTokens);
    row.use_time_ms += BigInt(Math.round(responseTimeMs));
    row.latencies.count(responseTimeMs, 1);
  });
}
