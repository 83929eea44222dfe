import { isObject, type JsonObject, memberNamesIn, textIn } from '../../json/json.js';
import type { Confidential } from '../../upstream/confidential.js';
import { asUpstreamError, reportedFailure, statusOf, type UpstreamError } from '../../upstream/upstream-error.js';
import type { OpenAiVariant } from './variant.js';

/* Failures that come with a success status, in a whole body or in the middle of a stream. */

/** null: nothing in the body says that it failed. */
export function openAiFailureIn(
  variant: OpenAiVariant,
  body: JsonObject,
  confidential: Confidential,
): UpstreamError | null {
  const dressed = variant.failure?.(body);
  if (dressed) {
    const { status, code, message } = dressed;
    return asUpstreamError({ ...reportedFailure({ ...body, code, message }), code, message }, status, confidential);
  }
  const { error, object } = body;
  const isReported =
    textIn(error) !== null || (isObject(error) && memberNamesIn(error).length > 0) || object === 'error';
  return isReported ? openAiFailureOf(body, confidential) : null;
}

/** The failure in a body that should have been an answer. */
export function openAiFailureOf(body: JsonObject, confidential: Confidential): UpstreamError {
  const failure = reportedFailure(body);
  return asUpstreamError(failure, statusOf(failure), confidential);
}
