import type { Settings } from '../../application/options/settings.js';
import { limitsOf, type ModelLimits, maxContext } from '../../domain/call/model-limits.js';
import { type Usage, withoutOutput } from '../../domain/call/usage.js';
import {
  reservedOutput,
  reservedUsage,
  type UsageBound,
  unboundedTokens,
  usageBound,
  withOutput,
} from '../../domain/call/usage-bound.js';
import type { Quota } from '../../domain/kernel/quota.js';
import { withTiersUpTo } from '../../domain/pricing/context-tiers.js';
import { affordableOutput, chargeOf, type Price, reservationOf } from '../../domain/pricing/pricing.js';
import { isSoldBy } from '../../domain/pricing/rates.js';
import type { Demand } from '../contracts/endpoint.js';
import type { SoundLength } from '../sound/sound-length.js';
import { usualSummary } from './compaction.js';
import { withoutInput } from './prompt-tally.js';

/*
 * What to reserve for a call: an upper bound of what it can be charged. Where the balance is below it, the call is sent
 * with a limit it can afford, unless an operator wants callers' own limits kept: then who named one is refused.
 */

/** What a call may be charged, as far as it decides what is reserved for it. */
export interface ReservationEstimate {
  readonly price: Price;
  /** Input tokens as near as can be known from here. */
  readonly promptTokens: number;
  /** Over all its answers. */
  readonly bound: UsageBound;
  /** The same with so much input as must be affordable beside the output: what is likely, with a margin. */
  readonly conservative: UsageBound;
  /** Choices of all prompts. */
  readonly answers: number;
  /** The caller's own limit to each answer; null: none given. */
  readonly asked: number | null;
  readonly limits: ModelLimits;
  /** What each answer may think beyond its limit, and be summed up beside it. */
  readonly overhead: number;
  /** As much of that as it makes sense to reserve at least. */
  readonly conservativeOverhead: number;
  /** The limit may be lowered to what can be paid. */
  readonly mayLower: boolean;
  /** To be reserved where the quota suffices, and the least that may be reserved. */
  readonly max: Quota;
  readonly min: Quota;
  /** The least of what its API key must have: with room for all that the provider may bring into the prompt. */
  readonly minOfKey: Quota;
}

export interface Estimate extends ReservationEstimate {
  /** There are files, sound or pictures in the prompt: here their tokens can only be guessed. */
  readonly uncounted: boolean;
  /** Of the recording that is the prompt; null: there is none. */
  readonly recording: SoundLength | null;
  /** Of each picture that is made, as near as can be known; null: none are. */
  readonly pictureTokens: number | null;
}

/** A limit every upstream takes, for models of which nothing is known. */
const takenByAll = 8_192;

/** `names`: as asked for and as sent upstream, which channels may map. */
const limitsAmong = (names: ReadonlySet<string>, settings: Settings): ModelLimits => {
  let found: ModelLimits | null = null;
  for (const name of names) {
    const limits = limitsOf(name, settings.maxOutputTokens, settings.defaultMaxOutputTokens);
    // A name known upstream says more than one made up here.
    if (found === null || (found.guessed === limits.guessed ? limits.output > found.output : found.guessed))
      found = limits;
  }
  if (found === null) throw new Error('a model without a name');
  return found;
};

/** The most that any of these models takes in. */
const contextAmong = (names: ReadonlySet<string>, { context }: ModelLimits, settings: Settings): number => {
  let max = context ?? maxContext;
  if (names.size === 1) return max;
  for (const name of names) {
    const limits = limitsOf(name, settings.maxOutputTokens, settings.defaultMaxOutputTokens);
    if (!limits.guessed) max = Math.max(max, limits.context ?? maxContext);
  }
  return max;
};

/** For all that is read in several pieces; where nobody knows how much that is, as much as one model takes. */
const roomApart = (max: number): number => (max >= unboundedTokens ? maxContext : Number.MAX_SAFE_INTEGER);

/** The output tokens that so much pays for beside the prompt. */
export const affordableOutputOf = ({ conservative, price }: ReservationEstimate, quota: Quota): number =>
  affordableOutput(quota, withoutOutput(reservedUsage(conservative)), price, reservedOutput(conservative));

/** What must be reserved for so many output tokens. */
export const reservationFor = ({ conservative, price }: ReservationEstimate, output: number): Quota =>
  reservationOf(reservedUsage(withOutput(conservative, output)), price);

