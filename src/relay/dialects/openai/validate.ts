import type { InvalidMember } from '../../contracts/caller-dialect.js';
import type { InvalidRequest } from '../../contracts/endpoint.js';
import { maxChoices } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';

/* What a body must hold to be taken at all; everything else is the upstream's to judge. */

/** Bounds every estimate: with them no product of limits leaves the range of exact integers. */
export const maxOutputTokens = 2 ** 30 - 1;

export const integerFrom = (body: JsonObject, param: string, min: number, max: number): InvalidMember | null => {
  const value = body[param];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return null;
  return { param, message: `${param} must be an integer from ${min} to ${max}` };
};

const isFilled = (value: unknown): boolean => textIn(value) !== null || (isList(value) && value.length > 0);

/** Where null stands in a list of texts, of tokens, or of lists of tokens; null: nowhere. */
function nullIn(list: readonly JsonValue[], name: string): string | null {
  for (const [at, one] of list.entries()) {
    const path = `${name}[${at}]`;
    if (one === null) return path;
    const within = isList(one) && one.includes(null) ? nullIn(one, path) : null;
    if (within !== null) return within;
  }
  return null;
}

/** A text, or a list with something in each of its places. */
export const required =
  (param: string) =>
  (body: JsonObject): InvalidMember | null => {
    const value = body[param];
    if (!isFilled(value)) return { param, message: `field ${param} is required` };
    const empty = isList(value) ? nullIn(value, param) : null;
    return empty === null ? null : { param: empty, message: `${empty} must not be null` };
  };

/** Of an endpoint whose prompt or answer is sound. */
export const invalidAudio = (param: string, message: string, code = 'invalid_audio_request'): InvalidRequest => ({
  code,
  param,
  message,
});

const stream = ({ stream: wanted, stream_options: options }: JsonObject): InvalidMember | null => {
  if (wanted !== undefined && wanted !== null && typeof wanted !== 'boolean')
    return { param: 'stream', message: 'stream must be true or false' };
  if (options !== undefined && options !== null && !isObject(options))
    return { param: 'stream_options', message: 'stream_options must be an object' };
  return null;
};

/** Members by which another model would answer: its tokens have no price in this call. */
const otherModels = ({ model, models, fallbacks }: JsonObject): InvalidMember | null => {
  for (const [param, value] of Object.entries({ models, fallbacks })) {
    const named = isList(value) ? value : (value ?? null) === null ? [] : [value];
    if (named.some((one) => one !== model))
      return { param, message: `${param} must name no model but ${String(model)}: a call is priced for one model` };
  }
  return null;
};

/**
 * Other names of what is reserved for, which some servers of one's own obey before the usual one: `n_predict` and `n_cmpl`
 * at llama.cpp (https://github.com/ggml-org/llama.cpp/tree/master/tools/server), `auto_max_new_tokens` at
 * text-generation-webui (https://github.com/oobabooga/text-generation-webui).
 */
const otherNames: Readonly<Record<string, string>> = {
  n_predict: 'max_tokens',
  n_cmpl: 'n',
  auto_max_new_tokens: 'max_tokens',
};

const byOtherName = (body: JsonObject): InvalidMember | null => {
  const param = Object.keys(otherNames).find((name) => (body[name] ?? null) !== null);
  return param === undefined ? null : { param, message: `${param} is not taken here: use ${otherNames[param]}` };
};

/** What is wrong with a body, the members looked at that all endpoints have in common; null: it can be taken. */
export function invalidRequest(
  code: string,
  body: JsonObject,
  content: (body: JsonObject) => InvalidMember | null,
): InvalidRequest | null {
  const complaint =
    (textIn(body.model) === null ? { param: 'model', message: 'field model is required' } : null) ??
    content(body) ??
    integerFrom(body, 'max_tokens', 0, maxOutputTokens) ??
    integerFrom(body, 'max_completion_tokens', 0, maxOutputTokens) ??
    integerFrom(body, 'n', 1, maxChoices) ??
    integerFrom(body, 'best_of', 1, maxChoices) ??
    byOtherName(body) ??
    otherModels(body) ??
    stream(body);
  return complaint === null ? null : { code, ...complaint };
}
