import type { ServerResponse } from 'node:http';
import { endUnread, isUnread } from '../../http/answer-unread.js';
import { type CallerDialect, nothingSent } from '../contracts/caller-dialect.js';
import { isFinal, jsonType, type RelayError, secondsToWait } from '../contracts/errors.js';

/** An answer to be written, and what every one to this request begins with. */
export interface Answering {
  readonly requestId: string;
  readonly response: ServerResponse;
  /** Header names and values in turn: written in one go they cost a fifth of what an answer does less. */
  readonly head: readonly string[];
}

/** A failure of a stream whose headers have gone out, and nothing of an answer. */
export function refuseInStream({ requestId, response }: Answering, error: RelayError, dialect: CallerDialect): void {
  response.end(`${dialect.errorFrame(error, requestId, nothingSent)}${dialect.endFrame}`);
}

/** A failure as the whole answer, in the caller's dialect; an answer that has begun can only end. */
export function refuse(
  { requestId, response, head }: Answering,
  error: RelayError,
  dialect: CallerDialect,
  /** The connection takes no further request. */
  last = false,
): void {
  if (response.headersSent) {
    response.end();
    return;
  }
  const body = dialect.errorBody(error, requestId);
  const unread = isUnread(response.req);
  const headers = [...head, 'content-type', jsonType, 'content-length', String(Buffer.byteLength(body))];
  if (error.retryAfter !== null && secondsToWait(error) !== null) headers.push('retry-after', error.retryAfter);
  if (isFinal(error)) headers.push('x-should-retry', 'false');
  if (unread || last) headers.push('connection', 'close');
  response.writeHead(dialect.statusOf?.(error) ?? error.status, headers);
  if (unread) endUnread(response.req, response, body);
  else response.end(body);
}
