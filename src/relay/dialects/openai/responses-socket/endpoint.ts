import type { CallerDialect } from '../../../contracts/caller-dialect.js';
import type { Endpoint } from '../../../contracts/endpoint.js';
import type { RelayError } from '../../../contracts/errors.js';
import { errorMessage } from '../dialect.js';
import { responses } from '../endpoints/responses.js';
import { responsesCaller } from '../responses-dialect.js';
import { responsesInChatCaller } from '../responses-in-chat/dialect.js';
import { responsesInChat } from '../responses-in-chat/to-neutral.js';

/* The Responses interface over a WebSocket: the same calls, and failures as clients of a WebSocket look for them. */

/**
 * The whole of a failure, whether or not something of an answer was sent before. Clients tell by `status` whether to ask
 * again, and find its members there or in `error`.
 */
export function errorEvent(error: RelayError, requestId: string): string {
  const { status, type, code, param } = error;
  const message = errorMessage(error, requestId);
  const told = { type: 'error', event_id: `evt_${requestId}`, status, code, message, param };
  return JSON.stringify({ ...told, error: { message, type, param, code } });
}

const overSocket = (dialect: CallerDialect): CallerDialect => ({
  ...dialect,
  errorFrame: (error, requestId) => `event: error\ndata: ${errorEvent(error, requestId)}\n\n`,
});

/** `path`: that the connection was opened at. */
export const responsesOverSocket = (path: string): Endpoint => ({
  ...responses,
  path,
  dialect: overSocket(responsesCaller),
  inChat: { dialect: overSocket(responsesInChatCaller), toNeutral: responsesInChat },
});
