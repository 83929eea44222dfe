import { reasoningEffortOf } from '../../../domain/call/call-texts.js';
import { isImageMode } from '../../../domain/channel/provider.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import type { ChatRequest } from '../../contracts/neutral-request.js';
import {
  type CallerRequest,
  type GeminiSettings,
  NotConvertible,
  type Protocol,
  type RequestOptions,
} from '../../contracts/protocol.js';
import type { ServiceSent } from '../../contracts/service-tier.js';
import { countIn, type JsonObject, textIn } from '../../json/json.js';
import { overriddenPictures } from '../picture-override.js';
import { baseOf, neutralAs, notServed, written } from '../request-builder.js';
import { thinkingInGemini } from '../requested-thinking.js';
import { conversation } from './contents.js';
import { embeddingBody } from './embeddings.js';
import { generationConfig } from './generation.js';
import { asksForPrediction, predictionBody } from './imagen.js';
import { imagesAsked } from './images.js';
import { isNative, nativeContent, nativeCounting, nativeEmbedding, overridden } from './native.js';
import { geminiThinkingSuffix, type ThinkingSuffix, thinkingWithin } from './thinking.js';
import { geminiTools, toolConfig } from './tools.js';
import type { GeminiAction, GeminiVariant } from './variant.js';

/* From the neutral request to Gemini's. */

const harms = ['HARASSMENT', 'HATE_SPEECH', 'SEXUALLY_EXPLICIT', 'DANGEROUS_CONTENT', 'CIVIC_INTEGRITY'].map(
  (harm) => `HARM_CATEGORY_${harm}`,
);

/** An operator's own choice for each kind of harm. */
const safetySettings = ({ safety }: GeminiSettings): JsonObject[] =>
  harms.map((category) => ({ category, threshold: safety.get(category) ?? safety.get('default') ?? 'OFF' }));

/** A name may be given as the provider lists it. */
const bareName = (model: string): string => model.replace(/^models\//, '');

/** null: neither the caller nor what is reserved for the call says one. */
const limitOf = ({ outputLimit, maxOutput }: CallerRequest, body: ChatRequest): number | null => {
  const asked = outputLimit ?? (countIn(body.max_completion_tokens) || countIn(body.max_tokens) || null);
  return asked === null ? null : Math.min(asked, maxOutput);
};

/** Text is not all that they answer. */
const drawsImages = (model: string, { imageModels }: GeminiSettings): boolean =>
  imageModels.has(model) || factsOf(model).drawsToo;

const thoughtWithin = ({ outputLimit }: CallerRequest, config: JsonObject): JsonObject =>
  outputLimit === null ? config : thinkingWithin(config, outputLimit);

/** `model`: without the suffix. */
interface AskedModel {
  readonly model: string;
  readonly suffix: ThinkingSuffix | null;
  readonly options: RequestOptions;
}

const askableTiers = new Set(['flex', 'priority']);

/** What callers of other dialects can ask for by the same names. */
function tierIn({ tiers = [] }: CallerRequest): JsonObject {
  const tier = tiers.find((one) => askableTiers.has(one));
  return tier === undefined ? {} : { serviceTier: tier };
}

/** Of a request as it goes out. */
function serviceSent({ tiers = [] }: CallerRequest, body: JsonObject, override: JsonObject | null): ServiceSent {
  if (override !== null && ('serviceTier' in override || 'service_tier' in override)) return 'overridden';
  return tiers.length > 0 && body.serviceTier !== undefined ? 'asked' : undefined;
}

/** Throws NotConvertible. */
function contentBody(caller: CallerRequest, body: ChatRequest, { model, suffix, options }: AskedModel): JsonObject {
  const { gemini: settings, pictures: fetched } = options;
  const { takesInstructions, thinksByLevel } = factsOf(model);
  const { instructions, contents } = conversation(body.messages, {
    withoutInstructions: !takesInstructions,
    signsCalls: thinksByLevel,
    fetched,
  });
  const tools = geminiTools(body, caller.dialect.wire === 'openai');
  const config = toolConfig(body);
  return {
    ...(instructions !== '' && { systemInstruction: { parts: [{ text: instructions }] } }),
    contents,
    ...tierIn(caller),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && config !== null && { toolConfig: config }),
    safetySettings: safetySettings(settings),
    generationConfig: thoughtWithin(
      caller,
      generationConfig(body, {
        model,
        suffix,
        thinkingShare: settings.thinkingShare,
        limit: limitOf(caller, body),
        drawsImages: drawsImages(model, settings),
      }),
    ),
  };
}

