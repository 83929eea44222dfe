import { newEventId } from '../../application/event-id.js';
import type { ChannelView, Directory } from '../../application/ports/storage-ports.js';
import { requestId } from '../../application/request-id.js';
import type { CallEvent, CallFacts, CallOutcome, FailedAttempt } from '../../domain/call/call.js';
import { promptTokens, type Usage, used } from '../../domain/call/usage.js';
import { type NewEvent, type StreamName, streams } from '../../domain/events/events.js';
import { CallId, type ChannelId } from '../../domain/kernel/ids.js';
import { Instant } from '../../domain/kernel/instant.js';
import { Quota, zero } from '../../domain/kernel/quota.js';
import type { CallRefused } from '../../domain/kernel/refusal.js';
import { priceOf } from '../../domain/pricing/price-tables.js';
import { chargeOf, type Price, reservationOf } from '../../domain/pricing/pricing.js';
import { byChance, chooseChannel, isRetryable } from '../../relay/pipeline/channels/routing.js';
import { channelCast, embeddingModel, type Habit } from '../cast.js';
import { around, type Random } from '../random.js';
import { maxOutput, tokensOf } from '../tokens.js';
import { demoFaultOf, mannersOf, unanswered } from './faults.js';
import type { Intent } from './hours.js';

/* A call of the past, from what somebody wants to the events that the gateway would have recorded of it. */

interface PastCall {
  readonly stream: StreamName;
  readonly events: readonly NewEvent<CallEvent | CallRefused>[];
  readonly charged: Quota;
  /** Unix milliseconds. */
  readonly endedAt: number;
}

interface CallWorld {
  readonly directory: Pick<Directory, 'candidates' | 'hasModel' | 'settings'>;
  /** When the past began, unix milliseconds. */
  readonly begin: number;
  readonly random: Random;
}

const event = <Event extends CallEvent | CallRefused>(at: number, recorded: Event): NewEvent<Event> => ({
  id: newEventId(Instant(at)),
  at: Instant(at),
  event: recorded,
});

const pathOf = ({ model }: Habit): string => {
  if (model === embeddingModel) return '/v1/embeddings';
  return model.startsWith('claude') ? '/v1/messages' : '/v1/chat/completions';
};

const factsOf = ({ person, key, habit }: Intent, random: Random): CallFacts => ({
  userId: person.id,
  apiKeyId: key.id,
  apiKeyName: key.cast.name,
  group: person.cast.group,
  model: habit.model,
  path: pathOf(habit),
  stream: random() < habit.streamed,
});

function usageOf(habit: Habit, random: Random): Usage {
  const { prompt, cached, completion, reasoning } = tokensOf(habit, random);
  return used({ input: prompt - cached, cachedInput: cached, output: completion - reasoning, reasoning });
}

/** Who answered, and how those failed who were asked before. */
interface Course {
  readonly answered: ChannelView | null;
  readonly attempts: readonly ChannelId[];
  readonly failed: readonly FailedAttempt[];
  /** The error that the caller gets when nobody answered. */
  readonly returned: { readonly status: number; readonly code: string };
  readonly tookMs: number;
  /** Attempts that upstream may charge for. */
  readonly unknown: number;
}

/** As the relay does it: by priority and weight, and another one while that is worth it. */
function askChannels({ at }: Intent, channels: readonly ChannelView[], world: CallWorld): Course {
  const { random, begin, directory } = world;
  const candidates = channels.map((channel) => ({ ...channel.settings, id: channel.id, channel }));
  const attempts: ChannelId[] = [];
  const failed: FailedAttempt[] = [];
  let returned = { status: 503, code: 'model_not_found' };
  let tookMs = 0;
  let unknown = 0;
  for (let attempt = 0; attempt <= directory.settings().retryTimes; attempt++) {
    const chosen = chooseChannel(candidates, attempt, new Set(attempts), byChance(random()));
    if (chosen === null) break;
    attempts.push(chosen.id);
    const fault = demoFaultOf(chosen.name, at - begin, random);
    if (fault === null) return { answered: chosen.channel, attempts, failed, returned, tookMs, unknown };
    const durationMs = fault === unanswered ? fault.tookMs : around(fault.tookMs, 0.3, random);
    failed.push({ channelId: chosen.id, status: fault.status, code: fault.code, durationMs });
    tookMs += durationMs;
    if (fault === unanswered) unknown++;
    returned = { status: fault.callerStatus, code: fault.code };
    if (!isRetryable(fault.callerStatus)) break;
  }
  return { answered: null, attempts, failed, returned, tookMs, unknown };
}

