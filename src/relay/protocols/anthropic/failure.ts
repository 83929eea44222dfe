import { isObject, type JsonObject, textIn } from '../../json/json.js';
import type { Confidential } from '../../upstream/confidential.js';
import { asUpstreamError, reportedFailure, statusOf, type UpstreamError } from '../../upstream/upstream-error.js';

/* Failures as Anthropic reports them: their type says of what kind they are, in a stream too. */

const statuses: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

/** What Anthropic's clients know a failure of this status by. */
export function typeOfStatus(status: number): string {
  for (const [type, known] of statuses) if (known === status) return type;
  return status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error';
}

export const isKnownType = (type: string): boolean => statuses.has(type);

/** Of what the request says; the others are about the account, which is the operator's. */
const requestCode = /^(thread|compaction|tool|available_tools|image)_[a-z_]{1,60}$/;

export const isRequestCode = (code: string | null): code is string => code !== null && requestCode.test(code);

function requestCodeIn({ error }: JsonObject): string | null {
  const details = isObject(error) ? error.details : null;
  const code = isObject(details) ? textIn(details.error_code) : null;
  return isRequestCode(code) ? code : null;
}

/** `status`: null where it came without one of its own. */
export function anthropicFailureOf(body: JsonObject, status: number | null, confidential: Confidential): UpstreamError {
  const reported = reportedFailure(body);
  const failure = { ...reported, code: requestCodeIn(body) ?? reported.code ?? reported.type };
  const usual = reported.type === null ? undefined : statuses.get(reported.type);
  return asUpstreamError(failure, status ?? usual ?? statusOf(reported), confidential);
}

/** null: neither an event nor a body says that it failed. */
export const anthropicFailureIn = (body: JsonObject, confidential: Confidential): UpstreamError | null =>
  body.type === 'error' || isObject(body.error) ? anthropicFailureOf(body, null, confidential) : null;
