import type { KeptKind } from '../../../domain/call/kept-object.js';
import type { KeptRequest } from '../../pipeline/kept/kept-resource.js';
import {
  answerCount,
  type IncomingRequest,
  incomingCall,
  type Method,
  type Route,
  type RoutesOptions,
} from '../route.js';
import { readCredential } from './credential.js';
import { responses } from './endpoints/responses.js';
import { responsesInputTokens } from './endpoints/responses-input-tokens.js';

/* What belongs to the Responses interface beside creating one: what is kept of it, and a count of tokens. */

interface KeptRoute {
  readonly method: Extract<Method, KeptRequest['method']>;
  /** `:id`: of what is kept. */
  readonly path: string;
  readonly kind: KeptKind;
  /** What follows the id upstream; a name after a colon is that part of the path. */
  readonly rest: readonly string[];
  /** JSON is sent along. Left out: nothing is. */
  readonly sends?: true;
  /** A file is answered. Left out: JSON is. */
  readonly file?: true;
}

const conversation = '/v1/conversations/:id';

const container = '/v1/containers/:id';

/** In place of the last part of the address that responses are sent to. */
const collections: Partial<Record<KeptKind, string>> = { conversation: 'conversations', container: 'containers' };

const keptRoutes: readonly KeptRoute[] = [
  { method: 'GET', path: '/v1/responses/:id', kind: 'response', rest: [] },
  { method: 'DELETE', path: '/v1/responses/:id', kind: 'response', rest: [] },
  { method: 'POST', path: '/v1/responses/:id/cancel', kind: 'response', rest: ['cancel'] },
  { method: 'GET', path: '/v1/responses/:id/input_items', kind: 'response', rest: ['input_items'] },
  { method: 'POST', path: '/v1/conversations', kind: 'conversation', rest: [], sends: true },
  { method: 'GET', path: conversation, kind: 'conversation', rest: [] },
  { method: 'POST', path: conversation, kind: 'conversation', rest: [], sends: true },
  { method: 'DELETE', path: conversation, kind: 'conversation', rest: [] },
  { method: 'GET', path: `${conversation}/items`, kind: 'conversation', rest: ['items'] },
  { method: 'POST', path: `${conversation}/items`, kind: 'conversation', rest: ['items'], sends: true },
  { method: 'GET', path: `${conversation}/items/:item`, kind: 'conversation', rest: ['items', ':item'] },
  { method: 'DELETE', path: `${conversation}/items/:item`, kind: 'conversation', rest: ['items', ':item'] },
  { method: 'GET', path: container, kind: 'container', rest: [] },
  { method: 'DELETE', path: container, kind: 'container', rest: [] },
  { method: 'GET', path: `${container}/files`, kind: 'container', rest: ['files'] },
  { method: 'GET', path: `${container}/files/:item`, kind: 'container', rest: ['files', ':item'] },
  { method: 'DELETE', path: `${container}/files/:item`, kind: 'container', rest: ['files', ':item'] },
  {
    ...{ method: 'GET', path: `${container}/files/:item/content`, kind: 'container' },
    ...{ rest: ['files', ':item', 'content'], file: true },
  },
];

/** `under`: where this path is served. */
export function keptResponsesRoutes({ relay }: RoutesOptions, under: (path: string) => string): Route[] {
  const { dialect } = responses;
  const kept = ({ method, path, kind, rest, sends, file }: KeptRoute): Route => ({
    ...{ method, path: under(path), dialect },
    answer: (exchange) =>
      relay.kept({
        ...exchange,
        ...{ endpoint: responses, kind, method },
        instead: collections[kind] ?? null,
        file: file === true,
        bodySource: sends === true ? exchange.request : null,
        rest: rest.map((part) => (part.startsWith(':') ? (exchange.params[part.slice(1)] ?? '') : part)),
        id: path.includes(':id') ? (exchange.params.id ?? '') : null,
        headers: exchange.request.headers,
        credential: readCredential(exchange.path, exchange.request.headers, exchange.query),
      }),
  });
  const count = async (exchange: IncomingRequest): Promise<void> => {
    const counted = await relay.count(incomingCall(exchange, responsesInputTokens, exchange.path, null));
    answerCount(exchange, counted, (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }));
  };
  return [...keptRoutes.map(kept), { method: 'POST', path: under(responsesInputTokens.path), dialect, answer: count }];
}
