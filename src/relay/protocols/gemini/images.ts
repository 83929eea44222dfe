import { factsOf } from '../../../domain/models/model-facts.js';
import { type Answer, type AnswerInput, type CallerRequest, NotConvertible } from '../../contracts/protocol.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { asUpstreamError, unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { failedCandidate } from '../failed-finish.js';
import {
  type ImageOrder,
  imageOrder,
  nearestRatio,
  refuseFurther,
  refuseMore,
  refuseMoreSources,
  refuseSources,
  sizeAsked,
} from '../images/image-order.js';
import { imagesOf } from '../images/image-wire.js';
import { blocked } from './failure.js';
import { type Fetched, mediaPart } from './media.js';
import { geminiUsage } from './usage.js';

/*
 * Pictures of Google's models: Gemini's answer with them (https://ai.google.dev/gemini-api/docs/image-generation), Imagen
 * predicts them (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api). Either has ratios
 * where others have sizes, and gives pictures in base64 alone.
 */

const ratiosOfGemini = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const ratiosOfImagen = ['1:1', '3:4', '4:3', '9:16', '16:9'];

/** By the longer side; null: what they make anyway. */
function resolutionOf(order: ImageOrder): '2K' | '4K' | null {
  const longer = Math.max(0, ...(sizeAsked(order) ?? '').split('x').map(Number));
  if (longer <= 1_792) return null;
  return longer <= 3_072 ? '2K' : '4K';
}

const takesResolution = (model: string): boolean => !/^gemini-(1|2)\b/.test(model);

/** In one conversation. */
const mostSources = 14;

/** Throws NotConvertible. */
function contentBody(order: ImageOrder, model: string, fetched: Fetched, safetySettings: readonly JsonObject[]) {
  refuseFurther(order, []);
  refuseMore(order, 1);
  refuseMoreSources(order, mostSources);
  const { sources, request } = order;
  const aspectRatio = nearestRatio(ratiosOfGemini, order);
  const imageSize = takesResolution(model) ? resolutionOf(order) : null;
  const imageConfig = { ...(aspectRatio !== null && { aspectRatio }), ...(imageSize !== null && { imageSize }) };
  const pictures = sources.map((url, at) =>
    mediaPart({ type: 'image_url', image_url: { url } }, `images[${at}]`, fetched),
  );
  return {
    contents: [{ role: 'user', parts: [...pictures, { text: request.prompt }] }],
    safetySettings,
    generationConfig: {
      // The oldest makes no picture without words.
      responseModalities: /^gemini-2\.0/.test(model) ? ['TEXT', 'IMAGE'] : ['IMAGE'],
      ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
    },
  };
}

/** Throws NotConvertible. */
function outputOptions({ request: { output_format: format, output_compression } }: ImageOrder): JsonObject | null {
  if (format === undefined) return null;
  if (format !== 'png' && format !== 'jpeg')
    throw new NotConvertible('caller', 'output_format must be png or jpeg for this model');
  const compressionQuality = format === 'jpeg' ? output_compression : undefined;
  return { mimeType: `image/${format}`, ...(compressionQuality !== undefined && { compressionQuality }) };
}

/** One request makes no more. */
const mostPredicted = 4;

/** Throws NotConvertible. */
function predictionBody(order: ImageOrder): JsonObject {
  refuseFurther(order, ['output_format', 'output_compression']);
  refuseMore(order, mostPredicted);
  refuseSources(order);
  const aspectRatio = nearestRatio(ratiosOfImagen, order);
  const resolution = resolutionOf(order);
  const options = outputOptions(order);
  return {
    instances: [{ prompt: order.request.prompt }],
    parameters: {
      sampleCount: order.request.n,
      personGeneration: 'allow_adult',
      ...(aspectRatio !== null && { aspectRatio }),
      ...(resolution !== null && { sampleImageSize: '2K' }),
      ...(options !== null && { outputOptions: options }),
    },
  };
}

/** Of Imagen's models, those that change pictures; they run in Google's cloud alone. */
const changesPictures = (model: string): boolean => /^imagen.*capability/.test(model);

/** Throws NotConvertible. */
function referenceIn(url: string, name: string, fetched: Fetched): JsonObject {
  const { inlineData } = mediaPart({ type: 'image_url', image_url: { url } }, name, fetched);
  if (!isObject(inlineData)) throw new NotConvertible('caller', `${name} must be a picture, or its http(s) address`);
  return { bytesBase64Encoded: inlineData.data ?? null };
}

/** A PNG with a channel for transparency: its header says so at a place of its own. */
function hasTransparency({ bytesBase64Encoded: data }: JsonObject): boolean {
  const header = Buffer.from((textIn(data) ?? '').slice(0, 48), 'base64');
  return header.length > 25 && header.toString('latin1', 1, 4) === 'PNG' && ((header[25] ?? 0) & 4) > 0;
}

