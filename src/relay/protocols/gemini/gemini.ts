import { isImageMode } from '../../../domain/channel/provider.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import { providerTools } from '../../contracts/neutral.js';
import type { ChatCompletion } from '../../contracts/neutral-answer.js';
import type { Answer, AnswerInput, Protocol } from '../../contracts/protocol.js';
import { isObject, type JsonObject } from '../../json/json.js';
import { bytesToParse } from '../../json/long-texts.js';
import { exactUpstreamJson, upstreamJson } from '../../json/upstream-json.js';
import { unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { lacksVectors } from '../embeddings.js';
import { failedCandidate } from '../failed-finish.js';
import { sourceAddresses } from '../images/image-order.js';
import { pathSegment } from '../model-address.js';
import { writeOpenAiUsage } from '../openai/usage.js';
import { neutralAs } from '../request-builder.js';
import { noAnswer } from '../says-something.js';
import { asMessage, GeminiReader, outsideCalls } from './answer.js';
import { embeddingsAnswered } from './embeddings.js';
import { geminiFailureIn, geminiRefusal, responseSays } from './failure.js';
import { predictionAnswered } from './imagen.js';
import { imagesAnswered } from './images.js';
import { pictureAddresses } from './media.js';
import { isNative } from './native.js';
import { asksMapsAlone } from './own-tools.js';
import { geminiRequest } from './request.js';
import { GeminiStream } from './stream.js';
import { googleSearch } from './tools.js';
import { geminiUsage } from './usage.js';
import type { GeminiTarget, GeminiVariant } from './variant.js';

/* The wire of Google's Gemini models. */

/** A whole answer in neutral words, or in its own where its caller speaks that, and wants it whole. */
function read(reported: JsonObject, { provider, channel, caller, body: received, info }: AnswerInput): Answer {
  const { mode, stream } = caller;
  const generated = new GeminiReader(info, asksMapsAlone(caller, channel));
  const missing = (): Answer => noAnswer(geminiUsage(reported.usageMetadata));
  if (mode === 'counting' && typeof reported.totalTokens !== 'number') return missing();
  if (mode === 'chat') {
    const failed = failedCandidate(reported.candidates, confidentialOf(provider, channel));
    if (failed !== null) return { ok: false, error: failed, costUnknown: true };
    if (!responseSays(reported)) return missing();
  }
  const vectors = mode === 'embeddings' ? embeddingsAnswered(reported, caller, info.model) : null;
  if (mode === 'embeddings' && vectors === null) return lacksVectors(geminiUsage(reported.usageMetadata) !== null);
  if (isNative(caller) && !stream) {
    generated.choices(reported, true);
    const usage = geminiUsage(reported.usageMetadata, generated.searches);
    return { ok: true, body: reported, own: true, received, untouched: true, usage, generated };
  }
  if (vectors !== null) {
    const usage = geminiUsage(reported.usageMetadata);
    return { ok: true, body: vectors, received, untouched: false, usage, generated };
  }
  const choices = generated.choices(reported, true).map(asMessage);
  if (choices.length === 0 || generated.endless) return missing();
  const usage = geminiUsage(reported.usageMetadata, generated.searches);
  const body: ChatCompletion = {
    ...generated.head(reported, 'chat.completion'),
    choices,
    ...(usage !== null && { usage: writeOpenAiUsage(usage) }),
  };
  return { ok: true, body, received, untouched: false, usage, generated };
}

export const geminiIn = (variant: GeminiVariant): Protocol => ({
  request: geminiRequest(variant),
  switchedTools: () => providerTools,
  hostedSearch: () => googleSearch,
  // Who speaks this wire gives addresses where Google itself is to look.
  pictures({ caller }) {
    if (caller.mode === 'image-edit') return sourceAddresses(caller);
    return isNative(caller) || caller.mode !== 'chat' ? [] : pictureAddresses(neutralAs(caller, 'chat').messages);
  },
  answer(answered) {
    const { provider, channel, caller, status, body: bytes, info } = answered;
    const confidential = confidentialOf(provider, channel);
    if (status < 200 || status > 299) return { ok: false, error: geminiRefusal(status, bytes, confidential) };
    const whole = isNative(caller) || caller.mode !== 'chat';
    // Of vectors and pictures a double is enough.
    const parsed = isImageMode(caller.mode) ? bytesToParse(bytes, caller.stream) : bytes;
    const reported = whole ? upstreamJson(parsed) : exactUpstreamJson(parsed, outsideCalls);
    if (!isObject(reported))
      return { ok: false, error: unreadableAnswer('the upstream answered something that is not JSON') };
    const error = geminiFailureIn(reported, confidential, isNative(caller));
    if (error !== null) return { ok: false, error };
    if (isImageMode(caller.mode)) return imagesAnswered(reported, answered);
    return caller.mode === 'chat' && factsOf(info.model).drawsOnly
      ? predictionAnswered(reported, answered)
      : read(reported, answered);
  },
  stream: (opened) => new GeminiStream(opened),
});

/** The model's own version of the interface, then the channel's, then everybody's. */
const versionFor = ({ channel, model, options: { gemini } }: GeminiTarget): string =>
  gemini.versions.get(model) ?? (channel.other.trim() || gemini.versions.get('default') || 'v1beta');

const publicInterface: GeminiVariant = {
  url: (target) => `${target.base}/${pathSegment(versionFor(target))}/models/${pathSegment(target.model)}`,
  // The key stays out of the address, which errors and logs repeat.
  headers: ({ channel }) => ({ 'x-goog-api-key': channel.key.trim() }),
};

/** Google's own. */
export const gemini = geminiIn(publicInterface);
