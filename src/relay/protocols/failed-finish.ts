import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';
import type { Confidential } from '../upstream/confidential.js';
import { asUpstreamError, type UpstreamError } from '../upstream/upstream-error.js';

/*
 * Finish reasons by which an upstream says that it failed, in whatever wire: no answer ends so. Before the first byte
 * another channel is asked, after it the caller gets the failure.
 */

/** Words of vendors, in small letters: what is one of these, or ends in one after a `_`, `:` or blank. */
const failed =
  /(?:^|[_: ])(?:error|errored|failed|failure|abort|aborted|overloaded|timeout|timed_out|insufficient_system_resource|malformed_(?:function_call|response|tool_use|tool_call|model_output)|missing_thought_signature|unexpected_tool_call|too_many_tool_calls)$/;

/** What Gemini calls so is a failure of which nothing is known, or a picture that was not drawn. */
const failedAtGoogle: ReadonlySet<string> = new Set(['OTHER', 'IMAGE_OTHER', 'NO_IMAGE']);

const lacksRoom = /overloaded|insufficient_system_resource/;

/** Longest reason that is looked at. */
const maxLength = 128;

function failureBy(reason: string, reported: JsonObject | null, confidential: Confidential): UpstreamError {
  const code = reason.toLowerCase().replace(/[: ]+/g, '_');
  const message = reported === null ? null : textIn(reported.message);
  const by = `the upstream failed in the middle of its answer: ${code}`;
  return asUpstreamError(
    { message: message === null ? by : `${by}: ${message}`, type: null, code, param: null },
    lacksRoom.test(code) ? 503 : 502,
    confidential,
  );
}

export const saysFailure = (reason: JsonValue | undefined): reason is string =>
  typeof reason === 'string' && reason.length <= maxLength && failed.test(reason.toLowerCase());

/** Of one answer, as Anthropic reports it (`stop_reason`); null: it did not fail. */
export const failedStop = (reason: JsonValue | undefined, confidential: Confidential): UpstreamError | null =>
  saysFailure(reason) ? failureBy(reason, null, confidential) : null;

/** Of choices in OpenAI's form, before anything in them is mended; null: none failed. */
export function failedChoice(choices: JsonValue | undefined, confidential: Confidential): UpstreamError | null {
  for (const { finish_reason: reason, error } of objectsIn(choices))
    if (saysFailure(reason)) return failureBy(reason, isObject(error) ? error : null, confidential);
  return null;
}

/** Of candidates of Gemini's; null: none failed. */
export function failedCandidate(candidates: JsonValue | undefined, confidential: Confidential): UpstreamError | null {
  for (const { finishReason: reason, finishMessage } of objectsIn(candidates))
    if (typeof reason === 'string' && (failedAtGoogle.has(reason) || saysFailure(reason)))
      return failureBy(reason, { message: finishMessage }, confidential);
  return null;
}
