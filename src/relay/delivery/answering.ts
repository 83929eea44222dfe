import type { CallOutcome, CallSettled } from '../../domain/call/call.js';
import type { Settlement } from '../../domain/call/call-conclusion.js';
import { completionTokens, type Usage } from '../../domain/call/usage.js';
import { mayUse } from '../../domain/call/usage-bound.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { jsonType, logBug, storeUnavailable, withdrawal } from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import type { Generated } from '../contracts/protocol.js';
import { believedUsage, seenTokens, type UsedTokens } from '../metering/believed-usage.js';
import type { Reservation } from '../metering/metered.js';
import { transcriptionUsage } from '../metering/transcription-usage.js';
import { cutShort, mayThink } from '../metering/unseen-cost.js';
import type { AccountWatch } from '../pipeline/account-watch.js';
import type { Asked, Attempt } from '../pipeline/ask-upstream.js';
import type { Answering } from '../pipeline/refusal.js';
import type { ResolvedCall } from '../pipeline/resolve-call.js';
import { SeenText } from '../text/seen-text.js';
import type { CallerPresence } from './caller-presence.js';
import { beginStream, deliver, eventStreamType, pump, streamHeaders } from './delivery.js';
import { watchGrowth } from './growth.js';
import type { Heartbeat } from './heartbeats.js';
import { type Silence, SilentTime } from './silent-time.js';
import { passOn } from './sound-delivery.js';
import type { StalledCallers } from './stalled-callers.js';

/* The end of a call that upstream has answered: what is delivered, what it is settled with, and in which order. */

type Told = Pick<Settlement, 'usage' | 'usageSource'>;

/** How delivery has ended. */
interface Ending {
  readonly outcome: CallOutcome;
  readonly firstTokenMs: number | null;
  readonly useTimeMs: number;
}

/** Written out: objects put together by spreading cost every call more than its charge does. */
function settlementOf(
  { usage, usageSource }: Told,
  { outcome, firstTokenMs, useTimeMs }: Ending,
  { order: { requestedModel }, course: { tried, failed, unknownAttempts } }: Pick<Answered, 'order' | 'course'>,
  { upstreamModel, reasoningEffort }: Asked,
): Settlement {
  const channelId = tried.at(-1);
  if (channelId === undefined) throw new Error('an answer without a channel');
  return {
    usage,
    usageSource,
    outcome,
    channelId,
    attempts: tried,
    failedAttempts: failed,
    upstreamModel: upstreamModel === requestedModel ? null : upstreamModel,
    reasoningEffort,
    useTimeMs,
    firstTokenMs,
    unknownAttempts,
  };
}

/** What there is to know about costs of a call that cannot be seen. */
const unseen = (
  { requestedModel, estimate }: ResolvedCall,
  { upstreamModel, thinking }: Asked,
  { held, bound }: Reservation,
) => ({
  thinks: mayThink(thinking, requestedModel, upstreamModel),
  held,
  bound,
  answers: estimate.answers,
  price: estimate.price,
});

/** How a call has gone so far. */
export interface Course {
  readonly tried: readonly ChannelId[];
  /** Left out: none failed. */
  readonly failed: CallSettled['failedAttempts'];
  readonly unknownAttempts: number;
  /** Of the channel that answers. */
  readonly faulted: AccountWatch;
  readonly presence: CallerPresence;
  readonly elapsed: () => number;
}

/** A call whose upstream answers, for whoever delivers that and concludes it. */
export interface Answered {
  readonly order: ResolvedCall;
  readonly reservation: Reservation;
  readonly last: Extract<Attempt, { ok: true }>;
  readonly course: Course;
  readonly heartbeat: Heartbeat;
}

export interface AnsweringPorts extends Pick<RelayPorts, 'config' | 'largeWork' | 'log'> {
  readonly stalledCallers: StalledCallers;
}

/** The caller behind an answer. */
export interface Asker extends Answering {
  readonly endpoint: Endpoint;
}

/** Milliseconds that the caller was there for. */
const untilGone =
  ({ elapsed, presence }: Course) =>
  (): number =>
    Math.max(elapsed() - presence.goneFor, 0);

/** `echo` has the prompt stand in the answer. */
const mayEcho = ({ endpoint }: ResolvedCall): boolean => endpoint.mode === 'completions';

/** Of a call of which nothing that was said is known. */
const nothingSaid = (): Generated => ({ said: new SeenText(), toolCalls: 0, finishReason: null });

/** Tells a caller the limit to each answer that went upstream because it is what can be paid. */
export const outputLimitHeader = 'x-output-limit';

const withheld = 'the answer could not be booked and is withheld; nothing is charged for this call, try again later';
const chargeFollows = 'the event store cannot be reached; the charge for what was delivered will follow';

