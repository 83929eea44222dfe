import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import findMyWay from 'find-my-way';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import { RelayError, refusalFor } from '../contracts/errors.js';
import type { RelayLog } from '../contracts/ports.js';
import { outputLimitHeader } from '../delivery/passed-on.js';
import { type Answering, refuse } from '../delivery/refusal.js';
import { anthropicRoutes } from './anthropic/routes.js';
import { cohereCaller } from './cohere/dialect.js';
import { cohereRoutes } from './cohere/routes.js';
import { dialectInHeaders } from './dialect-of-request.js';
import { geminiCaller } from './gemini/dialect.js';
import { geminiRoutes } from './gemini/routes.js';
import { midjourneyRoots } from './midjourney/modes.js';
import { midjourneyRoutes } from './midjourney/routes.js';
import { openAiCaller } from './openai/dialect.js';
import { openAiRoutes, openAiRoutesUnder } from './openai/routes.js';
import type { IncomingRequest, Route, RoutesOptions } from './route.js';
import { sharedRoutes } from './shared-routes.js';
import { sunoCaller } from './suno/dialect.js';
import { sunoRoutes } from './suno/routes.js';

/*
 * The relay's entrance, on Node's own requests and answers and a router. It is asked before the web framework, whose
 * hooks, parsers and serialisers no call needs, and does without it where nothing else is served.
 */

export interface DialectRouterOptions extends RoutesOptions {
  readonly newRequestId: () => string;
  /** What every answer begins with: header names and values in turn. */
  readonly headers: readonly string[];
  readonly addressOf: (request: IncomingMessage) => string;
  /** Paths below the relay's own that somebody else answers a GET of. */
  readonly elsewhere: readonly string[];
  readonly log: Pick<RelayLog, 'warn' | 'error'>;
}

export interface DialectRouter {
  /** True: the request is the relay's, and will be answered. False: it is not, and nothing was done with it. */
  take(request: IncomingMessage, response: ServerResponse): boolean;
  /** For a request that gets to no face. */
  turnAway(response: ServerResponse, error: RelayError, last?: boolean): void;
  readonly routes: readonly { readonly method: string; readonly url: string }[];
}

interface Root {
  readonly path: string;
  /** A function: clients of several ask there, and who it is shows in the request. */
  readonly dialect: Route['dialect'];
  /** Of whatever has no route there. Left out: there is no such address. */
  readonly refusal?: () => RelayError;
}

/** What lies below is the dialect's: whatever else is asked for there is refused in its form. */
const roots: readonly Root[] = [
  { path: '/v1', dialect: dialectInHeaders },
  { path: '/v1beta', dialect: geminiCaller },
  { path: '/v1beta/openai', dialect: openAiCaller },
  { path: '/v2', dialect: cohereCaller },
  { path: '/suno', dialect: sunoCaller },
  ...midjourneyRoots,
];

const preflightHeaders: readonly string[] = Object.entries({
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': '*, authorization, content-type',
  'access-control-max-age': '43200',
}).flat();

/** What pages of other origins may read of an answer. */
const exposedHeaders = ({ upstreamHeaders, idHeader }: CallerDialect): string =>
  [
    ...new Set(
      ['x-request-id', 'x-oneapi-request-id', 'retry-after', outputLimitHeader]
        .concat(upstreamHeaders.map(({ to }) => to))
        .concat(idHeader ?? []),
    ),
  ].join(', ');

/** The gateway's own request id is on every answer, under the name of today and the one older clients read. */
export const requestIdHeaders = ['x-request-id', 'x-oneapi-request-id'] as const;

/** More may be said before anything is written. */
type Begun = Answering & { readonly head: string[] };

const noQuery = new URLSearchParams();
/** The router need not read a query: whoever wants it reads its own. */
const noSearch: Record<string, string> = {};

type Handler = findMyWay.Handler<findMyWay.HTTPVersion.V1>;

const methodsOf = ({ method }: Route): findMyWay.HTTPMethod[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);
const allButOptions = METHODS.filter((method) => method !== 'OPTIONS') as findMyWay.HTTPMethod[];

type Router = findMyWay.Instance<findMyWay.HTTPVersion.V1>;
type AnswerPorts = Pick<DialectRouterOptions, 'newRequestId' | 'headers' | 'addressOf' | 'log'>;

function begin({ newRequestId, headers }: AnswerPorts, response: ServerResponse): Begun {
  const requestId = newRequestId();
  const [today, earlier] = requestIdHeaders;
  return { requestId, response, head: [...headers, today, requestId, earlier, requestId] };
}

