import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { isShortOfMoney, type RelayError } from '../../contracts/errors.js';
import { submitCodes } from '../../protocols/midjourney/submit-answer.js';
import { misspelled, spelling } from '../spelling.js';
import { taskDialect } from '../task-dialect.js';

/*
 * How clients of a Midjourney proxy are answered. A refusal is `{description, type, code}`: a word that they know, a
 * space, and what there is to say beside it. What the proxy itself refuses is passed on as it says it.
 */

const wordType = 'upstream_error';

/** Codes that are words of the interface. */
const word = /_is_(?:required|invalid)$|_parse_failed$|^task_|^unknown_(?:action|mode)$|^channel_not_found$/;

/** Words of ours that the interface has others for. */
const instead: ReadonlyMap<string, string> = new Map([['task_not_exist', 'task_not_found']]);

/** Nothing came of it upstream, or nobody knows what. */
const unknownError = /^(?:do_request|read_response_body|bad_response|upstream)_/;

function described({ code, message }: RelayError, requestId: string): string {
  if (code !== null && word.test(code)) return `${instead.get(code) ?? code} ${message === code ? '' : message}`;
  const suffix = ` (request id: ${requestId})`;
  return message.endsWith(suffix) ? message : message + suffix;
}

function errorBody(error: RelayError, requestId: string): string {
  const { code, type, passedOn } = error;
  if (passedOn !== null) return JSON.stringify(passedOn);
  if (isShortOfMoney(error)) return JSON.stringify({ description: 'quota_not_enough ', type: wordType, code: 4 });
  return JSON.stringify({
    description: described(error, requestId),
    type: word.test(code ?? '') ? wordType : type,
    code: unknownError.test(code ?? '') ? submitCodes.unknownError : submitCodes.requestError,
  });
}

/** A proxy refuses with a success status, but for where it is saturated. */
function statusOf(error: RelayError): number {
  const { passedOn, status } = error;
  if (passedOn !== null) return passedOn.code === submitCodes.saturated ? 429 : 200;
  return isShortOfMoney(error) ? 400 : status;
}

const names = spelling(
  `prompt base64Array botType notifyHook state taskId action index content customId dimensions base64 link maskBase64
  sourceBase64 targetBase64 image batchSize ids`,
  'accountFilter',
);

export const midjourneyCaller: CallerDialect = {
  ...taskDialect({ errorBody, statusOf }),
  misspelled: (body) => misspelled(body, names),
};

/** Pages show them: a refusal is `{error}`. */
export const pictureCaller: CallerDialect = {
  ...midjourneyCaller,
  errorBody: ({ message }) => JSON.stringify({ error: message }),
  statusOf: ({ status }) => status,
};