function outcomeOf(stream: boolean, random: Random): CallOutcome {
  const chance = stream ? random() : 1;
  if (chance < 0.012) return 'caller-left';
  return chance < 0.016 ? 'upstream-broke' : 'completed';
}

const upstreamModelOf = ({ settings }: ChannelView, model: string): string | null =>
  channelCast.find(({ name }) => name === settings.name)?.mapping[model] ?? null;

/** What the reservation says, and what the call would use. */
interface Ordered {
  readonly facts: CallFacts;
  readonly reserved: Quota;
  readonly price: Price;
  readonly usage: Usage;
}

function settled({ facts, reserved, price, usage }: Ordered, course: Course, random: Random) {
  const { answered, attempts, failed, tookMs, unknown } = course;
  if (answered === null) return null;
  const { firstTokenMs, tokensPerSecond } = mannersOf(answered.settings.name);
  const first = around(firstTokenMs, 0.35, random);
  const spoken = (usage.output ?? 0) + (usage.reasoning ?? 0);
  const useTimeMs = tookMs + first + Math.round((spoken / around(tokensPerSecond, 0.2, random)) * 1000);
  return {
    type: 'CallSettled',
    ...{ facts, reserved, usage, price, attempts, useTimeMs },
    charged: chargeOf(usage, price),
    uncovered: zero,
    usageSource: 'upstream',
    outcome: outcomeOf(facts.stream, random),
    channelId: answered.id,
    failedAttempts: failed.length === 0 ? undefined : failed,
    upstreamModel: upstreamModelOf(answered, facts.model),
    firstTokenMs: facts.stream ? tookMs + first : null,
    reasoningEffort: null,
    suspense: Quota(reserved * unknown),
  } as const satisfies CallEvent;
}

const released = ({ facts, reserved }: Ordered, { attempts, failed, returned, tookMs, unknown }: Course) =>
  ({
    ...{ type: 'CallReleased', reason: 'upstream-failed', facts, reserved, attempts },
    ...returned,
    failedAttempts: failed,
    useTimeMs: tookMs,
    suspense: Quota(reserved * unknown),
  }) as const satisfies CallEvent;

function refused(at: number, facts: CallFacts, status: number, code: string): PastCall {
  const { userId, apiKeyId, apiKeyName, group, model, path } = facts;
  const refusal = { userId, apiKeyId, apiKeyName, group, model, path, status, code, network: null };
  const events = [event(at, { type: 'CallRefused', refusal } as const)];
  return { stream: streams.call(CallId(requestId(at))), events, charged: zero, endedAt: at };
}

/** What comes of a call. `balance`: what its user has, in quota. */
export function pastCall(intent: Intent, balance: number, world: CallWorld): PastCall {
  const { at, habit } = intent;
  const { directory, random } = world;
  const facts = factsOf(intent, random);
  const { model, group } = facts;
  const channels = directory.candidates(group, model);
  if (channels.length === 0) return refused(at, facts, directory.hasModel(model) ? 503 : 404, 'model_not_found');
  const price = priceOf(directory.settings().prices, model, group, false);
  if (price === null) return refused(at, facts, 400, 'model_price_error');
  const usage = usageOf(habit, random);
  const prompt = promptTokens(usage);
  const maxOutputTokens = habit.answer === 0 ? 0 : maxOutput;
  const reserved = reservationOf({ input: prompt, output: maxOutputTokens }, price);
  if (balance < reserved) return refused(at, facts, 403, 'insufficient_user_quota');
  const course = askChannels(intent, channels, world);
  const ordered = { facts, reserved, price, usage };
  const outcome = settled(ordered, course, random) ?? released(ordered, course);
  const endedAt = at + outcome.useTimeMs;
  const reservation = { type: 'CallReserved', facts, reserved, promptTokens: prompt, maxOutputTokens, price } as const;
  return {
    stream: streams.call(CallId(requestId(at))),
    events: [event(at, reservation), event(endedAt, outcome)],
    charged: outcome.type === 'CallSettled' ? outcome.charged : zero,
    endedAt,
  };
}