export function openAnswering({ config, largeWork, log, stalledCallers }: AnsweringPorts) {
  /** What upstream had accepted when its caller left is paid for, though nobody has seen anything of it. */
  const settleAbandoned = async (
    { order, reservation, course }: Pick<Answered, 'order' | 'reservation' | 'course'>,
    asked: Asked,
  ): Promise<void> => {
    const { bound } = reservation;
    const { elapsed } = course;
    const { model, estimate } = order;
    const nothing = believedUsage(null, nothingSaid(), { bound, promptEstimate: estimate.promptTokens, model });
    const told = cutShort(nothing, 0, untilGone(course)(), unseen(order, asked, reservation));
    const ending: Ending = { outcome: 'caller-left', firstTokenMs: null, useTimeMs: elapsed() };
    await reservation.settle(settlementOf(told, ending, { order, course }, asked)).catch(() => {});
  };

  /** Delivers and settles. The caller's last byte leaves after the settlement is durable. */
  const answer = async (
    { response, requestId, head, endpoint: { dialect } }: Asker,
    call: Answered,
  ): Promise<boolean> => {
    const { order, reservation, last: answered, course, heartbeat } = call;
    const { got } = answered;
    const { outputLimit } = reservation;
    const limited = outputLimit === null ? [] : [outputLimitHeader, String(outputLimit)];
    const passed = [...limited, ...(answered.headers ?? [])];
    const { tried, presence, elapsed } = course;

    const believed = (usage: Usage | null, generated: Generated): UsedTokens => {
      const { estimate, model } = order;
      const { recording, promptTokens: promptEstimate } = estimate;
      const { bound } = reservation;
      const used =
        recording === null
          ? believedUsage(usage, generated, { bound, promptEstimate, model, echoes: mayEcho(order) })
          : transcriptionUsage(usage, generated, recording, { bound, model });
      if (used.usageSource === 'disbelieved')
        log.warn(
          { requestId, channelId: tried.at(-1), told: usage, bound: reservation.bound },
          usage !== null && completionTokens(usage) < completionTokens(used.usage)
            ? 'an upstream told less usage than what it sent holds; it was counted here'
            : 'an upstream told more usage than the call can have had; it was counted here',
        );
      return used;
    };

    if (got.kind === 'answer') {
      const told = believed(got.usage, got.generated);
      // Who has left is told nothing: what upstream has done for them is settled, however long that takes.
      if (presence.gone) {
        const ending: Ending = { outcome: 'caller-left', firstTokenMs: null, useTimeMs: elapsed() };
        const settled = settlementOf(told, ending, call, answered);
        await reservation.settle(settled).catch(() => {});
        return true;
      }
      const ending: Ending = { outcome: 'completed', firstTokenMs: null, useTimeMs: elapsed() };
      const settled = settlementOf(told, ending, call, answered);
      const charged = await reservation.settleOrWithdraw(settled, withdrawal);
      if (charged === null) throw storeUnavailable(withheld);
      // What the caller is told is what is charged.
      const bytes =
        told.usage === got.usage || got.textType !== undefined
          ? got.bytes
          : await largeWork.run(got.bytes.length, () => dialect.telling(got.bytes, told.usage));
      const type = got.textType ?? jsonType;
      const headers = [...head, 'content-type', type, 'content-length', String(bytes.length), ...passed];
      response.writeHead(200, headers);
      await deliver(response, bytes, { presence, stalledCallers });
      return true;
    }

    const firstTokenMs = elapsed();
    if (got.kind === 'sound') {
      const headers = [...head, 'content-type', got.reading.type, ...passed];
      const { outcome, bug } = await passOn(response, headers, got.reading, { presence, stalledCallers });
      if (bug !== null) logBug(log, requestId, bug);
      const told = believed(null, nothingSaid());
      const settled = settlementOf(told, { outcome, firstTokenMs, useTimeMs: elapsed() }, call, answered);
      const booked = await reservation.settle(settled).then(
        () => true,
        () => false,
      );
      // Without its end: the caller must not take this answer for a complete one.
      if (outcome === 'completed' && booked) response.end();
      else response.destroy();
      if (response.writableLength > 0) stalledCallers.watch(presence);
      return outcome === 'completed' && booked;
    }

    const { reading } = got;
    const type = dialect.streamType ?? eventStreamType;
    if (!heartbeat.takeOver()) beginStream(response, [...head, 'content-type', type, ...streamHeaders, ...passed]);
    const { underWay } = reservation;
    underWay.firstTokenMs = firstTokenMs;
    underWay.stream = reading.decoder;
    const hidden = unseen(order, answered, reservation);
    const speaks = mayUse(reservation.bound, 'audioOutput');
    const costsUnseen = hidden.thinks || speaks || order.estimate.uncounted;
    const seen = (): number => seenTokens(reading.decoder.generated, order.model);
    const silence = costsUnseen ? new SilentTime(untilGone(course), seen) : null;
    const pumped = await pump(response, reading, {
      presence,
      stalledCallers,
      growth: watchGrowth(reservation, order.estimate),
      heartbeat,
      callerGoneMs: config.callerGoneMs,
      costsUnseen,
      silence,
      faulted: course.faulted,
    });
    const { outcome, error, bug } = pumped;
    if (bug !== null) logBug(log, requestId, bug);
    const { usage, generated } = reading.decoder;
    const told = believed(usage, generated);
    const useTimeMs = elapsed();
    const cutAt = (told: UsedTokens, { seenTokens, silentMs }: Silence): UsedTokens =>
      cutShort(told, seenTokens, speaks ? untilGone(course)() : silentMs, { ...hidden, held: reservation.held });
    const whole = pumped.cutShort ? cutAt(told, silence?.end() ?? { seenTokens: seen(), silentMs: 0 }) : told;
    const settled = settlementOf(whole, { outcome, firstTokenMs, useTimeMs }, call, answered);
    try {
      await reservation.settle(settled);
      heartbeat.stop();
      if (error === null) response.end(reading.decoder.closing(settled.usage));
      else response.end(`${dialect.errorFrame(error, requestId, pumped.begun)}${dialect.endFrame}`);
    } catch {
      heartbeat.stop();
      // Without the end mark: the caller must not take this answer for a complete one.
      response.end(dialect.errorFrame(storeUnavailable(chargeFollows), requestId, pumped.begun));
    }
    if (response.writableLength > 0) stalledCallers.watch(presence);
    return error === null;
  };

  return { answer, settleAbandoned };
}