/** What suffixes mean is for the operator to switch on. A name that is mapped may have had one before. */
function suffixOf({ thinkingAdapter }: GeminiSettings, upstreamModel: string, asked: string): ThinkingSuffix | null {
  if (!thinkingAdapter) return null;
  const meant = geminiThinkingSuffix(asked);
  return (
    geminiThinkingSuffix(upstreamModel) ?? (meant === null ? null : { model: upstreamModel, budget: meant.budget })
  );
}

/** What is asked of the model, in Gemini's words. Throws NotConvertible. */
function asked(
  caller: CallerRequest,
  askedModel: AskedModel,
): { readonly action: GeminiAction; readonly body: JsonObject } {
  const { model, suffix, options } = askedModel;
  const native = isNative(caller);
  switch (caller.mode) {
    case 'chat':
      if (factsOf(bareName(model)).drawsOnly) return { action: 'predict', body: predictionBody(caller) };
      if (asksForPrediction(caller))
        throw new NotConvertible('caller', 'instances: only models that do nothing but draw are asked so');
      return {
        action: caller.stream ? 'streamGenerateContent' : 'generateContent',
        body: native
          ? nativeContent(caller, model, suffix, options.gemini.thinkingShare)
          : contentBody(caller, neutralAs(caller, 'chat'), askedModel),
      };
    case 'embeddings':
      return native
        ? nativeEmbedding(caller, bareName(model))
        : embeddingBody(neutralAs(caller, 'embeddings'), bareName(model));
    case 'image-generation':
    case 'image-edit':
      return imagesAsked(caller, {
        model: bareName(model),
        fetched: options.pictures,
        safetySettings: safetySettings(options.gemini),
      });
    case 'counting':
      if (native) return { action: 'countTokens', body: nativeCounting(caller, bareName(model)) };
      throw notServed(caller.mode);
    default:
      throw notServed(caller.mode);
  }
}

const withOverride = (body: JsonObject, override: JsonObject, { mode, maxOutput }: CallerRequest): JsonObject =>
  isImageMode(mode) ? overriddenPictures(body, override) : overridden(body, override, maxOutput);

/** Throws NotConvertible. */
export const geminiRequest =
  (variant: GeminiVariant): Protocol['request'] =>
  ({ provider, channel, caller, model: upstreamModel, options }) => {
    const given: JsonObject = isNative(caller) ? caller.body : caller.neutral().body;
    const suffix = suffixOf(options.gemini, upstreamModel, textIn(given.model) ?? '');
    const model = suffix?.model ?? upstreamModel;
    const { action, body } = asked(caller, { model, suffix, options });
    const target = { base: baseOf(provider, channel), model: bareName(model), action, channel, caller, options };
    const shaped = variant.reshape?.(body, target) ?? body;
    const override = options.passThrough ? null : channel.paramOverride;
    const sent = override === null ? shaped : withOverride(shaped, override, caller);
    return {
      method: 'POST',
      url: `${variant.url(target)}:${action}${action === 'streamGenerateContent' ? '?alt=sse' : ''}`,
      headers: {
        'content-type': 'application/json',
        accept: action === 'streamGenerateContent' ? 'text/event-stream' : 'application/json',
        ...variant.headers(target),
      },
      content: { kind: 'json', text: written(sent, isNative(caller) ? caller.source : undefined) },
      model,
      reasoningEffort: reasoningEffortOf(textIn(given.reasoning_effort)),
      thinking: thinkingInGemini(sent),
      service: serviceSent(caller, sent, override),
    };
  };
