import { used } from '../../../domain/call/usage.js';
import { type CallerRequest, NotConvertible, type Protocol } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, objectsIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import { SeenText } from '../../text/seen-text.js';
import { confidentialOf } from '../confidential-of.js';
import { embeddingList, lacksVectors, textsToEmbed } from '../embeddings.js';
import { vectorsExpected } from '../gemini/embeddings.js';
import { geminiFailureIn, geminiRefusal } from '../gemini/failure.js';
import { memberIn } from '../gemini/names.js';
import { isNative } from '../gemini/native.js';
import { pathSegment } from '../model-address.js';
import { baseOf, neutralAs, noThinking, notServed, written } from '../request-builder.js';

/* Texts as vectors in Google's cloud, by its older method: it says of each text how many tokens it has. */

/** What Gemini's clients say beside each text, in the order of the texts. */
function purposesOf({ body }: CallerRequest): JsonObject[] {
  const requests = isList(body.requests) ? objectsIn(body.requests) : [body];
  return requests.map((request) => ({ task_type: memberIn(request, 'taskType'), title: request.title }));
}

/**
 * The model for pictures and texts has names of its own for both, and counts nothing.
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/multimodal-embeddings-api
 */
const isMultimodal = (model: string): boolean => model.startsWith('multimodalembedding');

/** Throws NotConvertible. */
function predictionBody(caller: CallerRequest, model: string): JsonObject {
  const asked = neutralAs(caller, 'embeddings');
  const purposes = isNative(caller) ? purposesOf(caller) : [];
  const dimensions = countIn(asked.dimensions);
  if (isMultimodal(model)) {
    if (purposes.some(({ task_type: task, title }) => task !== undefined || title !== undefined))
      throw new NotConvertible('caller', 'taskType and title: this model makes vectors for no purpose');
    return {
      instances: textsToEmbed(asked).map((text) => ({ text })),
      ...(dimensions !== null && { parameters: { dimension: dimensions } }),
    };
  }
  return {
    instances: textsToEmbed(asked).map((content, at) => ({ content, ...purposes[at] })),
    ...(dimensions !== null && { parameters: { outputDimensionality: dimensions } }),
  };
}

/** null: they are not reported for all. */
function tokensIn(embeddings: readonly JsonObject[]): number | null {
  let tokens = 0;
  for (const { statistics } of embeddings) {
    const counted = isObject(statistics) ? countIn(statistics.token_count) : null;
    if (counted === null) return null;
    tokens += counted;
  }
  return tokens;
}

export const vertexEmbeddings: Pick<Protocol, 'request' | 'answer'> = {
  request({ provider, channel, caller, model, options: { passThrough } }) {
    if (caller.mode !== 'embeddings') throw notServed(caller.mode);
    const body = predictionBody(caller, model);
    const sent = passThrough || channel.paramOverride === null ? body : { ...body, ...channel.paramOverride };
    return {
      method: 'POST',
      url: `${baseOf(provider, channel)}/publishers/google/models/${pathSegment(model)}:predict`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      content: { kind: 'json', text: written(sent) },
      model,
      ...noThinking,
    };
  },
  answer({ provider, channel, caller, status, body: received, info }) {
    const confidential = confidentialOf(provider, channel);
    if (status < 200 || status > 299) return { ok: false, error: geminiRefusal(status, received, confidential) };
    const reported = upstreamJson(received);
    const error = isObject(reported) ? geminiFailureIn(reported, confidential, isNative(caller)) : null;
    if (error !== null) return { ok: false, error };
    const embeddings = isObject(reported)
      ? objectsIn(reported.predictions).map(({ embeddings: one, textEmbedding: values }) =>
          isObject(one) ? one : { values: values ?? [] },
        )
      : [];
    const vectors = embeddings.flatMap(({ values }) => (isList(values) && values.length > 0 ? [values] : []));
    const tokens = tokensIn(embeddings);
    if (vectors.length === 0 || vectors.length !== (vectorsExpected(caller) ?? embeddings.length))
      return lacksVectors(tokens !== null && tokens > 0);
    const generated = { said: new SeenText(), toolCalls: 0, finishReason: null };
    const body = embeddingList(info.model, vectors, tokens);
    return {
      ok: true,
      body,
      received,
      untouched: false,
      usage: tokens === null ? null : used({ input: tokens }),
      generated,
    };
  },
};
