import type { Selectable } from 'kysely';
import type { ApiKeyEvent } from '../../../domain/api-key/api-key.js';
import type {
  CallOutcome,
  CallRefunded,
  CallReleased,
  CallSettled,
  FailedAttempt,
  ReleaseReason,
  UsageSource,
} from '../../../domain/call/call.js';
import type { CallCorrected, Standing } from '../../../domain/call/call-correction.js';
import { cachedTokens, completionTokens, noUsage, promptTokens, type Usage } from '../../../domain/call/usage.js';
import type { UsageLogEvent } from '../../../domain/call/usage-log.js';
import type { ChannelEvent } from '../../../domain/channel/channel.js';
import { type Position, type Recorded, streamKey } from '../../../domain/events/events.js';
import { assertNever } from '../../../domain/kernel/failure.js';
import { ApiKeyId, type ChannelId, RedemptionId, UserId } from '../../../domain/kernel/ids.js';
import { unixSeconds } from '../../../domain/kernel/instant.js';
import { type Quota, zero } from '../../../domain/kernel/quota.js';
import type { RefusalEvent } from '../../../domain/kernel/refusal.js';
import type { OptionChanged } from '../../../domain/options/option.js';
import type { TopUpCompleted } from '../../../domain/payment/payment.js';
import type { ReturnEvent } from '../../../domain/payment/payment-return.js';
import type { RedemptionEvent } from '../../../domain/payment/redemption.js';
import type { Price } from '../../../domain/pricing/pricing.js';
import type { SetupEvent } from '../../../domain/user/setup.js';
import type { UserEvent } from '../../../domain/user/user.js';
import type { ReadModels } from '../../database.js';
import { insertColumns, putNewRows } from '../../engine/multi-row.js';
import { projection } from '../../engine/projection.js';
import { correctCharges } from './corrected-charges.js';
import { channelTestFacts, correctionFacts, settledDetail, taskRefundFacts } from './line-facts.js';
import { type LogDetail, refusedDetail, returnedDetail } from './log-detail.js';
import { storedLines } from './stored-line.js';
import { clearLines, takeAwayCleared, upToClearings } from './usage-log-clearing.js';
import { deleteLinesOf, putHours } from './usage-log-hours.js';
import { makePartitions } from './usage-log-partitions.js';
import { tablesOfLog, type UsageLogTables } from './usage-log-tables.js';
import { numbersOf } from './usage-log-values.js';

/*
 * What happened to each wallet, line by line. A line holds facts, not sentences: faces say them in the reader's
 * language. One partition per calendar month (UTC).
 */

export const logTypes = { recharge: 1, consume: 2, manage: 3, system: 4, error: 5 } as const;
export type LogType = (typeof logTypes)[keyof typeof logTypes];

/** A line as it is shown. */
export interface UsageLogRow {
  /** The position of the event that caused the line. */
  id: Position;
  /** Unix seconds. */
  created_at: number;
  type: LogType;
  /** 0: nobody's who is known. */
  user_id: UserId | 0;
  /** null: the line is not about a call. */
  request_id: string | null;
  /** Charged; 0 on lines that are not about a charge. A channel test shows what it would have cost. */
  quota: Quota;
  /** What the call cost beyond what could be charged. */
  uncovered: Quota;
  prompt_tokens: number;
  completion_tokens: number;
  /** Part of `prompt_tokens`. */
  cached_tokens: number;
  /** Part of `completion_tokens`. */
  reasoning_tokens: number;
  /** All that was used, by its own name: what is summed or searched for has columns besides. */
  usage: Usage;
  /** '' : none. */
  model: string;
  /** 0: no API key paid. */
  api_key_id: ApiKeyId | 0;
  api_key_name: string;
  /** The channel that answered, or was tried last; 0: none. */
  channel_id: ChannelId | 0;
  group: string;
  use_time_ms: number;
  first_token_ms: number | null;
  is_stream: boolean;
  /** US dollars as exact decimal text, as upstream has said; null: it has not. */
  upstream_cost: string | null;
  /** The name sent upstream when it differs from `model`. */
  upstream_model: string | null;
  /** Channels in the order tried. */
  attempts: readonly ChannelId[];
  /** Those of them that failed, and how. */
  failed_attempts: readonly FailedAttempt[];
  path: string | null;
  reasoning_effort: string | null;
  price: Price | null;
  usage_source: UsageSource | null;
  outcome: CallOutcome | null;
  detail: LogDetail | null;
}

