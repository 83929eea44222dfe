import type { UsageSource } from '../../domain/call.js';
import { noUsage, type Usage } from '../../domain/pricing.js';
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

/**
 * Input and output are judged apart: whoever has a search put more into the prompt than was sent must not have what was
 * thought about it for nothing.
 */
export function believedUsage(
  told: Usage | null,
  generated: Generated,
  bound: UsageBound,
  promptEstimate: number,
  model: string,
): UsedTokens {
  const silent = told === null || (told.prompt + told.completion === 0 && generated.said.length > 0);
  const input = !silent && told.prompt <= bound.prompt;
  const output = !silent && canHavePutOut(told.completion, generated, bound);
  if (input && output) return { usage: told, usageSource: 'upstream' };
  const { prompt, cached, cacheWrite, image } = input ? told : { ...noUsage, prompt: promptEstimate };
  const { completion, reasoning } = output ? told : { completion: seenTokens(generated, model), reasoning: 0 };
  return {
    usage: { prompt, cached, cacheWrite, image, completion, reasoning },
    usageSource: silent ? 'estimated' : 'disbelieved',
  };
}
