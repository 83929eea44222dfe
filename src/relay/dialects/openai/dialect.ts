import type { CallerDialect } from '../../contracts/caller-dialect.js';
import type { RelayError } from '../../contracts/errors.js';
import { serviceAsked } from '../../contracts/service-tier.js';
import { type PassedHeader, upstreamRequestIds } from '../../upstream/passed-headers.js';
import { misspelled } from '../spelling.js';
import { openAiNames } from './names.js';
import { OpenAiWriter } from './stream-writer.js';
import { openAiWholeAnswer, withOpenAiUsage } from './whole-answer.js';

/* How OpenAI's clients are answered. */

export function errorMessage({ message }: RelayError, requestId: string): string {
  const suffix = ` (request id: ${requestId})`;
  return message.endsWith(suffix) ? message : `${message}${suffix}`;
}

function errorBody(error: RelayError, requestId: string): string {
  const message = errorMessage(error, requestId);
  return JSON.stringify({ error: { message, type: error.type, param: error.param, code: error.code } });
}

/** Rate limits are not among them: those of an account that callers share are no caller's own. */
const upstreamHeaders: readonly PassedHeader[] = [
  ...['openai-processing-ms', 'openai-version'].map((name) => ({ from: name, to: name })),
  ...upstreamRequestIds,
];

export const openAiCaller: CallerDialect = {
  wire: 'openai',
  misspelled: (body) => misspelled(body, openAiNames),
  serviceAsked: serviceAsked(['service_tier'], new Set(['auto']), new Set(['default', 'standard', 'on_demand'])),
  writer: (caller, channel, info) => new OpenAiWriter(caller, channel, info),
  whole: openAiWholeAnswer,
  withUsage: withOpenAiUsage,
  upstreamHeaders,
  errorBody,
  errorFrame: (error, requestId) => `data: ${errorBody(error, requestId)}\n\n`,
  endFrame: 'data: [DONE]\n\n',
  idHeader: null,
  keepAlive: ': PING\n\n',
};
