import type { IncomingHttpHeaders } from 'node:http';
import type { Credential } from '../../../contracts/caller-dialect.js';
import { RelayError } from '../../../contracts/errors.js';
import { offeredProtocols } from '../../../protocols/openai/realtime-request.js';
import { readCredential } from '../credential.js';

/* What a client says that opens a session: its key, and the model in its address. */

/** A browser can set no header, and offers its key as a protocol. */
const keyProtocol = 'openai-insecure-api-key.';

const textOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** A key among the protocols wins over headers; Azure's clients have a header of their own, and a member of the query. */
export function realtimeCredential(
  path: string,
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
): Credential | null {
  const offered = offeredProtocols(headers['sec-websocket-protocol']).find((one) => one.startsWith(keyProtocol));
  const shown = offered?.slice(keyProtocol.length) ?? textOf(headers['api-key']) ?? query.get('api-key') ?? undefined;
  return readCredential(path, shown === undefined ? headers : { ...headers, authorization: `Bearer ${shown}` }, query);
}

/** Azure names the deployment. null: none is named. */
export const realtimeModel = (query: URLSearchParams): string | null => query.get('model') || query.get('deployment');

const invalid = (param: string, message: string): RelayError =>
  new RelayError(400, 'invalid_query', message, { type: 'invalid_request_error', param });

/** Throws RelayError. */
export function checkOpening(headers: IncomingHttpHeaders, query: URLSearchParams): void {
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version } = headers;
  if (!/^[+/0-9A-Za-z]{22}==$/.test(key) || version !== '13')
    throw invalid('sec-websocket-key', 'the handshake must be that of a WebSocket of version 13');
  const intent = query.get('intent');
  if (intent !== null && intent !== 'realtime')
    throw invalid('intent', 'intent must be left out: sessions of transcription are not served here');
  if (query.has('call_id'))
    throw invalid('call_id', 'call_id must be left out: calls over SIP or WebRTC are not served');
}
