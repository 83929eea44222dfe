import type { CallerDialect, SentBefore } from '../../contracts/caller-dialect.js';
import type { RelayError } from '../../contracts/errors.js';
import { eventText } from '../named-events.js';
import { misspelled } from '../spelling.js';
import { errorMessage, openAiCaller } from './dialect.js';
import { responsesNames } from './names.js';
import { ResponsesWriter, responsesWholeAnswer, withResponsesUsage } from './responses-writer.js';

/* How clients of the Responses interface are answered: as OpenAI's are, but for their streams. */

/**
 * Some clients look for the event of an error, its members or those of `error`, and others for the response that has
 * failed.
 */
function errorFrame(error: RelayError, requestId: string, { sequence }: SentBefore): string {
  const { type, code, param } = error;
  const message = errorMessage(error, requestId);
  const failure = { sequence_number: sequence, code, message, param, error: { message, type, param, code } };
  const response = {
    id: `resp_${requestId}`,
    object: 'response',
    status: 'failed',
    error: { code: code ?? 'server_error', message },
    incomplete_details: null,
    output: [],
    usage: null,
  };
  return eventText('error', failure) + eventText('response.failed', { sequence_number: sequence + 1, response });
}

export const responsesCaller: CallerDialect = {
  ...openAiCaller,
  misspelled: (body) => misspelled(body, responsesNames),
  writer: () => new ResponsesWriter(),
  whole: responsesWholeAnswer,
  withUsage: withResponsesUsage,
  errorFrame,
  endFrame: '',
};
