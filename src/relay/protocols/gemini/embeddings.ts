import type { EmbeddingList } from '../../contracts/neutral-answer.js';
import type { EmbeddingRequest } from '../../contracts/neutral-request.js';
import { countIn, isList, isObject, type JsonObject, objectsIn } from '../../json/json.js';
import { embeddingList, textsToEmbed } from '../embeddings.js';
import { writeOpenAiUsage } from '../openai/usage.js';
import { geminiUsage } from './usage.js';

/* Texts as vectors, one or many at a time. */

interface EmbeddingAsked {
  readonly action: 'embedContent' | 'batchEmbedContents';
  readonly body: JsonObject;
}

/** Throws NotConvertible. */
export function embeddingBody(body: EmbeddingRequest, model: string): EmbeddingAsked {
  const { dimensions } = body;
  const requests = textsToEmbed(body).map((text) => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    outputDimensionality: countIn(dimensions) ?? undefined,
  }));
  const [first] = requests;
  return requests.length === 1 && first !== undefined
    ? { action: 'embedContent', body: first }
    : { action: 'batchEmbedContents', body: { requests } };
}

/** In OpenAI's list form; null: there are no vectors. */
export function embeddingsAnswered(reported: JsonObject, model: string): EmbeddingList | null {
  const { embedding, embeddings } = reported;
  const vectors = objectsIn(isObject(embedding) ? [embedding] : embeddings).flatMap(({ values }) =>
    isList(values) && values.length > 0 ? [values] : [],
  );
  if (vectors.length === 0) return null;
  const usage = geminiUsage(reported.usageMetadata);
  return { ...embeddingList(model, vectors, null), ...(usage !== null && { usage: writeOpenAiUsage(usage) }) };
}
