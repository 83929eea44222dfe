import type { Settings } from '../../application/options/settings.js';
import { limitsOf, type ModelLimits, maxContext } from '../../domain/call/model-limits.js';
import type { Usage } from '../../domain/call/usage.js';
import type { Quota } from '../../domain/kernel/quota.js';
import { affordableOutput, chargeOf, type Price, reservationOf } from '../../domain/pricing/pricing.js';
import type { Demand } from '../contracts/endpoint.js';
import { usualSummary } from './compaction.js';
import type { Heard } from './heard-usage.js';

/*
 * What to hold for a call: an upper bound of what it can be charged. Where the balance is below it, the call is sent with
 * a limit it can afford, unless an operator wants callers' own limits kept: then who named one is refused.
 */

/** The most tokens a call can use, over all its answers; what upstream tells beyond it is not believed. */
export interface UsageBound {
  readonly prompt: number;
  /** What of the prompt may be sound. */
  readonly sound: number;
  readonly output: number;
  /** The output may be sound. */
  readonly speaks: boolean;
  /** What is written to a cache may be kept for an hour. */
  readonly keeps: boolean;
  /** How often its tools may search, by their names; null: they do not. */
  readonly searches: Usage | null;
}

/** What a call may be charged, as far as it decides what is held for it. */
export interface HoldEstimate {
  readonly price: Price;
  /** Input tokens as near as can be told from here. */
  readonly promptTokens: number;
  /** The same with a margin: what must be affordable beside the output. */
  readonly amplePrompt: number;
  /** What of it may be sound. */
  readonly ampleSound: number;
  readonly bound: UsageBound;
  /** Choices of all prompts. */
  readonly answers: number;
  /** The caller's own limit to each answer; null: none given. */
  readonly asked: number | null;
  readonly limits: ModelLimits;
  /** What each answer may think beyond its limit, and be summed up beside it. */
  readonly beside: number;
  /** As much of that as it makes sense to hold at least. */
  readonly ampleBeside: number;
  /** The limit may be lowered to what can be paid. */
  readonly mayLower: boolean;
  /** To be held where there is as much, and at least. */
  readonly most: Quota;
  readonly least: Quota;
  /** The least of what its API key must have: with room for all that the provider may bring into the prompt. */
  readonly minOfKey: Quota;
}

export interface Estimate extends HoldEstimate {
  /** There are files, sound or pictures in the prompt: here their tokens can only be guessed. */
  readonly uncounted: boolean;
  /** null: there is no file to be heard. */
  readonly heard: Heard | null;
}

/** A limit every upstream takes, for models nobody has told us anything of. */
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
  let most = context ?? maxContext;
  if (names.size === 1) return most;
  for (const name of names) {
    const limits = limitsOf(name, settings.maxOutputTokens, settings.defaultMaxOutputTokens);
    if (!limits.guessed) most = Math.max(most, limits.context ?? maxContext);
  }
  return most;
};

/** Tokens under the names they are held by. */
export const maxUsage = (
  prompt: number,
  sound: number,
  output: number,
  { speaks, keeps, searches }: Pick<UsageBound, 'speaks' | 'keeps' | 'searches'>,
): Usage => {
  const tokens = {
    [keeps ? 'cacheWriteHour' : 'input']: prompt - sound,
    audioInput: sound,
    [speaks ? 'audioOutput' : 'output']: output,
  };
  return searches === null ? tokens : { ...tokens, ...searches };
};

/** The output tokens that so much pays for beside the prompt. */
export const affordableBeside = ({ amplePrompt, ampleSound, bound, price }: HoldEstimate, quota: Quota): number =>
  affordableOutput(quota, maxUsage(amplePrompt, ampleSound, 0, bound), price, bound.speaks ? 'audioOutput' : 'output');

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
  /** The output may be sound. */
  readonly speaks: boolean;
  /** See `UsageBound`. */
  readonly searches: Usage | null;
  /** Of its own limit, what each answer is to be left for thinking by a budget. Left out: nothing. */
  readonly minThinkingTokens?: number;
}

export function estimateHold({
  demand: { prompt, answers, asked, counted, heard, compacts },
  names,
  price,
  settings,
  thinking,
  speaks,
  searches,
  minThinkingTokens = 0,
}: ToEstimate): Estimate {
  const limits = limitsAmong(names, settings);
  const summary = compacts === true ? limits.output : 0;
  const beside = thinking + summary;
  const ampleBeside = thinking + Math.min(summary, usualSummary);
  // What fills the context has no room for additions.
  const read = counted
    ? prompt.most
    : Math.max(
        Math.min(prompt.most + settings.upstreamPromptTokens, contextAmong(names, limits, settings)),
        prompt.likely,
      );
  // What is summed up is read for the summary, and after it.
  const most = compacts === true ? product(read, 2) : read;
  const bound: UsageBound = {
    prompt: most,
    sound: Math.min(prompt.sound.most, most),
    output: product((asked ?? limits.output) + beside, answers),
    speaks,
    keeps: prompt.keeps,
    searches,
  };
  const amplePrompt = Math.max(Math.min(prompt.ample, most), prompt.likely);
  const ampleSound = Math.min(prompt.sound.ample, amplePrompt);
  const mayLower = asked === null || settings.lowersLimits;
  const minAnswer = mayLower
    ? Math.min(settings.preConsumedTokens + minThinkingTokens, asked ?? limits.output)
    : (asked ?? 0);
  // Tokens that upstream counts may turn out to be of a dearer kind; what is counted here is what it is.
  const costOf = counted && answers === 0 ? chargeOf : reservationOf;
  const minWith = (tokens: number, more: number): Quota =>
    costOf(maxUsage(tokens, ampleSound, product(minAnswer + more, answers), bound), price);
  const least = minWith(amplePrompt, ampleBeside);
  return {
    price,
    promptTokens: prompt.likely,
    amplePrompt,
    ampleSound,
    bound,
    uncounted: prompt.uncounted,
    heard: heard ?? null,
    answers,
    asked,
    limits,
    beside,
    ampleBeside,
    mayLower,
    most: costOf(maxUsage(bound.prompt, bound.sound, bound.output, bound), price),
    least,
    minOfKey: prompt.brings || compacts === true ? minWith(bound.prompt, beside) : least,
  };
}

/** The limit to each answer that must be sent with what was granted; null: the request may go as it is. */
export function affordableLimit(estimate: HoldEstimate, granted: Quota): number | null {
  const { asked, mayLower, most, amplePrompt, answers, bound, limits, ampleBeside } = estimate;
  if (!mayLower || answers === 0 || granted >= most) return null;
  const affordable = affordableBeside(estimate, granted);
  if (affordable >= bound.output) return null;
  const limit = Math.max(Math.floor(affordable / answers) - ampleBeside, 1);
  if (asked !== null) return limit < asked ? limit : null;
  if (limits.guessed) return Math.min(limit, takenByAll);
  // Upstreams refuse a limit that does not fit into the context beside the prompt.
  const room = limits.context === null ? limit : limits.context - amplePrompt;
  return Math.max(Math.min(limit, room), 1);
}
