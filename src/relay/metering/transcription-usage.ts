import { promptTokens, type Usage } from '../../domain/call/usage.js';
import { mayUse } from '../../domain/call/usage-bound.js';
import type { Generated } from '../contracts/protocol.js';
import { type SoundLength, wholeSeconds } from '../sound/sound-length.js';
import { believedUsage, type KnownOfUsage, seenTokens, type UsedTokens } from './believed-usage.js';

/*
 * What the transcript of a recording has used: so many tokens a minute by the file's length, which its header may deny, or
 * tokens of sound and words where the model counts by these and upstream tells them.
 */

const tokensPerMinute = 1_000;

/** The tokens that so many seconds are charged as. */
export const soundTokens = (seconds: number): number => Math.round((Math.ceil(seconds) / 60) * tokensPerMinute);

/** Nobody says more in a second, in tokens of the words. */
export const fastestWords = 10;

const lasting = (seconds: number): Usage => ({ input: soundTokens(seconds), seconds });

/**
 * The longer of what the file says and what was heard counts. What nobody has measured lasts as long as its words. The
 * bound has sound in it where the model counts by tokens.
 */
export function transcriptionUsage(
  reported: Usage | null,
  generated: Generated,
  { said, expected, max }: SoundLength,
  { bound, model }: Pick<KnownOfUsage, 'bound' | 'model'>,
): UsedTokens {
  if (mayUse(bound, 'audioInput') && reported !== null && promptTokens(reported) > 0) {
    const audioInput = soundTokens(max);
    const withAudio = { ...bound, input: bound.input + audioInput, audioInput };
    const believed = believedUsage(reported, generated, { bound: withAudio, promptEstimate: bound.input, model });
    if (believed.usageSource === 'upstream') return believed;
  }
  const measured = reported?.seconds ?? 0;
  if (measured > 0 && measured <= max)
    return {
      usage: lasting(Math.max(Math.ceil(measured), said === null ? 0 : wholeSeconds(said))),
      usageSource: 'upstream',
    };
  const spoken = Math.ceil(seenTokens(generated, model) / fastestWords);
  return {
    usage: lasting(Math.max(expected, spoken)),
    usageSource: measured > 0 ? 'disbelieved' : 'estimated',
  };
}
