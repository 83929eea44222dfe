import { isList, isObject, type JsonObject, type JsonValue, objectsIn, scalarText, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import {
  asUpstreamError,
  errorOfStatus,
  type ReportedFailure,
  reportedFailure,
  type UpstreamError,
} from '../../upstream/upstream-error.js';
import { openAiFailureIn } from '../openai/failure.js';
import { saysSomething } from '../says-something.js';

/* Failures as Google's interfaces report them: a number, a name for it, a message, and details of known kinds. */

/** On some addresses they come in a list. */
const firstOf = (body: JsonValue | null): JsonValue | null => (isList(body) ? (body[0] ?? null) : body);

/** `34.4s` → 35. */
function retryDelay(details: readonly JsonObject[]): string | null {
  const [, seconds] =
    /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(details.map(({ retryDelay: delay }) => textIn(delay)).find(Boolean) ?? '') ?? [];
  return seconds === undefined ? null : String(Math.ceil(Number(seconds)));
}

/** A wrong key is reported as a wrong argument. */
const isAboutKey = (details: readonly JsonObject[]): boolean =>
  details.some(({ reason }) => reason === 'API_KEY_INVALID');

/** Why there will be no answer; null: there may be one. */
export function blockReason({ candidates, promptFeedback }: JsonObject): string | null {
  if (!isObject(promptFeedback) || objectsIn(candidates).length > 0) return null;
  return textIn(promptFeedback.blockReason);
}

/** Whether there is something of an answer in it: of a candidate, or why there will be none. */
export const responseSays = (response: JsonObject): boolean =>
  blockReason(response) !== null ||
  objectsIn(response.candidates).some(
    ({ content, finishReason }) => textIn(finishReason) !== null || (isObject(content) && saysSomething(content.parts)),
  );

/** null: the body is no failure of this kind. `status`: of the answer, or null where it was a success. */
function googleFailure(body: JsonObject, status: number | null, confidential: Confidential): UpstreamError | null {
  const { error } = body;
  if (!isObject(error) || textIn(error.status) === null) return null;
  const details = objectsIn(error.details);
  const wrongKey = isAboutKey(details);
  const code = wrongKey ? 'invalid_api_key' : textIn(error.status);
  const number = Number(scalarText(error.code));
  const known = Number.isInteger(number) && number >= 400 && number <= 599 ? number : 502;
  const failure = { ...reportedFailure({ error: { message: error.message } }), type: textIn(error.status), code };
  return {
    ...asUpstreamError(failure, wrongKey ? 401 : (status ?? known), confidential),
    retryAfter: retryDelay(details),
  };
}

export const blocked = (reason: string): ReportedFailure => ({
  message: `the prompt was blocked by the provider: ${reason}`,
  type: 'content_filter',
  code: 'content_filter',
  param: null,
});

/**
 * null: nothing in the body says that it failed. `native`: its caller reads for itself that a prompt was blocked, which
 * is an answer in this wire.
 */
export function geminiFailureIn(body: JsonObject, confidential: Confidential, native: boolean): UpstreamError | null {
  const reason = blockReason(body);
  if (reason !== null && !native) return asUpstreamError(blocked(reason), 400, confidential);
  return googleFailure(body, null, confidential) ?? openAiFailureIn({}, body, confidential);
}

/** An answer with an error status; null: it is not in Google's words. */
export function googleRefusal(status: number, bytes: Buffer, confidential: Confidential): UpstreamError | null {
  const body = firstOf(upstreamJson(bytes));
  return isObject(body) ? googleFailure(body, status, confidential) : null;
}

/** An answer with an error status. */
export const geminiRefusal = (status: number, bytes: Buffer, confidential: Confidential): UpstreamError =>
  googleRefusal(status, bytes, confidential) ?? errorOfStatus(status, bytes, confidential);
