import { countIn, type JsonObject } from '../../json/json.js';

/* How much a request allows to be put out. */

/** Choices of each prompt. */
export const choicesAsked = (body: JsonObject): number => Math.max(countIn(body.n) ?? 1, 1);

/**
 * The most output tokens the request allows to each answer; null: it does not say. Zero says nothing either, beside
 * another limit neither: some upstreams take it for no limit, and know but one of the names.
 */
export function outputAllowed(body: JsonObject): number | null {
  const given = [countIn(body.max_tokens), countIn(body.max_completion_tokens)].filter((limit) => limit !== null);
  return given.length === 0 || given.includes(0) ? null : Math.max(...given);
}
