import type { EmbeddingList } from '../contracts/neutral-answer.js';
import type { JsonValue } from '../json/json.js';

/* Embeddings in OpenAI's list form. */

/** One item per vector, in the order given. `promptTokens` null: upstream counted nothing. */
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
