import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { isShortOfMoney, type RelayError } from '../../contracts/errors.js';
import { serviceAsked } from '../../contracts/service-tier.js';
import { isKnownType, isRequestCode, typeOfStatus } from '../../protocols/anthropic/failure.js';
import { upstreamRequestIds } from '../../upstream/passed-headers.js';
import { eventText } from '../named-events.js';
import { misspelled } from '../spelling.js';
import { anthropicNames } from './names.js';
import { AnthropicWriter } from './stream-writer.js';
import { anthropicWholeAnswer, withAnthropicUsage } from './whole-answer.js';

/* How Anthropic's clients are answered. */

/** Its clients take 401 and 403 for a refused key, and ask for a new sign-in; 402 is a matter of money. */
const statusOf = (error: RelayError): number => (isShortOfMoney(error) ? 402 : error.status);

function errorOf(
  error: RelayError,
  requestId: string,
): { error: { type: string; message: string; details?: { error_code: string } }; request_id: string } {
  const suffix = ` (request id: ${requestId})`;
  const message = error.message.endsWith(suffix) ? error.message : `${error.message}${suffix}`;
  // Its name for what was not valid is everybody's; most of what others call so has another one here.
  const isPassedOn = error.type !== 'invalid_request_error' && isKnownType(error.type);
  const type = isPassedOn ? error.type : typeOfStatus(statusOf(error));
  const details = isRequestCode(error.code) ? { details: { error_code: error.code } } : {};
  return { error: { type, message, ...details }, request_id: requestId };
}

export const anthropicCaller: CallerDialect = {
  wire: 'anthropic',
  misspelled: (body) => misspelled(body, anthropicNames),
  serviceAsked: serviceAsked(
    ['speed', 'inference_geo', 'service_tier'],
    new Set(['auto', 'standard', 'standard_only', 'global']),
    new Set(),
  ),
  writer: ({ promptTokens, believed }, _channel, info) => new AnthropicWriter(promptTokens, believed, info),
  whole: anthropicWholeAnswer,
  withUsage: withAnthropicUsage,
  // Whatever else an answer of Anthropic's has says something of the account: its limits, its organisation.
  upstreamHeaders: upstreamRequestIds,
  statusOf,
  errorBody: (error, requestId) => JSON.stringify({ type: 'error', ...errorOf(error, requestId) }),
  errorFrame: (error, requestId) => eventText('error', errorOf(error, requestId)),
  endFrame: '',
  idHeader: 'request-id',
  keepAlive: eventText('ping', {}),
};
