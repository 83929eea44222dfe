import type { CallRefunded, CallSettled } from '../../../domain/call/call.js';
import type { CallCorrected } from '../../../domain/call/call-correction.js';
import type { ChannelTestUsage } from '../../../domain/channel/channel.js';
import { type StreamName, streamKey } from '../../../domain/events/events.js';
import { ChannelId } from '../../../domain/kernel/ids.js';
import { minus } from '../../../domain/kernel/quota.js';
import type { LogDetail } from './log-detail.js';
import type { UsageLogRow } from './usage-log.js';

/* What lines of one kind say, beside what all lines do. */

/** null, for nearly all. */
export function settledDetail({ facts: { alias }, task }: CallSettled): LogDetail | null {
  if (task === undefined) return alias === undefined ? null : { kind: 'aliased', alias };
  const { platform, action, publicId } = task;
  return { kind: 'task-submitted', platform, action, publicId, ...(alias !== undefined && { alias }) };
}

/** Of a line beside that of the charge: the call was answered, and what it asked for has failed later. */
export function taskRefundFacts(
  stream: StreamName,
  { facts, settlement }: CallRefunded,
  { platform, action, publicId, reason }: NonNullable<CallRefunded['task']>,
): Partial<UsageLogRow> {
  return {
    request_id: streamKey(stream),
    model: facts.model,
    api_key_id: facts.apiKeyId ?? 0,
    api_key_name: facts.apiKeyName,
    channel_id: settlement.channelId,
    group: facts.group,
    detail: { kind: 'task-refunded', platform, action, publicId, reason, quota: settlement.charged },
  };
}

/** Of a line beside that of the charge, which shows what it is now. */
export function correctionFacts(
  stream: StreamName,
  { facts, settlement, repair, part, from, to }: CallCorrected,
): Partial<UsageLogRow> {
  return {
    request_id: streamKey(stream),
    model: facts.model,
    api_key_id: facts.apiKeyId ?? 0,
    api_key_name: facts.apiKeyName,
    channel_id: settlement.channelId,
    group: facts.group,
    detail: { kind: 'corrected', repair, part, quota: minus(from.charged, to.charged), charged: to.charged },
  };
}

export function channelTestFacts(stream: StreamName, usage: ChannelTestUsage): Partial<UsageLogRow> {
  const { modelRatio, completionRatio, modelPrice } = usage;
  const channelId = ChannelId(streamKey(stream));
  return {
    quota: usage.quota,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    usage: { input: usage.promptTokens, output: usage.completionTokens },
    model: usage.model,
    channel_id: channelId,
    attempts: [channelId],
    detail: { kind: 'channel-tested', modelRatio, completionRatio, modelPrice },
  };
}
