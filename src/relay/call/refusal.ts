import type { ServerResponse } from 'node:http';
import { endUnread, isUnread } from '../../http/answer-unread.js';
import type { CallerDialect } from '../caller-dialect.js';
import { jsonType, type RelayError } from '../errors.js';

/** An answer to be written, and what every one to this request begins with. */
export interface Answering {
  readonly requestId: string;
  readonly response: ServerResponse;
  /** Header names and values in turn: written in one go they cost a fifth of what an answer does less. */
  readonly head: readonly string[];
}

/** In seconds. Official clients sleep until then, however long it is, unless they are told not to ask again. */
const longestWait = 60;

/** A failure of a stream whose headers have gone out, and nothing of an answer. */
export function refuseInStream({ requestId, response }: Answering, error: RelayError, dialect: CallerDialect): void {
  response.end(`${dialect.errorFrame(error, requestId, false)}${dialect.endFrame}`);
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
  if (error.retryAfter !== null) headers.push('retry-after', error.retryAfter);
  if (error.shouldRetry === false || Number(error.retryAfter) > longestWait) headers.push('x-should-retry', 'false');
  if (unread || last) headers.push('connection', 'close');
  response.writeHead(error.status, headers);
  if (unread) endUnread(response.req, response, body);
  else response.end(body);
}