const product = (a: number, b: number): number => Math.min(a * b, Number.MAX_SAFE_INTEGER);

/** What an estimate is made of. */
interface ToEstimate {
  readonly demand: Demand;
  /** Of the model, as asked for and as sent upstream. */
  readonly names: ReadonlySet<string>;
  readonly price: Price;
  readonly settings: Settings;
  /** Tokens that each answer may think beside its limit. */
  readonly thinking: number;
  /** What it may use beside tokens of its prompt and text: sound that is put out, calls of tools. */
  readonly allowed: Usage;
  /** Of its own limit, what each answer is to be left for thinking by a budget. Left out: nothing. */
  readonly minThinkingTokens?: number;
  /** Whoever may serve it has no limit to the output: none is counted on, and none lowered. Left out: somebody has. */
  readonly unlimited?: boolean;
}

export function estimateReservation({
  demand,
  names,
  price: listed,
  settings,
  thinking,
  allowed,
  minThinkingTokens = 0,
  unlimited = demand.unlimited === true,
}: ToEstimate): Estimate {
  const { prompt: demanded, answers, asked: named, counted, recording, compacts, standsFor, readApart } = demand;
  const prompt = standsFor !== undefined && isSoldBy(listed, standsFor) ? withoutInput(demanded) : demanded;
  const limits = limitsAmong(names, settings);
  const asked = unlimited ? null : named;
  const summary = compacts === true ? limits.output : 0;
  const overhead = thinking + summary;
  const conservativeOverhead = thinking + Math.min(summary, usualSummary);
  // What fills the context has no room for additions.
  const read = counted
    ? prompt.max.input
    : Math.max(
        Math.min(
          prompt.max.input + settings.upstreamPromptTokens,
          readApart === true ? roomApart(prompt.max.input) : contextAmong(names, limits, settings),
        ),
        prompt.expected,
      );
  // What is summed up is read for the summary, and after it.
  const input = compacts === true ? product(read, 2) : read;
  const output = product((asked ?? limits.output) + overhead, answers);
  const bound = usageBound({ input, output }, prompt.max, allowed);
  const conservativeInput = Math.max(Math.min(prompt.conservative.input, input), prompt.expected);
  const conservative = usageBound({ input: conservativeInput, output }, bound, prompt.conservative);
  // What no prompt of the call reaches need not be in every event of it.
  const price = withTiersUpTo(listed, reservedUsage(bound));
  const mayLower = !unlimited && demand.indivisible !== true && (asked === null || settings.lowersLimits);
  const minAnswer = mayLower
    ? Math.min(settings.preConsumedTokens + minThinkingTokens, asked ?? limits.output)
    : (asked ?? limits.output);
  // Tokens that upstream counts may turn out to be of a more expensive kind; what is counted here is what it is.
  const costOf = counted && answers === 0 ? chargeOf : reservationOf;
  const minWith = (within: UsageBound, more: number): Quota =>
    costOf(reservedUsage(withOutput(within, product(minAnswer + more, answers))), price);
  const min = minWith(conservative, conservativeOverhead);
  return {
    price,
    promptTokens: prompt.expected,
    bound,
    conservative,
    uncounted: prompt.uncounted,
    recording: recording ?? null,
    pictureTokens: demand.pictureTokens ?? null,
    answers,
    asked,
    limits,
    overhead,
    conservativeOverhead,
    mayLower,
    max: costOf(reservedUsage(bound), price),
    min,
    minOfKey: prompt.brings || compacts === true ? minWith(usageBound({ input, output }, conservative), overhead) : min,
  };
}

/** The limit to each answer that must be sent with what was granted; null: the request may go as it is. */
export function affordableLimit(estimate: ReservationEstimate, granted: Quota): number | null {
  const { asked, mayLower, max, conservative, answers, bound, limits, conservativeOverhead } = estimate;
  if (!mayLower || answers === 0 || granted >= max) return null;
  const affordable = affordableOutputOf(estimate, granted);
  if (affordable >= bound.output) return null;
  const limit = Math.max(Math.floor(affordable / answers) - conservativeOverhead, 1);
  if (asked !== null) return limit < asked ? limit : null;
  if (limits.guessed) return Math.min(limit, takenByAll);
  // Upstreams refuse a limit that does not fit into the context beside the prompt.
  const room = limits.context === null ? limit : limits.context - conservative.input;
  return Math.max(Math.min(limit, room), 1);
}
