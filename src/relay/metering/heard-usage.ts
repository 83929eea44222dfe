import { promptTokens, type Usage } from '../../domain/call/usage.js';
import type { Generated } from '../contracts/protocol.js';
import { type SoundLength, wholeSeconds } from '../sound/sound-length.js';
import { believedUsage, type KnownOfUsage, seenTokens, type UsedTokens } from './believed-usage.js';

/*
 * What a call has used that had a file heard: so many tokens a minute by the file's length, which its header may deny, or
 * tokens of sound and words where the model counts by these and upstream tells them.
 */

export interface Heard {
  readonly length: SoundLength;
  /** The model counts by tokens. */
  readonly inTokens: boolean;
}

const tokensPerMinute = 1_000;

/** The tokens that so many seconds are charged as. */
export const soundTokens = (seconds: number): number => Math.round((Math.ceil(seconds) / 60) * tokensPerMinute);

/** Nobody says more in a second, in tokens of the words. */
export const fastestWords = 10;

const lasting = (seconds: number): Usage => ({ input: soundTokens(seconds), seconds });

/** The longer of what the file says and what was heard counts. What nobody has measured lasts as long as its words. */
export function heardUsage(
  told: Usage | null,
  generated: Generated,
  { length, inTokens }: Heard,
  { bound, model }: Pick<KnownOfUsage, 'bound' | 'model'>,
): UsedTokens {
  const { said, expected, most } = length;
  if (inTokens && told !== null && promptTokens(told) > 0) {
    const hearable = { ...bound, prompt: bound.prompt + soundTokens(most), sound: soundTokens(most) };
    const believed = believedUsage(told, generated, { bound: hearable, promptEstimate: bound.prompt, model });
    if (believed.usageSource === 'upstream') return believed;
  }
  const measured = told?.seconds ?? 0;
  if (measured > 0 && measured <= most)
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
