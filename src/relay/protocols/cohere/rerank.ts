import { NotConvertible } from '../../contracts/protocol.js';
import type { JsonObject } from '../../json/json.js';
import type { Edit } from '../openai/variant.js';

/*
 * Documents ranked by Cohere: https://docs.cohere.com/reference/rerank. Its answers name places and scores alone, and are
 * billed by the search unit.
 */

const carried = ['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc', 'priority'];

/** Of its first version, and of other vendors: nothing here says the same. */
const unknown = ['max_chunks_per_doc', 'max_chunk_per_doc', 'overlap_tokens', 'instruct', 'instruction'];

/** Throws NotConvertible. */
export const cohereRerank: Edit = (body) => {
  const named = unknown.find((name) => (body[name] ?? null) !== null);
  if (named !== undefined) throw new NotConvertible('caller', `${named} cannot be carried to this provider`);
  const sent: JsonObject = {};
  for (const name of carried) if ((body[name] ?? null) !== null) sent[name] = body[name] ?? null;
  return sent;
};
