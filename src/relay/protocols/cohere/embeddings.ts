import type { EmbeddingList } from '../../contracts/neutral-answer.js';
import type { EmbeddingRequest } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, textIn } from '../../json/json.js';
import { embeddingList, isPictureInput, textsToEmbed } from '../embeddings.js';
import type { Edit } from '../openai/variant.js';

/* Texts or pictures as vectors: https://docs.cohere.com/reference/embed. */

/** In one request. */
const maxInputs = 96;

/** Google's names of what vectors are for, by Cohere's. */
const purposes: ReadonlyMap<string, string> = new Map([
  ['RETRIEVAL_DOCUMENT', 'search_document'],
  ['RETRIEVAL_QUERY', 'search_query'],
  ['QUESTION_ANSWERING', 'search_query'],
  ['FACT_VERIFICATION', 'search_query'],
  ['CODE_RETRIEVAL_QUERY', 'search_query'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
]);

/** Throws NotConvertible. */
function purposeOf({ task_type: task, title }: JsonObject, own: string | null): string {
  if ((title ?? null) !== null) throw new NotConvertible('caller', 'title cannot be carried to this provider');
  if ((task ?? null) === null) return own ?? 'search_document';
  const purpose = purposes.get(textIn(task) ?? '');
  if (purpose !== undefined) return purpose;
  throw new NotConvertible('caller', `taskType: this provider knows ${[...purposes.keys()].join(', ')}`);
}

export const cohereEmbed: Edit = (body) => {
  const inputs = textsToEmbed(body as EmbeddingRequest);
  if (inputs.length > maxInputs)
    throw new NotConvertible('caller', `input: this provider takes at most ${maxInputs} at a time`);
  const pictures = inputs.filter(isPictureInput).length;
  if (pictures > 0 && pictures < inputs.length)
    throw new NotConvertible('caller', 'input: this provider takes texts or pictures, not both in one request');
  return {
    model: body.model,
    ...(pictures > 0 ? { images: inputs } : { texts: inputs }),
    input_type: pictures > 0 ? 'image' : purposeOf(body, textIn(body.input_type)),
    embedding_types: ['float'],
    output_dimension: countIn(body.dimensions) ?? undefined,
    truncate: textIn(body.truncate) ?? undefined,
  };
};

/** Tokens of texts and of pictures; null: none are reported. */
function countedIn({ meta }: JsonObject): number | null {
  const { billed_units: billed, tokens } = isObject(meta) ? meta : {};
  const units = isObject(billed) ? billed : {};
  const counts = [units.input_tokens, units.image_tokens].map(countIn).filter((count) => count !== null);
  const counted = counts.reduce((sum, count) => sum + count, 0);
  return counted || (isObject(tokens) ? countIn(tokens.input_tokens) : null) || null;
}

/** In OpenAI's list form; null: there are no vectors. */
export function cohereVectors(reported: JsonObject, model: string): EmbeddingList | null {
  const { embeddings } = reported;
  const vectors = isObject(embeddings) ? embeddings.float : embeddings;
  const isWhole = isList(vectors) && vectors.length > 0 && vectors.every((one) => isList(one) && one.length > 0);
  return isWhole ? embeddingList(model, vectors, countedIn(reported)) : null;
}