type Rules = Selectable<UsageLogTables['usage_log_rules']>;

/** The name under which the legacy console lists channel tests. */
export const channelTestKeyName = '模型测试';

export type LoggedEvent =
  | CallSettled
  | CallReleased
  | CallRefunded
  | CallCorrected
  | RefusalEvent
  | TopUpCompleted
  | ReturnEvent
  | Extract<UserEvent, { type: 'QuotaGranted' | 'QuotaAdjusted' | 'InviteRewardEarned' }>
  | Extract<ApiKeyEvent, { type: 'ApiKeyRevoked' }>
  | Extract<RedemptionEvent, { type: 'RedemptionCodeIssued' | 'RedemptionCodeEdited' | 'RedemptionCodeRedeemed' }>
  | Extract<ChannelEvent, { type: 'ChannelTested' }>
  | OptionChanged
  | SetupEvent
  | UsageLogEvent;

export const usageLog = projection<LoggedEvent>({
  name: 'usage_log',
  version: 15,
  purpose: 'showing',
  tables: tablesOfLog,
  interestedIn: {
    CallSettled: true,
    CallReleased: true,
    CallRefunded: true,
    CallCorrected: true,
    CallRefused: true,
    CallsRefused: true,
    TopUpCompleted: true,
    TopUpRefunded: true,
    TopUpDisputed: true,
    TopUpDisputeWon: true,
    QuotaGranted: true,
    QuotaAdjusted: true,
    RedemptionCodeIssued: true,
    RedemptionCodeEdited: true,
    RedemptionCodeRedeemed: true,
    InviteRewardEarned: true,
    ApiKeyRevoked: true,
    ChannelTested: true,
    OptionChanged: true,
    SetupCompleted: true,
    LogsCleared: true,
  },
  async project(tx, batch) {
    const before = await tx.selectFrom('usage_log_rules').selectAll().executeTakeFirstOrThrow();
    let rules = before;
    for (const part of upToClearings(batch)) rules = await fold(tx, part, rules);
    if (rules !== before) await tx.updateTable('usage_log_rules').set(rules).execute();
  },
  tidying: { after: 'LogsCleared', step: takeAwayCleared },
});

type Batch = readonly Recorded<LoggedEvent>[];

async function fold(tx: ReadModels, batch: Batch, before: Rules): Promise<Rules> {
  let rules = before;
  let lines: UsageLogRow[] = [];
  const refunded = new Set<string>();
  const corrected = new Map<string, Standing>();
  for (const recorded of batch) {
    rules = rulesAfter(rules, recorded.event);
    if (recorded.event.type === 'CallRefunded' && recorded.event.task === undefined)
      refunded.add(streamKey(recorded.stream));
    if (recorded.event.type === 'CallCorrected')
      corrected.set(streamKey(recorded.stream), { price: recorded.event.price, ...recorded.event.to });
    const line = lineOf(recorded, rules);
    if (line !== null && isKept(line, rules)) lines.push(line);
  }
  // Also of what is taken back at once: how events come together must not decide how series are numbered.
  const numbers = await numbersOf(tx, lines);
  if (refunded.size > 0) {
    const isCharge = ({ outcome, request_id }: UsageLogRow) => outcome !== null && refunded.has(request_id ?? '');
    lines = lines.filter((line) => !isCharge(line));
    // Those that have been cleared are counted as such, and stay until they are taken away.
    await deleteLinesOf(tx, refunded, logTypes.consume, before.cleared_before);
  }
  const { columns, terms } = storedLines(lines, numbers);
  await makePartitions(tx, lines);
  await putNewRows(tx, 'usage_log_terms', ['id'], terms);
  await insertColumns(tx, 'usage_log', columns);
  await putHours(tx, lines);
  // After the lines of this batch, as those of the calls may be among them.
  if (corrected.size > 0) await correctCharges(tx, corrected, logTypes.consume);
  const last = batch.at(-1);
  if (last?.event.type === 'LogsCleared')
    await clearLines(tx, last.position, { shownFrom: before.cleared_before, before: rules.cleared_before });
  return rules;
}

