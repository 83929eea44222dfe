import { completionTokens, joined, plus, promptTokens, type Usage } from '../../domain/call/usage.js';
import { kindsWithin, type UsageBound } from '../../domain/call/usage-bound.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { UsedTokens } from './believed-usage.js';

/** Upstream's figures of a response as far as it can have used as much, else what was seen of it; either direction by itself. */
export function believedRealtime(reported: Usage | null, seen: Usage, bound: UsageBound): UsedTokens {
  const asSeen = within(seen, bound);
  if (reported === null) return { usage: asSeen, usageSource: 'estimated' };
  const input = promptTokens(reported);
  const output = completionTokens(reported);
  const possibleInput = input <= bound.input && kindsWithin(reported, bound, 'input');
  const possibleOutput = output <= bound.output && kindsWithin(reported, bound, 'output');
  const lacksInput = input === 0 && promptTokens(asSeen) > 0;
  const lacksOutput = output === 0 && completionTokens(asSeen) > 0;
  if (possibleInput && possibleOutput && !lacksInput && !lacksOutput)
    return { usage: reported, usageSource: 'upstream' };
  return {
    usage: joined(possibleInput && !lacksInput ? reported : asSeen, possibleOutput && !lacksOutput ? reported : asSeen),
    usageSource: possibleInput && possibleOutput ? 'estimated' : 'disbelieved',
  };
}

/** Sound from a cache is other sound where its price is not known: nothing is sold below cost. */
export function withPricedSound(used: UsedTokens, price: Price): UsedTokens {
  const { cachedAudioInput = 0, ...usage } = used.usage;
  if (cachedAudioInput === 0 || price.per === 'call' || price.ratios.cachedAudioInput !== undefined) return used;
  return { ...used, usage: plus(usage, 'audioInput', cachedAudioInput) };
}

/** What is guessed is never more than what is reserved. */
function within(seen: Usage, bound: UsageBound): Usage {
  const { input = 0, audioInput = 0, imageInput = 0, output = 0, audioOutput = 0 } = seen;
  const heard = Math.min(audioInput, bound.input);
  const looked = Math.min(imageInput, bound.input - heard);
  const spoken = Math.min(audioOutput, bound.output);
  const usage = { audioInput: heard, imageInput: looked, input: Math.min(input, bound.input - heard - looked) };
  return joined(usage, { audioOutput: spoken, output: Math.min(output, bound.output - spoken) });
}
