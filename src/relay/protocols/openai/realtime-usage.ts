import { type Usage, used } from '../../../domain/call/usage.js';
import { countIn, isObject, type JsonObject, type JsonValue } from '../../json/json.js';

/* Usage as events of a realtime session report it: text, sound and pictures, each of them cached or not. */

const countsIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
const count = (value: JsonValue | undefined): number => countIn(value) ?? 0;

/** null: nothing usable, which is not the same as nothing used. No part counts more than its whole. */
export function readRealtimeUsage(reported: JsonValue | undefined): Usage | null {
  const usage = countsIn(reported);
  const input = countIn(usage.input_tokens);
  const output = countIn(usage.output_tokens);
  if ((input ?? 0) + (output ?? 0) === 0) return null;
  const took = countsIn(usage.input_token_details);
  const put = countsIn(usage.output_token_details);
  const cachedKinds = countsIn(took.cached_tokens_details);
  let left = input ?? 0;
  const part = (tokens: number): number => {
    const taken = Math.min(Math.max(tokens, 0), left);
    left -= taken;
    return taken;
  };
  // What costs more goes first where parts overlap: without details, what came from the cache is taken for text.
  const sound = part(count(took.audio_tokens));
  const cachedSound = Math.min(Math.max(count(cachedKinds.audio_tokens), 0), sound);
  const imageInput = part(count(took.image_tokens) - count(cachedKinds.image_tokens));
  const cachedInput = part(count(took.cached_tokens) - cachedSound);
  const audioOutput = Math.min(count(put.audio_tokens), output ?? 0);
  return used({
    ...{ input: left, cachedInput, imageInput, audioInput: sound - cachedSound, cachedAudioInput: cachedSound },
    ...{ output: (output ?? 0) - audioOutput, audioOutput },
  });
}
