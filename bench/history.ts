import { newEventId } from '../src/application/event-id.js';
import { requestId } from '../src/application/request-id.js';
import type { Random } from '../src/demo/random.js';
import type { CallEvent, CallFacts } from '../src/domain/call/call.js';
import { type NewEvent, type StreamName, streams } from '../src/domain/events/events.js';
import { ApiKeyId, CallId, ChannelId, UserId } from '../src/domain/kernel/ids.js';
import { Instant } from '../src/domain/kernel/instant.js';
import { Quota } from '../src/domain/kernel/quota.js';
import { chargeOf } from '../src/domain/pricing/pricing.js';

/* Calls as the gateway records them, made up: who calls what is uneven, as it is among people. */

export interface Population {
  readonly callers: readonly { readonly userId: number; readonly apiKeyId: number; readonly apiKeyName: string }[];
  readonly channelIds: readonly number[];
  readonly models: readonly string[];
}

export interface RecordedCall {
  readonly stream: StreamName;
  /** Its reservation, and its settlement or release. */
  readonly events: readonly [NewEvent<CallEvent>, NewEvent<CallEvent>];
}

/** One of them, the first ones far more often than the last: of ten, the first comes in nearly every second draw. */
export function unevenly<Value>(values: readonly Value[], random: Random): Value {
  const drawn = values[Math.floor(values.length * random() ** 3)];
  if (drawn === undefined) throw new Error('there is nothing to draw from');
  return drawn;
}

const failedShare = 0.03;
const streamedShare = 0.6;
const price = {
  per: 'token',
  model: '0.075',
  ratios: { output: '4', cachedInput: '0.5' },
  group: '1',
} as const;

/** A caller, by their place among all, and a channel that parted early: the first channel serves them in its place since. */
export function parted({ channelIds }: Pick<Population, 'channelIds'>): {
  readonly place: number;
  readonly channelId: number;
} {
  const channelId = channelIds.at(-1);
  if (channelId === undefined) throw new Error('there are no channels');
  return { place: 0, channelId };
}

/** A call that began at `at` (unix milliseconds). `early`: before somebody left a channel. */
export function callAt(at: number, population: Population, random: Random, early = true): RecordedCall {
  const { callers, channelIds, models } = population;
  const { userId, apiKeyId, apiKeyName } = unevenly(callers, random);
  const drawn = unevenly(channelIds, random);
  const { place, channelId: left } = parted(population);
  const hasLeft = !early && drawn === left && userId === callers[place]?.userId;
  const channelId = ChannelId(hasLeft ? (channelIds[0] ?? drawn) : drawn);
  const stream = random() < streamedShare;
  const useTimeMs = Math.round(300 + 20_000 * random() ** 4);
  const facts: CallFacts = {
    userId: UserId(userId),
    apiKeyId: ApiKeyId(apiKeyId),
    apiKeyName,
    group: 'default',
    model: unevenly(models, random),
    path: '/v1/chat/completions',
    stream,
  };
  const input = Math.round(20 + 8_000 * random() ** 3);
  const usage = {
    input,
    output: Math.round(10 + 1_500 * random() ** 2),
    cachedInput: Math.round(input * random() ** 3),
  };
  const reserved = Quota(Math.round((input + 4 * 4096) * 0.075));
  const outcome = { facts, reserved, attempts: [channelId], useTimeMs, suspense: Quota(0) };
  const began = Instant(at);
  const ended = Instant(at + useTimeMs);
  const event = (instant: Instant, recorded: CallEvent): NewEvent<CallEvent> => ({
    id: newEventId(instant),
    at: instant,
    event: recorded,
  });
  return {
    stream: streams.call(CallId(requestId(at))),
    events: [
      event(began, { type: 'CallReserved', facts, reserved, promptTokens: input, maxOutputTokens: 4096, price }),
      event(
        ended,
        random() < failedShare
          ? { type: 'CallReleased', ...outcome, reason: 'upstream-failed', status: 502, code: 'upstream_error' }
          : {
              type: 'CallSettled',
              ...outcome,
              charged: chargeOf(usage, price),
              uncovered: Quota(0),
              usage,
              usageSource: 'upstream',
              price,
              outcome: 'completed',
              channelId,
              upstreamModel: null,
              firstTokenMs: stream ? Math.round(useTimeMs / 4) : null,
              reasoningEffort: null,
            },
      ),
    ],
  };
}
