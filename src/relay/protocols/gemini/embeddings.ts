import type { EmbeddingList } from '../../contracts/neutral-answer.js';
import type { EmbeddingRequest } from '../../contracts/neutral-request.js';
import type { CallerRequest } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject } from '../../json/json.js';
import { embeddingList, textsToEmbed, vectorsAsked } from '../embeddings.js';
import { writeOpenAiUsage } from '../openai/usage.js';
import { neutralAs } from '../request-builder.js';
import { isNative } from './native.js';
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

/** null: that is for upstream to say. */
export function vectorsExpected(caller: CallerRequest): number | null {
  if (!isNative(caller)) return vectorsAsked(neutralAs(caller, 'embeddings'));
  return isList(caller.body.requests) ? caller.body.requests.length : 1;
}

/** In OpenAI's list form; null: not each text has a vector. */
export function embeddingsAnswered(reported: JsonObject, caller: CallerRequest, model: string): EmbeddingList | null {
  const { embedding, embeddings } = reported;
  const listed = isObject(embedding) ? [embedding] : isList(embeddings) ? embeddings : [];
  const vectors = listed.flatMap((one) =>
    isObject(one) && isList(one.values) && one.values.length > 0 ? [one.values] : [],
  );
  const expected = vectorsExpected(caller) ?? listed.length;
  if (vectors.length === 0 || vectors.length < listed.length || vectors.length !== expected) return null;
  const usage = geminiUsage(reported.usageMetadata);
  return { ...embeddingList(model, vectors, null), ...(usage !== null && { usage: writeOpenAiUsage(usage) }) };
}
