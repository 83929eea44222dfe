import { isList, isObject, type JsonObject, textIn } from './json.js';
import type { Mode } from './protocol.js';

/* What a body must hold to be taken at all; everything else is the upstream's to judge. */

export interface InvalidRequest {
  readonly code: 'invalid_text_request' | 'invalid_embedding_request';
  readonly message: string;
  readonly param: string;
}

/** Bounds every estimate: with them no product of limits leaves the range of exact integers. */
export const mostOutputTokens = 2 ** 30 - 1;
export const mostChoices = 128;

interface Complaint {
  readonly param: string;
  readonly message: string;
}

const integerFrom = (body: JsonObject, param: string, least: number, most: number): Complaint | null => {
  const value = body[param];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return null;
  return { param, message: `${param} must be an integer from ${least} to ${most}` };
};

const isFilled = (value: unknown): boolean => textIn(value) !== null || (isList(value) && value.length > 0);

const messages = ({ messages: given }: JsonObject): Complaint | null => {
  if (!isList(given) || given.length === 0) return { param: 'messages', message: 'field messages is required' };
  return given.every(isObject) ? null : { param: 'messages', message: 'every message must be an object' };
};

const required = (body: JsonObject, param: string): Complaint | null =>
  isFilled(body[param]) ? null : { param, message: `field ${param} is required` };

const content = (mode: Mode, body: JsonObject): Complaint | null => {
  if (mode === 'chat') return messages(body);
  return required(body, mode === 'completions' ? 'prompt' : 'input');
};

const stream = ({ stream: wanted, stream_options: options }: JsonObject): Complaint | null => {
  if (wanted !== undefined && wanted !== null && typeof wanted !== 'boolean')
    return { param: 'stream', message: 'stream must be true or false' };
  if (options !== undefined && options !== null && !isObject(options))
    return { param: 'stream_options', message: 'stream_options must be an object' };
  return null;
};

/** null: the request can be taken. */
export function validate(mode: Mode, body: JsonObject): InvalidRequest | null {
  const complaint =
    (textIn(body.model) === null ? { param: 'model', message: 'field model is required' } : null) ??
    content(mode, body) ??
    integerFrom(body, 'max_tokens', 0, mostOutputTokens) ??
    integerFrom(body, 'max_completion_tokens', 0, mostOutputTokens) ??
    integerFrom(body, 'n', 1, mostChoices) ??
    integerFrom(body, 'best_of', 1, mostChoices) ??
    stream(body);
  if (complaint === null) return null;
  return { code: mode === 'embeddings' ? 'invalid_embedding_request' : 'invalid_text_request', ...complaint };
}
