import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import findMyWay from 'find-my-way';
import { refuse } from '../call/refusal.js';
import type { CallerDialect } from '../caller-dialect.js';
import { RelayError, refusalFor } from '../errors.js';
import type { RelayLog } from '../ports.js';
import { geminiCaller } from './gemini/dialect.js';
import { geminiRoutes } from './gemini/routes.js';
import { openAiCaller } from './openai/dialect.js';
import { openAiRoutes, openAiRoutesUnder } from './openai/routes.js';
import type { Asking, Route, RoutesOptions } from './route.js';

/*
 * The relay's entrance, on Node's own requests and answers and a router. It is asked before the web framework, whose
 * hooks, parsers and serialisers no call needs, and does without it where nothing else is served.
 */

export interface EntranceOptions extends RoutesOptions {
  readonly newRequestId: () => string;
  readonly addressOf: (request: IncomingMessage) => string;
  /** Paths below the relay's own that somebody else answers a GET of. */
  readonly elsewhere: readonly string[];
  readonly log: Pick<RelayLog, 'warn' | 'error'>;
}

export interface Entrance {
  /** True: the request is the relay's, and will be answered. False: it is not, and nothing was done with it. */
  take(request: IncomingMessage, response: ServerResponse): boolean;
  /** For a request that gets to no face. */
  turnAway(response: ServerResponse, error: RelayError): void;
  readonly routes: readonly { readonly method: string; readonly url: string }[];
}

/** What lies below is the dialect's: whatever else is asked for there is refused in its form. */
const roots: readonly { readonly path: string; readonly dialect: CallerDialect }[] = [
  { path: '/v1', dialect: openAiCaller },
  { path: '/v1beta', dialect: geminiCaller },
  { path: '/v1beta/openai', dialect: openAiCaller },
];

const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': '*, authorization, content-type',
  'access-control-max-age': '43200',
} as const;

/** What pages of other origins may read of an answer. */
const exposedHeaders = ({ upstreamHeaders }: CallerDialect): string =>
  ['x-request-id', 'x-oneapi-request-id', 'retry-after', ...upstreamHeaders.map(({ to }) => to)].join(', ');

/** The gateway's own request id on every answer, under the name of today and the one older clients read. */
export const tellRequestId = (response: ServerResponse, id: string): void => {
  response.setHeader('x-request-id', id);
  response.setHeader('x-oneapi-request-id', id);
};

const noQuery = new URLSearchParams();
/** The router need not read a query: whoever wants it reads its own. */
const noSearch: Record<string, string> = {};

type Handler = findMyWay.Handler<findMyWay.HTTPVersion.V1>;

const methodsOf = ({ method }: Route): findMyWay.HTTPMethod[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);
const allButOptions = METHODS.filter((method) => method !== 'OPTIONS') as findMyWay.HTTPMethod[];

export function openEntrance(options: EntranceOptions): Entrance {
  const { newRequestId, addressOf, elsewhere, log } = options;
  const routes = [...openAiRoutes(options), ...geminiRoutes(options), ...openAiRoutesUnder('/v1beta/openai', options)];
  // Whatever fits into the head of a request is a name.
  const router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER, querystringParser: () => noSearch });

  const greet = ({ headers }: IncomingMessage, response: ServerResponse, exposed: string): string => {
    const id = newRequestId();
    tellRequestId(response, id);
    if (headers.origin !== undefined) {
      response.setHeader('access-control-allow-origin', headers.origin);
      response.setHeader('vary', 'origin');
      response.setHeader('access-control-expose-headers', exposed);
    }
    return id;
  };

  const serve = async (
    { dialect, answer }: Route,
    requestId: string,
    request: IncomingMessage,
    response: ServerResponse,
    params: Asking['params'],
  ): Promise<void> => {
    try {
      const url = request.url ?? '';
      const end = url.indexOf('?');
      await answer({
        requestId,
        request,
        response,
        path: end < 0 ? url : url.slice(0, end),
        query: end < 0 ? noQuery : new URLSearchParams(url.slice(end + 1)),
        params,
        ip: addressOf(request),
      });
    } catch (error) {
      refuse(response, requestId, refusalFor(error, requestId, log), dialect);
    }
  };

  for (const { path, dialect } of roots) {
    const exposed = exposedHeaders(dialect);
    const unknown: Handler = (request, response) => {
      const id = greet(request, response, exposed);
      const [asked] = (request.url ?? '').split('?', 1);
      const message = `Invalid URL (${request.method} ${asked})`;
      refuse(response, id, new RelayError(404, '', message, 'invalid_request_error'), dialect);
      return true;
    };
    router.on(allButOptions, path, unknown);
    router.on(allButOptions, `${path}/*`, unknown);
    router.options(`${path}/*`, (request, response) => {
      greet(request, response, exposed);
      response.writeHead(204, preflightHeaders).end();
      return true;
    });
  }
  for (const path of elsewhere) router.get(path, () => false);
  for (const route of routes) {
    const exposed = exposedHeaders(route.dialect);
    router.on(methodsOf(route), route.path, (request, response, params) => {
      void serve(route, greet(request, response, exposed), request, response, params);
      return true;
    });
  }

  return {
    take(request, response) {
      const found = router.find(request.method as findMyWay.HTTPMethod, request.url ?? '');
      return found !== null && found.handler(request, response, found.params, found.store, noSearch) === true;
    },
    turnAway(response, error) {
      const id = newRequestId();
      tellRequestId(response, id);
      refuse(response, id, error, openAiCaller);
    },
    routes: routes.flatMap((route) => methodsOf(route).map((method) => ({ method, url: route.path }))),
  };
}
