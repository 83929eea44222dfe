import type { UsageSource } from '../../domain/call/call.js';
import {
  type Counts,
  completionTokens,
  joined,
  promptTokens,
  type Usage,
  usedAnything,
} from '../../domain/call/usage.js';
import { kindsWithin, type UsageBound } from '../../domain/call/usage-bound.js';
import { isTokens, isToolCalls, type Quantity, quantityNames } from '../../domain/pricing/quantities.js';
import type { Generated } from '../contracts/protocol.js';

/*
 * What a call has used: upstream's figures as far as the call can have used as much, else ours. The one usage that is
 * charged, logged and reported to the caller.
 */

/** What one returned tool call costs besides its text, when it is counted here. */
const tokensPerToolCall = 7;

/** Output tokens of what came, as counted here. */
export const seenTokens = ({ said, toolCalls }: Generated, model: string): number =>
  said.tokens(model) + toolCalls * tokensPerToolCall;

/** Usage that was reported, and its tokens of either direction. */
interface CountedUsage {
  readonly usage: Usage;
  readonly input: number;
  readonly output: number;
}

const counted = (usage: Usage): CountedUsage => ({
  usage,
  input: promptTokens(usage),
  output: completionTokens(usage),
});

const canHaveTakenIn = ({ usage, input }: CountedUsage, bound: UsageBound): boolean =>
  input <= bound.input && kindsWithin(usage, bound, 'input');

/** Who reports pictures, seconds or characters need not count tokens. */
function reportsPieces(usage: Usage): boolean {
  for (const name in usage)
    if (!isTokens(name as Quantity) && !isToolCalls(name as Quantity) && (usage[name as Quantity] ?? 0) > 0)
      return true;
  return false;
}

/** Of a prompt that is not empty, nothing was reported that can be charged. */
const lacksInput = ({ usage, input }: CountedUsage, promptEstimate: number): boolean =>
  input === 0 && promptEstimate > 0 && !reportsPieces(usage);

/** Of words that came, nothing was reported. `echoed`: tokens of the prompt that may stand in the answer. */
const lacksOutput = ({ output }: CountedUsage, { said, toolsBytes = 0 }: Generated, echoed: number): boolean =>
  output + echoed === 0 && said.bytes > toolsBytes;

export interface UsedTokens {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
}

/** What was reported and not believed, for the record; undefined: nothing. */
export function claimedUsage(
  { usageSource }: Pick<UsedTokens, 'usageSource'>,
  reported: Usage | null,
): Usage | undefined {
  if (usageSource !== 'disbelieved' || reported === null) return undefined;
  const claimed: Counts = {};
  for (const name of quantityNames) {
    const count = reported[name] ?? 0;
    if (count > 0) claimed[name] = Math.min(count, Number.MAX_SAFE_INTEGER);
  }
  return claimed;
}

/**
 * No encoding makes more than one token of a byte: what came bounds what was said, and the limit what was thought. An
 * answer longer than its limit can be seen to be so.
 */
const canHavePutOut = ({ usage, output }: CountedUsage, { said, toolCalls }: Generated, bound: UsageBound): boolean =>
  kindsWithin(usage, bound, 'output') &&
  (output <= bound.output || output <= said.bytes + toolCalls * tokensPerToolCall);

/** Bytes: hardly any text has more of them to a token. Below it nothing needs to be counted. */
const thriftiest = 6;
/** Other vendors' encodings make up to so much fewer tokens of a text than the newer one here. */
const foreignThrift = 1.5;
const newerEncoding = 'gpt-4o';
/** Tokens that templates and marks may make of a difference. */
const fewTokens = 16;

/**
 * What came clearly holds more tokens than were reported: some upstreams count one of several answers, or stop counting
 * at the limit they were given. `echoed`: tokens of the prompt that may stand in the answer.
 */
function saysMore(
  { output }: CountedUsage,
  { said, toolsBytes = 0 }: Generated,
  { output: maxOutput }: UsageBound,
  echoed: number,
): boolean {
  const tokens = output + echoed;
  const bytes = said.bytes - toolsBytes;
  if (tokens * thriftiest >= bytes) return false;
  const slack = output >= maxOutput ? 0 : fewTokens;
  return tokens * foreignThrift + slack < (said.tokens(newerEncoding) * bytes) / said.bytes;
}

/** What is known of a call's usage by itself. */
export interface KnownOfUsage {
  readonly bound: UsageBound;
  /** Tokens of the prompt as they are counted here. */
  readonly promptEstimate: number;
  readonly model: string;
  /** The prompt may stand in the answer. Left out: it does not. */
  readonly echoes?: boolean;
}

/**
 * Input and output are judged apart: whoever has a search put more into the prompt than was sent must not have what was
 * thought about it for nothing.
 */
export function believedUsage(
  usage: Usage | null,
  generated: Generated,
  { bound, promptEstimate, model, echoes = false }: KnownOfUsage,
): UsedTokens {
  const seen = (): Usage => ({ output: seenTokens(generated, model), ...generated.searches });
  if (usage === null || (!usedAnything(usage) && generated.said.length > 0))
    return withinTools(joined({ input: promptEstimate }, seen()), 'estimated', bound);
  const counts = counted(usage);
  const echoed = echoes ? counts.input : 0;
  const noInput = lacksInput(counts, promptEstimate);
  // Streams that break off may have reported their input and nothing else.
  const noOutput = generated.inputOnly === true || lacksOutput(counts, generated, echoed);
  const possibleInput = canHaveTakenIn(counts, bound);
  const possibleOutput = canHavePutOut(counts, generated, bound) && !saysMore(counts, generated, bound, echoed);
  const input = possibleInput && !noInput;
  const output = possibleOutput && !noOutput;
  if (input && output) return withinTools(usage, 'upstream', bound);
  const lied = !possibleInput || (!possibleOutput && !noOutput);
  return withinTools(
    joined(input ? usage : { input: promptEstimate }, output ? usage : seen()),
    lied ? 'disbelieved' : 'estimated',
    bound,
  );
}

/**
 * For usage reported while an answer still comes, when what was said is no measure yet: what of it the call can have
 * used. Refers to nothing else of the call.
 */
export const believer =
  (bound: UsageBound, promptEstimate: number) =>
  (usage: Usage): Usage => {
    const counts = counted(usage);
    const input = canHaveTakenIn(counts, bound) && !lacksInput(counts, promptEstimate);
    const output = counts.output <= bound.output && kindsWithin(usage, bound, 'output');
    const possible = input && output ? usage : joined(input ? usage : { input: promptEstimate }, output ? usage : {});
    return withinTools(possible, 'upstream', bound).usage;
  };

/** No more calls of a tool than were reserved for; those of one that nobody asked for have no price. */
function withinTools(usage: Usage, usageSource: UsageSource, bound: UsageBound): UsedTokens {
  let within: Counts | null = null;
  for (const name in usage) {
    const max = bound[name as Quantity];
    if (!isToolCalls(name as Quantity) || max === undefined || (usage[name as Quantity] ?? 0) <= max) continue;
    within ??= { ...usage };
    within[name as Quantity] = max;
  }
  return within === null ? { usage, usageSource } : { usage: within, usageSource: 'disbelieved' };
}
