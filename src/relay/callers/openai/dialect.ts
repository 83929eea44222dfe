import type { CallerDialect } from '../../caller-dialect.js';
import type { RelayError } from '../../errors.js';
import { OpenAiWriter } from './stream-writer.js';
import { telling, wholeAnswer } from './whole-answer.js';

/* How OpenAI's clients are answered. */

function errorBody(error: RelayError, requestId: string): string {
  const suffix = ` (request id: ${requestId})`;
  const message = error.message.endsWith(suffix) ? error.message : `${error.message}${suffix}`;
  return JSON.stringify({ error: { message, type: error.type, param: error.param, code: error.code } });
}

export const openAiCaller: CallerDialect = {
  wire: 'openai',
  writer: (caller, channel, info) => new OpenAiWriter(caller, channel, info),
  whole: wholeAnswer,
  telling,
  errorBody,
  errorFrame: (error, requestId) => `data: ${errorBody(error, requestId)}\n\n`,
  endFrame: 'data: [DONE]\n\n',
};
