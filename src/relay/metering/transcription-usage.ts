import { promptTokens, type Usage } from '../../domain/call/usage.js';
import { mayUse } from '../../domain/call/usage-bound.js';
import type { Generated } from '../contracts/protocol.js';
import { type SoundLength, wholeSeconds } from '../sound/sound-length.js';
import { believedUsage, type KnownOfUsage, seenTokens, type UsedTokens } from './believed-usage.js';

/*
 * What the transcript of a recording has used: so many tokens a minute by the file's length, which its header may deny, or
 * tokens of sound and words where the model counts by these and upstream reports them.
 */

const tokensPerMinute = 1_000;

/** The tokens that so many seconds are charged as. */
export const soundTokens = (seconds: number): number => Math.round((Math.ceil(seconds) / 60) * tokensPerMinute);

/** Nobody says more in a second, in tokens of the words. */
export const fastestWords = 10;

const lasting = (seconds: number, bySecond: boolean): Usage =>
  bySecond ? { seconds } : { input: soundTokens(seconds), seconds };

/** What is known of a call by itself. `bySecond`: a second has a price of its own, instead of tokens that stand for it. */
type KnownOfTranscript = Pick<KnownOfUsage, 'bound' | 'model'> & { readonly bySecond?: boolean };

/** As the file says; `otherwise`: where it does not. */
const secondsOf = (said: number | null, otherwise: number): number => (said === null ? otherwise : wholeSeconds(said));

/**
 * The longer of what the file says and what was heard counts. What nobody has measured lasts as long as its words. The
 * bound has sound in it where the model counts by tokens.
 */
export function transcriptionUsage(
  reported: Usage | null,
  generated: Generated,
  { said, expected, max }: SoundLength,
  { bound, model, bySecond = false }: KnownOfTranscript,
): UsedTokens {
  if (mayUse(bound, 'audioInput') && reported !== null && promptTokens(reported) > 0) {
    const audioInput = soundTokens(max);
    const withAudio = { ...bound, input: bound.input + audioInput, audioInput };
    const believed = believedUsage(reported, generated, { bound: withAudio, promptEstimate: bound.input, model });
    if (believed.usageSource === 'upstream')
      return bySecond ? { ...believed, usage: { ...believed.usage, seconds: secondsOf(said, expected) } } : believed;
  }
  const measured = reported?.seconds ?? 0;
  if (measured > 0 && measured <= max)
    return {
      usage: lasting(Math.max(Math.ceil(measured), secondsOf(said, 0)), bySecond),
      usageSource: 'upstream',
    };
  const spoken = Math.ceil(seenTokens(generated, model) / fastestWords);
  return {
    usage: lasting(Math.max(expected, spoken), bySecond),
    usageSource: measured > 0 ? 'disbelieved' : 'estimated',
  };
}