/** `exposed`: what pages of other origins may read. */
function greet(ports: AnswerPorts, request: IncomingMessage, response: ServerResponse, exposed: string): Begun {
  const answering = begin(ports, response);
  const { origin } = request.headers;
  if (origin === undefined) return answering;
  const shared = ['access-control-allow-origin', origin, 'vary', 'origin', 'access-control-expose-headers', exposed];
  answering.head.push(...shared);
  return answering;
}

/** What a route answers, and in whose form of failure. */
interface Served {
  readonly answer: Route['answer'];
  readonly dialect: CallerDialect;
}

async function serve(
  { addressOf, log }: AnswerPorts,
  { answer, dialect }: Served,
  answering: Answering,
  { request, params }: Pick<IncomingRequest, 'request' | 'params'>,
): Promise<void> {
  const { requestId, response, head } = answering;
  try {
    const url = request.url ?? '';
    const end = url.indexOf('?');
    await answer({
      requestId,
      response,
      head,
      request,
      path: end < 0 ? url : url.slice(0, end),
      query: end < 0 ? noQuery : new URLSearchParams(url.slice(end + 1)),
      params,
      ip: addressOf(request),
    });
  } catch (error) {
    refuse(answering, refusalFor(error, requestId, log), dialect);
  }
}

/** Whatever has no route below the root of a dialect is refused in the dialect's form; a preflight is answered. */
function addRoot(router: Router, ports: AnswerPorts, { path, dialect: of, refusal }: Root): void {
  const dialectFor = dialectsOf(of);
  const unknown: Handler = (request, response) => {
    const [asked] = (request.url ?? '').split('?', 1);
    const message = `Invalid URL (${request.method} ${asked})`;
    const error = refusal?.() ?? new RelayError(404, '', message, { type: 'invalid_request_error' });
    const { dialect, exposed } = dialectFor(request);
    refuse(greet(ports, request, response, exposed), error, dialect);
    return true;
  };
  router.on(allButOptions, path, unknown);
  router.on(allButOptions, `${path}/*`, unknown);
  router.options(`${path}/*`, (request, response) => {
    const { head } = greet(ports, request, response, dialectFor(request).exposed);
    response.writeHead(204, head.concat(preflightHeaders)).end();
    return true;
  });
}

interface AnsweredDialect {
  readonly dialect: CallerDialect;
  /** What pages of other origins may read. */
  readonly exposed: string;
}

/** Worked out once where it does not depend on the request. */
function dialectsOf(of: Route['dialect']): (request: IncomingMessage) => AnsweredDialect {
  if (typeof of === 'function')
    return (request) => {
      const dialect = of(request);
      return { dialect, exposed: exposedHeaders(dialect) };
    };
  const only: AnsweredDialect = { dialect: of, exposed: exposedHeaders(of) };
  return () => only;
}

function addRoute(router: Router, ports: AnswerPorts, route: Route): void {
  const dialectFor = dialectsOf(route.dialect);
  const { answer } = route;
  router.on(methodsOf(route), route.path, (request, response, params) => {
    const { dialect, exposed } = dialectFor(request);
    const answering = greet(ports, request, response, exposed);
    if (dialect.idHeader !== null) answering.head.push(dialect.idHeader, answering.requestId);
    void serve(ports, { answer, dialect }, answering, { request, params });
    return true;
  });
}

const routesOf = (options: RoutesOptions): Route[] => [
  ...sharedRoutes(options),
  ...openAiRoutes(options),
  ...anthropicRoutes(options),
  ...geminiRoutes(options),
  ...openAiRoutesUnder('/v1beta/openai', options),
  ...cohereRoutes(options),
  ...sunoRoutes(options),
  ...midjourneyRoutes(options),
];

export function openDialectRouter(options: DialectRouterOptions): DialectRouter {
  const routes = routesOf(options);
  // Whatever fits into the head of a request is a name.
  const router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER, querystringParser: () => noSearch });
  for (const root of roots) addRoot(router, options, root);
  for (const path of options.elsewhere) router.on(['GET', 'HEAD'], path, () => false);
  for (const route of routes) addRoute(router, options, route);

  return {
    take(request, response) {
      const found = router.find(request.method as findMyWay.HTTPMethod, request.url ?? '');
      return found !== null && found.handler(request, response, found.params, found.store, noSearch) === true;
    },
    turnAway: (response, error, last) => refuse(begin(options, response), error, openAiCaller, last),
    routes: routes.flatMap((route) => methodsOf(route).map((method) => ({ method, url: route.path }))),
  };
}