/**
 * The picture has the size of the one it goes by. Throws NotConvertible.
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api-edit
 */
function changeBody(order: ImageOrder, fetched: Fetched): JsonObject {
  refuseFurther(order, ['output_format', 'output_compression', 'negative_prompt', 'mask']);
  refuseMore(order, mostPredicted);
  refuseMoreSources(order, 1);
  const { request, sources, mask } = order;
  const raw = sources.map((url, at) => ({
    ...{ referenceType: 'REFERENCE_TYPE_RAW', referenceId: at + 1 },
    referenceImage: referenceIn(url, `images[${at}]`, fetched),
  }));
  const masked = mask === null ? null : referenceIn(mask, 'mask', fetched);
  if (masked !== null && hasTransparency(masked))
    throw new NotConvertible('caller', 'mask must be white where the picture may be changed, without transparency');
  const masks =
    masked === null
      ? []
      : [
          {
            ...{ referenceType: 'REFERENCE_TYPE_MASK', referenceId: raw.length + 1, referenceImage: masked },
            maskImageConfig: { maskMode: 'MASK_MODE_USER_PROVIDED' },
          },
        ];
  const options = outputOptions(order);
  return {
    instances: [{ prompt: request.prompt, referenceImages: [...raw, ...masks] }],
    parameters: {
      ...{ sampleCount: request.n, personGeneration: 'allow_adult' },
      ...(masked !== null && { editMode: 'EDIT_MODE_INPAINT_INSERTION' }),
      ...(request.negative_prompt !== undefined && { negativePrompt: request.negative_prompt }),
      ...(options !== null && { outputOptions: options }),
    },
  };
}

/** What is asked of the model. Throws NotConvertible. */
export function imagesAsked(
  caller: CallerRequest,
  { model, fetched, safetySettings }: { model: string; fetched: Fetched; safetySettings: readonly JsonObject[] },
): { readonly action: 'generateContent' | 'predict'; readonly body: JsonObject } {
  const order = imageOrder(caller);
  if (changesPictures(model) && caller.mode === 'image-edit')
    return { action: 'predict', body: changeBody(order, fetched) };
  return factsOf(model).drawsOnly
    ? { action: 'predict', body: predictionBody(order) }
    : { action: 'generateContent', body: contentBody(order, model, fetched, safetySettings) };
}

/** Reasons to end without a picture that say what was wrong with the order. */
const withheld = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII/;

function predicted(reported: JsonObject, answered: AnswerInput): Answer {
  const predictions = objectsIn(reported.predictions);
  const drawn = predictions.flatMap(({ bytesBase64Encoded: data }) =>
    textIn(data) === null ? [] : [{ b64_json: data ?? null }],
  );
  const reason = predictions.map(({ raiFilteredReason }) => textIn(raiFilteredReason)).find((one) => one !== null);
  if (drawn.length > 0 || reason === undefined || reason === null) return imagesOf(drawn, answered);
  const { provider, channel } = answered;
  return { ok: false, error: asUpstreamError(blocked(reason), 400, confidentialOf(provider, channel)) };
}

const partsOf = ({ content }: JsonObject): JsonObject[] => (isObject(content) ? objectsIn(content.parts) : []);

/** What is drawn while a model thinks is none of the answer. */
const picturesIn = (candidates: readonly JsonObject[]): JsonObject[] =>
  candidates
    .flatMap(partsOf)
    .filter(({ thought }) => thought !== true)
    .flatMap(({ inlineData: data }) =>
      isObject(data) && textIn(data.data) !== null && /^image\//.test(textIn(data.mimeType) ?? 'image/png')
        ? [{ b64_json: data.data ?? null }]
        : [],
    );

/** Of an answer that says no failure of its own. */
export function imagesAnswered(reported: JsonObject, answered: AnswerInput): Answer {
  if (factsOf(answered.info.model).drawsOnly) return predicted(reported, answered);
  const confidential = confidentialOf(answered.provider, answered.channel);
  const candidates = objectsIn(reported.candidates);
  const usage = geminiUsage(reported.usageMetadata);
  const drawn = picturesIn(candidates);
  if (drawn.length === 0) {
    const reason = candidates.map(({ finishReason }) => textIn(finishReason)).find((one) => withheld.test(one ?? ''));
    if (reason) return { ok: false, error: asUpstreamError(blocked(reason), 400, confidential) };
    const failed = failedCandidate(candidates, confidential);
    const error = failed ?? unreadableAnswer('the upstream answered without a picture in it');
    return { ok: false, error, costUnknown: failed === null || usage !== null };
  }
  const answer = imagesOf(drawn, answered);
  return answer.ok && usage !== null ? { ...answer, usage: { ...usage, ...answer.usage } } : answer;
}