/** What is written down late, of a time that has been cleared, is no line any more. */
const isKept = ({ type, created_at }: UsageLogRow, { log_consume, cleared_before }: Rules): boolean =>
  (type !== logTypes.consume || log_consume) && created_at >= cleared_before;

/** The rules that hold from this event on; they are folded here so that a rebuild logs what was logged the first time. */
function rulesAfter(rules: Rules, event: LoggedEvent): Rules {
  if (event.type === 'SetupCompleted') return { ...rules, root_user_id: event.rootUserId };
  if (event.type === 'OptionChanged' && event.key === 'LogConsumeEnabled' && 'text' in event.value)
    return { ...rules, log_consume: event.value.text === 'true' };
  if (event.type === 'LogsCleared')
    return { ...rules, cleared_before: Math.max(rules.cleared_before, unixSeconds(event.before)) };
  return rules;
}

function lineOf(recorded: Recorded<LoggedEvent>, rules: Rules): UsageLogRow | null {
  const { event, stream } = recorded;
  switch (event.type) {
    case 'CallSettled':
      return settledLine(recorded as Recorded<CallSettled>);
    case 'CallReleased':
      // Nobody did anything wrong when the caller left or a node died.
      return event.reason === 'caller-left' || event.reason === 'recovered'
        ? null
        : failedLine(recorded, event, event.reason, event);
    case 'CallRefunded':
      if (event.task !== undefined)
        return line(recorded, logTypes.system, event.facts.userId, taskRefundFacts(stream, event, event.task));
      // In the place of the line of its charge: the log says of a call what its caller was answered.
      return failedLine(recorded, event, 'not-booked', event.settlement);
    case 'CallCorrected':
      return line(recorded, logTypes.system, event.facts.userId, correctionFacts(stream, event));
    case 'CallRefused':
    case 'CallsRefused':
      return refusedLine(recorded, event);
    case 'QuotaGranted':
      return line(recorded, logTypes.system, UserId(streamKey(stream)), {
        detail: { kind: 'granted', quota: event.quota, reason: event.reason },
      });
    case 'InviteRewardEarned':
      return line(recorded, logTypes.system, UserId(streamKey(stream)), {
        detail: { kind: 'granted', quota: event.quota, reason: 'inviter' },
      });
    case 'QuotaAdjusted': {
      const { delta, gift, by, observed } = event;
      return line(recorded, logTypes.manage, UserId(streamKey(stream)), {
        detail: { kind: 'adjusted', delta, gift, by, observed },
      });
    }
    case 'ApiKeyRevoked': {
      const { owner, name, by } = event;
      return line(recorded, logTypes.manage, owner, {
        detail: { kind: 'api-key-revoked', apiKey: ApiKeyId(streamKey(stream)), name, by },
      });
    }
    case 'TopUpCompleted': {
      const { user, quota, money, currency } = event;
      return line(recorded, logTypes.recharge, user, { detail: { kind: 'topped-up', quota, money, currency } });
    }
    case 'TopUpRefunded':
    case 'TopUpDisputed':
    case 'TopUpDisputeWon':
      return line(recorded, logTypes.system, event.user, { detail: returnedDetail(event) });
    case 'RedemptionCodeIssued':
    case 'RedemptionCodeEdited': {
      const [redemption, edited] = [RedemptionId(streamKey(stream)), event.type === 'RedemptionCodeEdited'];
      return line(recorded, logTypes.manage, event.by, {
        detail: { kind: 'code-issued', redemption, quota: event.quota, edited },
      });
    }
    case 'RedemptionCodeRedeemed':
      return line(recorded, logTypes.recharge, event.user, {
        detail: { kind: 'redeemed', quota: event.quota, redemption: RedemptionId(streamKey(stream)) },
      });
    case 'ChannelTested':
      if (event.usage === null) return null;
      return line(recorded, logTypes.consume, rules.root_user_id, {
        ...channelTestFacts(stream, event.usage),
        api_key_name: channelTestKeyName,
        use_time_ms: milliseconds(event.responseTimeMs),
      });
    case 'OptionChanged':
    case 'SetupCompleted':
    case 'LogsCleared':
      return null;
    default:
      return assertNever(event);
  }
}

