import type { EmbeddingRequest } from '../contracts/neutral-request.js';
import { countIn, isList, isObject, type JsonObject, objectsIn, textIn } from '../json/json.js';
import { embeddingList, isPictureInput, textsToEmbed } from './embeddings.js';
import type { Edit, OpenAiVariant, Target } from './openai/variant.js';

/*
 * Vectors of pictures and texts at DashScope, which has them at an interface of its own alone:
 * https://help.aliyun.com/zh/model-studio/multimodal-embedding-api-reference
 */

export const embedsPictures = (model: string): boolean =>
  /^(multimodal-embedding|tongyi-embedding-vision|qwen[\d.]*-vl-embedding)/.test(model);

export const pictureEmbeddingUrl = ({ base }: Pick<Target, 'base'>): string =>
  `${base}/api/v1/services/embeddings/multimodal-embedding/multimodal-embedding`;

export const pictureEmbedding: Edit = (body, { caller, model }) => {
  if (caller.mode !== 'embeddings' || !embedsPictures(model)) return body;
  const inputs = textsToEmbed(body as EmbeddingRequest);
  const { input: _, model: named, dimensions, encoding_format: __, user: ___, ...parameters } = body;
  const dimension = countIn(dimensions);
  return {
    model: named,
    input: { contents: inputs.map((one) => (isPictureInput(one) ? { image: one } : { text: one })) },
    parameters: { ...parameters, ...(dimension !== null && { dimension }) },
  };
};

/** Tokens of texts and of pictures, which are reported beside each other or, by newer models, as a sum with its parts. */
function usageOf(reported: JsonObject): JsonObject | null {
  const details = isObject(reported.input_tokens_details) ? reported.input_tokens_details : null;
  const text = countIn(reported.input_tokens) ?? 0;
  const image = countIn(details?.image_tokens ?? reported.image_tokens) ?? 0;
  const prompt = countIn(reported.total_tokens) ?? (details === null ? text + image : text);
  if (prompt === 0) return null;
  return {
    prompt_tokens: prompt,
    total_tokens: prompt,
    ...(image > 0 && { prompt_tokens_details: { image_tokens: Math.min(image, prompt) } }),
  };
}

const placeOf = ({ index, text_index: textIndex }: JsonObject): number => countIn(index) ?? countIn(textIndex) ?? 0;

/** The same object where it is in OpenAI's form already. */
export const vectorsAnswered: OpenAiVariant['translate'] = (body, { mode, info }) => {
  const { output } = body;
  if (mode !== 'embeddings' || !isObject(output)) return body;
  const vectors = objectsIn(output.embeddings)
    .toSorted((one, other) => placeOf(one) - placeOf(other))
    .flatMap(({ embedding }) => (isList(embedding) ? [embedding] : []));
  const usage = isObject(body.usage) ? usageOf(body.usage) : null;
  const id = textIn(body.request_id);
  return {
    ...(embeddingList(info.model, vectors, null) as JsonObject),
    ...(id !== null && { id }),
    ...(usage !== null && { usage }),
  };
};
