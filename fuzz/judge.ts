import { formFault } from './dialects/form.js';
import type { FuzzRequest } from './request.js';

/* What no request may bring about. */

export interface Answer {
  /** null: the connection ended without one. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly elapsedMs: number;
  /** The connection was broken off amid it. */
  readonly cut?: boolean;
}

/** Codes with which the relay reports its upstream's failures; they come with a 5xx that is not ours. */
const upstreamCodes = new Set([
  ...['do_request_failed', 'stream_response_error', 'read_response_body_failed', 'bad_response_body'],
  ...['bad_response_status_code', 'model_not_found', 'channel_key_missing', 'model_mapped_error'],
  ...[
    'get_playground_channel_failed',
    'api_not_implemented',
    'convert_request_failed',
    'upstream_error',
    'invalid_api_type',
  ],
]);

interface RelayError {
  readonly error?: { readonly code?: unknown; readonly type?: unknown };
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const ofUpstream = (body: string): boolean => {
  const { error } = (parsed(body) ?? {}) as RelayError;
  if (error === undefined) return false;
  return error.type === 'upstream_error' || upstreamCodes.has(String(error.code));
};

const relays: ReadonlySet<FuzzRequest['face']> = new Set(['relay', 'playground']);

/** The legacy interface has one endpoint that reports what has failed upstream with 500. */
const listsUpstreamModels = ({ face, path }: FuzzRequest, body: string): boolean =>
  face === 'api' && /^\/api\/channel\/fetch_models\/?(\?|$)/.test(path) && body.includes('upstream');

/** A cookie, a stack, or a path of ours in an answer. */
const leaked = /\bat [\w.<>]+ \(|node_modules|\/src\/\w+|sk-upstream-key/;

/** What is wrong with an answer; null: nothing. */
export function findingIn(request: FuzzRequest, answer: Answer): string | null {
  const { status, headers, body } = answer;
  if (request.face === 'socket') return status !== null && status >= 500 ? `a WebSocket was answered ${status}` : null;
  // A call in person is cut off when another request ends the session it was made by.
  if (status === null) return request.face === 'playground' ? null : 'the connection ended without an answer';
  if (request.face === 'dialect' && body.includes('internal error')) return 'an internal error in a call';
  // Its upstream fails more often than not, and each dialect reports that in a way of its own.
  if (
    status >= 500 &&
    request.face !== 'dialect' &&
    !(relays.has(request.face) && ofUpstream(body)) &&
    !listsUpstreamModels(request, body)
  )
    return `answered ${status}`;
  if (request.face === 'graphql' && body.includes('"internal-error"')) return 'an internal error in GraphQL';
  if (leaked.test(body)) return 'the answer shows something of the inside';
  // A head longer than the server reads is answered by the server itself, with nothing but a status.
  if (status !== 431 && headers['x-content-type-options'] !== 'nosniff') return 'the answer lacks nosniff';
  const json = String(headers['content-type'] ?? '').includes('json');
  if (json && status !== 204 && request.method !== 'HEAD' && body !== '' && parsed(body) === undefined)
    return 'the answer is not the JSON it says it is';
  return request.face === 'dialect' && request.method !== 'HEAD' ? formFault(request, answer) : null;
}