const noneFailed: readonly FailedAttempt[] = [];

/** What fits into its column: 24 days. */
const maxMs = 2 ** 31 - 1;
const milliseconds = (measured: number): number => Math.min(Math.round(measured), maxMs);

const line = (
  { position, at }: Recorded,
  type: LogType,
  userId: UserId | 0,
  facts: Partial<UsageLogRow>,
): UsageLogRow => ({
  id: position,
  created_at: unixSeconds(at),
  type,
  user_id: userId,
  request_id: null,
  quota: zero,
  uncovered: zero,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  usage: noUsage,
  model: '',
  api_key_id: 0,
  api_key_name: '',
  channel_id: 0,
  group: '',
  use_time_ms: 0,
  first_token_ms: null,
  is_stream: false,
  upstream_cost: null,
  upstream_model: null,
  attempts: [],
  failed_attempts: noneFailed,
  path: null,
  reasoning_effort: null,
  price: null,
  usage_source: null,
  outcome: null,
  detail: null,
  ...facts,
});

function settledLine({ event, stream, position, at }: Recorded<CallSettled>): UsageLogRow {
  const { facts, usage } = event;
  // Written out instead of through `line`: this is the one line that comes thousands of times a second.
  return {
    id: position,
    created_at: unixSeconds(at),
    type: logTypes.consume,
    user_id: facts.userId,
    request_id: streamKey(stream),
    quota: event.charged,
    uncovered: event.uncovered,
    prompt_tokens: promptTokens(usage),
    completion_tokens: completionTokens(usage),
    cached_tokens: cachedTokens(usage),
    reasoning_tokens: usage.reasoning ?? 0,
    usage,
    model: facts.model,
    api_key_id: facts.apiKeyId ?? 0,
    api_key_name: facts.apiKeyName,
    channel_id: event.channelId,
    group: facts.group,
    use_time_ms: milliseconds(event.useTimeMs),
    first_token_ms: event.firstTokenMs === null ? null : milliseconds(event.firstTokenMs),
    is_stream: facts.stream,
    upstream_cost: event.upstreamCost ?? null,
    upstream_model: event.upstreamModel,
    attempts: event.attempts,
    failed_attempts: event.failedAttempts ?? noneFailed,
    path: facts.path,
    reasoning_effort: event.reasoningEffort,
    price: event.price,
    usage_source: event.usageSource,
    outcome: event.outcome,
    detail: settledDetail(event),
  };
}

function failedLine(
  recorded: Recorded,
  { facts, status, code, useTimeMs }: CallReleased | CallRefunded,
  reason: ReleaseReason,
  { attempts, failedAttempts = noneFailed }: Pick<CallReleased, 'attempts' | 'failedAttempts'>,
): UsageLogRow {
  return line(recorded, logTypes.error, facts.userId, {
    request_id: streamKey(recorded.stream),
    model: facts.model,
    api_key_id: facts.apiKeyId ?? 0,
    api_key_name: facts.apiKeyName,
    channel_id: attempts.at(-1) ?? 0,
    group: facts.group,
    use_time_ms: milliseconds(useTimeMs),
    is_stream: facts.stream,
    attempts,
    failed_attempts: failedAttempts,
    path: facts.path,
    detail: { kind: 'released', reason, status, code, ...(facts.alias !== undefined && { alias: facts.alias }) },
  });
}

function refusedLine(recorded: Recorded, event: RefusalEvent): UsageLogRow {
  const { userId, apiKeyId, apiKeyName, group, model, path } = event.refusal;
  return line(recorded, logTypes.error, userId ?? 0, {
    request_id: event.type === 'CallRefused' ? streamKey(recorded.stream) : null,
    model,
    api_key_id: apiKeyId ?? 0,
    api_key_name: apiKeyName,
    group,
    path: path === '' ? null : path,
    detail: refusedDetail(event),
  });
}
