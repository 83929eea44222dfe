import type { ServerResponse } from 'node:http';
import { endUnread, isUnread } from '../../http/answer-unread.js';
import type { CallerDialect } from '../caller-dialect.js';
import { jsonHeaders, type RelayError } from '../errors.js';

/** A failure as the whole answer, in the caller's dialect; an answer that has begun can only end. */
export function refuse(response: ServerResponse, requestId: string, error: RelayError, dialect: CallerDialect): void {
  if (response.headersSent) {
    response.end();
    return;
  }
  const body = dialect.errorBody(error, requestId);
  const unread = isUnread(response.req);
  response.writeHead(error.status, {
    ...jsonHeaders,
    'content-length': Buffer.byteLength(body),
    ...(error.retryAfter === null ? {} : { 'retry-after': error.retryAfter }),
    ...(unread && { connection: 'close' }),
  });
  if (unread) endUnread(response.req, response, body);
  else response.end(body);
}
