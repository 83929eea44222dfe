import type { KeptObject } from '../../domain/call/kept-object.js';
import { type Counts, completionTokens, plus, type Usage, usedAnything } from '../../domain/call/usage.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { isTokens, type Quantity } from '../../domain/pricing/quantities.js';
import { isSoldBy } from '../../domain/pricing/rates.js';
import { usualTier } from '../../domain/pricing/service-tiers.js';
import type { Generated } from '../contracts/protocol.js';
import { presentFor } from '../delivery/call-times.js';
import { hiddenCosts } from '../delivery/hidden-costs.js';
import { believedUsage, claimedUsage, seenTokens, type UsedTokens } from '../metering/believed-usage.js';
import { leastPictureTokens } from '../metering/picture-tokens.js';
import { pictureUsage } from '../metering/picture-usage.js';
import { rankingUsage } from '../metering/ranking-usage.js';
import { transcriptionUsage } from '../metering/transcription-usage.js';
import { cutShort } from '../metering/unseen-cost.js';
import { SeenText } from '../text/seen-text.js';
import type { SentRequest } from './attempt-failure.js';
import type { DeliveredCall, ReservedCall, UnansweredCall } from './call-context.js';
import type { StagePorts } from './stage-ports.js';

/* What a call is taken to have used: as upstream reported it, as far as that is believed, and what nobody has seen of it. */

/** Of a call of which nothing that was said is known. */
const nothingSaid = (): Generated => ({ said: new SeenText(), toolCalls: 0, finishReason: null });

/** As upstream reported it, and by what was said. */
function reportedBy({ delivery }: DeliveredCall): { readonly usage: Usage | null; readonly generated: Generated } {
  switch (delivery.kind) {
    case 'answer':
      return delivery.answer;
    case 'sound':
      return { usage: null, generated: nothingSaid() };
    case 'stream':
      return delivery.reading.decoder;
  }
}

/** Of a text that is spoken, where its characters have a price. */
const withCharacters = (used: UsedTokens, price: Price, { characters = 0 }: Usage): UsedTokens =>
  characters > 0 && isSoldBy(price, 'characters')
    ? { ...used, usage: plus(used.usage, 'characters', characters) }
    : used;

/** A task uses what was asked for: its upstream counts nothing, and there are no tokens of it. */
function usedByTask(bound: Usage): UsedTokens {
  const pieces: Counts = {};
  for (const name in bound) {
    const count = bound[name as Quantity] ?? 0;
    if (!isTokens(name as Quantity) && count > 0) pieces[name as Quantity] = count;
  }
  return { usage: pieces, usageSource: usedAnything(pieces) ? 'estimated' : 'none' };
}

/** What the provider keeps of a delivered answer. undefined: nothing. */
export function keptOf(call: DeliveredCall): readonly KeptObject[] | undefined {
  const { kept = [] } = reportedBy(call).generated;
  return kept.length > 0 ? kept : undefined;
}

/** What upstream says that it charges for a delivered answer. undefined: nothing. */
export const upstreamCostOf = (call: DeliveredCall): string | undefined => reportedBy(call).generated.upstreamCost;

/** By which upstream names a delivered answer. undefined: by nothing. */
export const answerIdOfCall = (call: DeliveredCall): string | undefined => reportedBy(call).generated.answerId;

/** What upstream has reported of a delivered answer, or shown of searches, and was not believed. undefined: nothing. */
export function claimOf(call: DeliveredCall, used: UsedTokens): Usage | undefined {
  const { usage, generated } = reportedBy(call);
  return claimedUsage(used, usage ?? generated.searches ?? null);
}

export const comparedIdOf = (call: DeliveredCall): string | undefined => reportedBy(call).generated.comparedId;

/** Its caller has, before a stream had ended: what upstream does for it goes on. */
const hasLeft = ({ delivery }: DeliveredCall): boolean =>
  delivery.kind === 'stream' && (delivery.outcome === 'caller-left' || delivery.outcome === 'caller-stalled');

