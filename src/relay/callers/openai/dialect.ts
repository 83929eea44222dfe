import type { CallerDialect } from '../../caller-dialect.js';
import type { RelayError } from '../../errors.js';

/* How OpenAI's clients are answered where the answer is not the upstream's own. */

function errorBody(error: RelayError, requestId: string): string {
  const suffix = ` (request id: ${requestId})`;
  const message = error.message.endsWith(suffix) ? error.message : `${error.message}${suffix}`;
  return JSON.stringify({ error: { message, type: error.type, param: error.param, code: error.code } });
}

export const openAiCaller: CallerDialect = {
  errorBody,
  errorFrame: (error, requestId) => `data: ${errorBody(error, requestId)}\n\n`,
  endFrame: 'data: [DONE]\n\n',
};
