import type { UsageSource } from '../../domain/call.js';
import type { Usage } from '../../domain/pricing.js';
import type { Generated } from '../protocols/protocol.js';
import type { UsageBound } from './hold.js';

/*
 * What a call has used: upstream's figures as far as the call can have used as much, else ours. The one usage that is
 * charged, logged and told to the caller.
 */

/** What one returned tool call costs besides its text, when it is counted here. */
const tokensPerToolCall = 7;

/** Output tokens of what came, as counted here. */
export const seenTokens = ({ said, toolCalls }: Generated, model: string): number =>
  said.tokens(model) + toolCalls * tokensPerToolCall;

export interface UsedTokens {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
}

/**
 * No encoding makes more than one token of a byte: what came bounds what was said, and the limit what was thought. An
 * answer longer than its limit can be seen to be so.
 */
const canHavePutOut = (tokens: number, { said, toolCalls }: Generated, { output }: UsageBound): boolean =>
  tokens <= output || tokens <= said.bytes + toolCalls * tokensPerToolCall;

export function believedUsage(
  told: Usage | null,
  generated: Generated,
  bound: UsageBound,
  promptEstimate: number,
  model: string,
): UsedTokens {
  const silent = told === null || (told.prompt + told.completion === 0 && generated.said.length > 0);
  if (!silent && told.prompt <= bound.prompt && canHavePutOut(told.completion, generated, bound))
    return { usage: told, usageSource: 'upstream' };
  const completion = seenTokens(generated, model);
  return {
    usage: { prompt: promptEstimate, cached: 0, cacheWrite: 0, image: 0, completion, reasoning: 0 },
    usageSource: silent ? 'estimated' : 'disbelieved',
  };
}