/** What is believed of the usage that upstream reported for a delivered answer. A usage that is not is logged. */
export function deliveredUsage({ log }: Pick<StagePorts, 'log'>, call: DeliveredCall): UsedTokens {
  const { usage, generated } = reportedBy(call);
  const { resolution, reservation, connection, course } = call;
  const { estimate, model, endpoint } = resolution;
  if (endpoint.mode === 'task') return usedByTask(reservation.bound);
  const { recording, pictureTokens, answers, price, promptTokens: promptEstimate } = estimate;
  const { bound } = reservation;
  // The prompt may stand in the answer: `echo`.
  const echoes = endpoint.mode === 'completions';
  const known = { bound, promptEstimate, model, echoes };
  const used =
    pictureTokens !== null
      ? pictureUsage(usage, {
          ...{ ...known, left: hasLeft(call), answers, pictureTokens, price },
          leastTokens: leastPictureTokens(call.answer.upstreamModel),
        })
      : recording !== null
        ? transcriptionUsage(usage, generated, recording, { bound, model, bySecond: isSoldBy(price, 'seconds') })
        : endpoint.mode === 'rerank'
          ? rankingUsage(usage, generated, {
              ...known,
              byUnit: isSoldBy(price, 'searchUnits'),
              likely: estimate.conservative,
            })
          : withCharacters(believedUsage(usage, generated, known), price, bound);
  if (used.usageSource === 'disbelieved')
    log.warn(
      { requestId: connection.requestId, channelId: course.tried.at(-1), reported: usage, bound },
      usage !== null && completionTokens(usage) < completionTokens(used.usage)
        ? 'an upstream reported less usage than its answer contains; it was counted here'
        : 'an upstream reported more usage than the call can have; it was counted here',
    );
  return used;
}

/**
 * The tier of service that a call is charged for. An operator's own is what the model's price is for; one that was not
 * asked for upstream is reported, or the usual one. undefined: the one that its caller asked for.
 */
export function servedTier(
  { service }: Pick<SentRequest, 'service'>,
  reported: string | undefined,
): string | undefined {
  if (service === 'overridden') return usualTier;
  return reported ?? (service === 'asked' ? undefined : usualTier);
}

/** The same, of a delivered answer. */
export const deliveredTier = (call: DeliveredCall): string | undefined =>
  servedTier(call.answer, reportedBy(call).generated.serviceTier);

/** What there is to know about costs of a call that cannot be seen. */
const unseen = (call: ReservedCall, thinks: boolean) => {
  const { answers, price } = call.resolution.estimate;
  const { reserved, bound } = call.reservation;
  return { thinks, reserved, bound, answers, price };
};

/** The same with what may have gone unseen of an answer that was cut short. */
export function cutUsage(ports: Pick<StagePorts, 'clock'>, call: DeliveredCall, believed: UsedTokens): UsedTokens {
  const { delivery, answer, resolution } = call;
  const { answers, pictureTokens } = resolution.estimate;
  // Of a picture there are no words that could be counted, and those of a recording that is sold by its length are free.
  if (delivery.kind !== 'stream' || !delivery.cutShort || pictureTokens !== null || answers === 0) return believed;
  const { generated } = delivery.reading.decoder;
  const { thinks, hasAudio } = hiddenCosts(call, answer);
  const silence = delivery.silence?.end() ?? { seenTokens: seenTokens(generated, resolution.model), silentMs: 0 };
  const unseenMs = hasAudio ? presentFor(ports, call) : silence.silentMs;
  return cutShort(believed, silence.seenTokens, unseenMs, unseen(call, thinks));
}

/** Of a call that upstream was given up at after so many milliseconds, before anything came. A picture is made in full. */
export function nothingUsed(call: UnansweredCall, asked: SentRequest, unseenMs: number): UsedTokens {
  const { estimate, model } = call.resolution;
  const { bound } = call.reservation;
  const { answers, pictureTokens, price, promptTokens: promptEstimate } = estimate;
  if (pictureTokens !== null) {
    const leastTokens = leastPictureTokens(asked.upstreamModel);
    return pictureUsage(null, { bound, promptEstimate, left: true, answers, pictureTokens, leastTokens, price });
  }
  const nothing = believedUsage(null, nothingSaid(), { bound, promptEstimate, model });
  return cutShort(nothing, 0, unseenMs, unseen(call, hiddenCosts(call, asked).thinks));
}
