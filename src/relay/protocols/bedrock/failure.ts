import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { upstreamJson } from '../../json/upstream-json.js';
import type { Confidential } from '../../upstream/confidential.js';
import { asUpstreamError, reportedFailure, statusOf, type UpstreamError } from '../../upstream/upstream-error.js';

/* Failures as Amazon reports them: by the name of an exception, in a header or in what a frame is called. */

/** Names that begin small mean the same in a stream, which has no status of its own. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['AccessDeniedException', 403],
  ['UnrecognizedClientException', 401],
  ['InvalidSignatureException', 401],
  ['IncompleteSignatureException', 401],
  ['MissingAuthenticationTokenException', 401],
  ['ExpiredTokenException', 401],
  ['ValidationException', 400],
  ['ResourceNotFoundException', 404],
  ['ModelTimeoutException', 408],
  ['ModelErrorException', 424],
  ['ModelStreamErrorException', 424],
  ['ThrottlingException', 429],
  ['ServiceQuotaExceededException', 429],
  ['ModelNotReadyException', 429],
  ['InternalServerException', 500],
  ['ServiceUnavailableException', 503],
]);

/** The clocks differ: nothing is wrong with the key. */
const ourClock = /^signature (?:expired|not yet current)/i;
/** What a key of the API is refused with, under the name that elsewhere says what a good key may not do. */
const refusedApiKey = /^(?:authentication failed\b|bearer token has expired|invalid api key)/i;

/** `com.amazon.coral.service#ThrottlingException:http://…` → ThrottlingException */
const nameIn = (text: string | null): string | null => textIn(/^(?:[\w.]*#)?(\w*)/.exec(text ?? '')?.[1]);

function statusFor(name: string | null, status: number | null, message: string): number {
  if (ourClock.test(message)) return status ?? 403;
  if (status === 403 && refusedApiKey.test(message)) return 401;
  const capital = name === null ? '' : name.charAt(0).toUpperCase() + name.slice(1);
  return statuses.get(capital) ?? status ?? statusOf({ message, type: null, code: name, param: null });
}

/** `status`: null where it came in a stream. */
function failureOf(
  name: string | null,
  status: number | null,
  body: JsonValue | null,
  confidential: Confidential,
): UpstreamError {
  const reported = isObject(body) ? (textIn(body.message) ?? textIn(body.Message)) : null;
  const message = reported ?? reportedFailure(body).message;
  const failure = { message, type: null, code: name, param: null };
  return asUpstreamError(failure, statusFor(name, status, message ?? ''), confidential);
}

/** An answer with an error status. */
export function bedrockRefusal(
  status: number,
  headers: IncomingHttpHeaders,
  received: Buffer,
  confidential: Confidential,
): UpstreamError {
  const body = upstreamJson(received);
  const header = headers['x-amzn-errortype'];
  const named = nameIn(typeof header === 'string' ? header : null);
  return failureOf(named ?? nameIn(isObject(body) ? textIn(body.__type) : null), status, body, confidential);
}

/** A frame that is no event. */
export const failureInFrame = (
  name: string | null,
  body: JsonObject | null,
  confidential: Confidential,
): UpstreamError => failureOf(nameIn(name), null, body, confidential);
