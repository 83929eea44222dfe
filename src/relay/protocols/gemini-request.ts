import { reasoningEffortOf } from '../../domain/call-texts.js';
import { conversation } from './gemini-contents.js';
import { embeddingBody } from './gemini-embeddings.js';
import { generationConfig } from './gemini-generation.js';
import { isNative, nativeContent, nativeCounting, nativeEmbedding, withinLimit } from './gemini-native.js';
import { type ThinkingSuffix, thinkingSuffix, thinksByLevel } from './gemini-thinking.js';
import { geminiTools, toolConfig } from './gemini-tools.js';
import { countIn, type JsonObject, textIn } from './json.js';
import { pathSegment } from './model-address.js';
import { baseOf, notServed, written } from './openai-request.js';
import type {
  CallerRequest,
  GeminiSettings,
  Provider,
  RequestOptions,
  UpstreamChannel,
  UpstreamRequest,
} from './protocol.js';

/* From the neutral request to Gemini's. */

const harms = ['HARASSMENT', 'HATE_SPEECH', 'SEXUALLY_EXPLICIT', 'DANGEROUS_CONTENT', 'CIVIC_INTEGRITY'].map(
  (harm) => `HARM_CATEGORY_${harm}`,
);

/** An operator's own choice for each kind of harm. */
const safetySettings = ({ safety }: GeminiSettings): JsonObject[] =>
  harms.map((category) => ({ category, threshold: safety.get(category) ?? safety.get('default') ?? 'OFF' }));

/** The model's own version of the interface, then the channel's, then everybody's. */
const versionFor = ({ versions }: GeminiSettings, { other }: UpstreamChannel, model: string): string =>
  versions.get(model) ?? (other.trim() || versions.get('default') || 'v1beta');

/** A name may be given as the provider lists it. */
const bareName = (model: string): string => model.replace(/^models\//, '');

/** What is asked of the model: `generateContent` and the like. Throws NotConvertible. */
export function geminiUrl(
  provider: Provider,
  channel: UpstreamChannel,
  settings: GeminiSettings,
  model: string,
  action: string,
): string {
  const version = pathSegment(versionFor(settings, channel, bareName(model)));
  return `${baseOf(provider, channel)}/${version}/models/${pathSegment(bareName(model))}:${action}`;
}

/** The key stays out of the address, which errors and logs repeat. */
export const geminiHeaders = (channel: UpstreamChannel, stream: boolean): Record<string, string> => ({
  'content-type': 'application/json',
  accept: stream ? 'text/event-stream' : 'application/json',
  'x-goog-api-key': channel.key.trim(),
});

/** null: neither the caller nor what is held for the call says one. */
const limitOf = ({ outputLimit, mostOutput }: CallerRequest, body: JsonObject): number | null => {
  const asked = outputLimit ?? (countIn(body.max_completion_tokens) || countIn(body.max_tokens) || null);
  return asked === null ? null : Math.min(asked, mostOutput);
};

/** Text is not all that they answer. */
const drawsImages = (model: string, { imageModels }: GeminiSettings): boolean =>
  imageModels.has(model) || /^gemini-.*-image/.test(model);

/** Throws NotConvertible. */
function contentBody(
  caller: CallerRequest,
  body: JsonObject,
  model: string,
  suffix: ThinkingSuffix | null,
  { gemini: settings, pictures: fetched }: Pick<RequestOptions, 'gemini' | 'pictures'>,
): JsonObject {
  const { instructions, contents } = conversation(body.messages, {
    withoutInstructions: model.startsWith('gemma'),
    signsCalls: thinksByLevel(model),
    fetched,
  });
  const tools = geminiTools(body);
  const config = toolConfig(body);
  return {
    ...(instructions !== '' && { systemInstruction: { parts: [{ text: instructions }] } }),
    contents,
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && config !== null && { toolConfig: config }),
    safetySettings: safetySettings(settings),
    generationConfig: generationConfig(body, {
      model,
      suffix,
      thinkingShare: settings.thinkingShare,
      limit: limitOf(caller, body),
      drawsImages: drawsImages(model, settings),
    }),
  };
}

/** What suffixes mean is for the operator to switch on. A name that is mapped may have had one before. */
function suffixOf({ thinkingAdapter }: GeminiSettings, upstreamModel: string, asked: string): ThinkingSuffix | null {
  if (!thinkingAdapter) return null;
  const meant = thinkingSuffix(asked);
  return thinkingSuffix(upstreamModel) ?? (meant === null ? null : { model: upstreamModel, budget: meant.budget });
}

/** Throws NotConvertible. */
export function geminiRequest(
  provider: Provider,
  channel: UpstreamChannel,
  caller: CallerRequest,
  upstreamModel: string,
  options: RequestOptions,
): UpstreamRequest {
  const { gemini: settings, passThrough } = options;
  const { mode, stream } = caller;
  const native = isNative(caller);
  const body = native ? caller.body : caller.neutral();
  const suffix = suffixOf(settings, upstreamModel, textIn(body.model) ?? '');
  const model = suffix?.model ?? upstreamModel;
  const asked = (action: string, converted: JsonObject): UpstreamRequest => {
    const sent =
      passThrough || channel.paramOverride === null
        ? converted
        : withinLimit({ ...converted, ...channel.paramOverride }, caller.mostOutput);
    return {
      method: 'POST',
      url: geminiUrl(provider, channel, settings, model, action),
      headers: geminiHeaders(channel, stream),
      content: { kind: 'json', text: written(sent) },
      model,
      reasoningEffort: reasoningEffortOf(textIn(body.reasoning_effort)),
    };
  };
  switch (mode) {
    case 'chat': {
      const action = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const converted = native
        ? nativeContent(caller, model, suffix, settings.thinkingShare)
        : contentBody(caller, body, model, suffix, options);
      return asked(action, converted);
    }
    case 'embeddings': {
      const { action, body: converted } = native
        ? nativeEmbedding(caller, bareName(model))
        : embeddingBody(body, bareName(model));
      return asked(action, converted);
    }
    case 'counting':
      if (native) return asked('countTokens', nativeCounting(caller, bareName(model)));
      throw notServed(mode);
    default:
      throw notServed(mode);
  }
}
