import type { EmbeddingList } from '../contracts/neutral-answer.js';
import type { EmbeddingRequest } from '../contracts/neutral-request.js';
import { type Answer, NotConvertible } from '../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, textIn } from '../json/json.js';
import { unreadableAnswer } from '../upstream/upstream-error.js';

/* What wires have in common that turn texts into vectors. */

/** Throws NotConvertible. */
export const textsToEmbed = ({ input }: EmbeddingRequest): string[] =>
  (isList(input) ? input : [input]).map((one, at) => {
    const text = textIn(one);
    if (text !== null) return text;
    throw new NotConvertible(
      'caller',
      `input[${at}] must be a string: this provider takes no token ids and no empty ones`,
    );
  });

/** What is to become a vector is a picture, not a text. */
export const isPictureInput = (input: string): boolean => /^data:image\/[\w.+-]+;base64,/i.test(input);

/** Throws NotConvertible: nothing here says what vectors are for, and others would be made. */
export function refusePurpose({
  task_type: task,
  title,
}: {
  readonly task_type?: JsonValue | undefined;
  readonly title?: JsonValue | undefined;
}): void {
  const name = task === undefined ? 'title' : 'taskType';
  if (task !== undefined || title !== undefined)
    throw new NotConvertible(
      'caller',
      `${name} cannot be carried to this provider, which makes vectors for no purpose`,
    );
}

/** How many vectors are asked for: of texts, or of lists of tokens. null: what else there is may become one or several. */
export function vectorsAsked({ input }: { readonly input?: JsonValue | undefined }): number | null {
  if (!isList(input) || input.every((one) => typeof one === 'number')) return 1;
  return input.some(isObject) ? null : input.length;
}

/** One text too few, and all vectors after it would be another text's. */
export const lacksVectors = (costUnknown: boolean): Extract<Answer, { ok: false }> => ({
  ok: false,
  error: unreadableAnswer('the upstream answered without a vector for each text'),
  costUnknown,
});

/**
 * The vectors of listed items in the order of the texts, which their numbers say; items without numbers stand in it. null:
 * one is missing, empty or there twice.
 */
export function orderedVectors(listed: readonly JsonValue[], number: string, vector: string): JsonValue[] | null {
  const vectors: JsonValue[] = Array.from(listed, () => null);
  for (const [at, item] of listed.entries()) {
    const { [number]: index = at, [vector]: values }: JsonObject = isObject(item) ? item : {};
    const place = countIn(index);
    if (place === null || !isList(values) || values.length === 0 || vectors[place] !== null) return null;
    vectors[place] = values;
  }
  return vectors;
}

/** In OpenAI's list form: one item per vector, in the order given. `promptTokens` null: upstream counted nothing. */
export const embeddingList = (
  model: string,
  vectors: readonly JsonValue[],
  promptTokens: number | null,
): EmbeddingList => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model,
  ...(promptTokens !== null && { usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } }),
});
