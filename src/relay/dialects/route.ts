import type { IncomingMessage } from 'node:http';
import type { Clock, Directory, Vault } from '../../application/ports/storage-ports.js';
import type { CallerDialect } from '../contracts/caller-dialect.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { jsonType, RelayError } from '../contracts/errors.js';
import type { Answering } from '../delivery/refusal.js';
import type { IncomingCall } from '../pipeline/call-context.js';
import type { TokenCount } from '../pipeline/counting.js';
import type { Relay } from '../pipeline/relay.js';
import { readCredential } from './openai/credential.js';

/* One place of the relay: a value, made by the dialect it belongs to. */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request as a route sees it. */
export interface IncomingRequest extends Answering {
  /** Its body is not read. */
  readonly request: IncomingMessage;
  /** Without its query, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** What stands at the variable parts of the route's path, decoded; behind `*` whatever follows. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The client's address. */
  readonly ip: string;
}

export interface Route {
  /** Whoever serves GET serves HEAD as well. */
  readonly method: Method;
  /** E.g. `/v1/files/:id`, `/v1/models/*`, `/v1beta/models/:model([^/:]+)::countTokens`, where `::` is a colon. */
  readonly path: string;
  /**
   * In which failures are answered, and whose headers pages of other origins may read; where several share the place,
   * by who asks.
   */
  readonly dialect: CallerDialect | ((request: IncomingMessage) => CallerDialect);
  /** Answers. What it throws, or rejects with, is answered to the caller. */
  readonly answer: (exchange: IncomingRequest) => Promise<void>;
}

/** What the routes of a dialect need. */
export interface RoutesOptions {
  readonly relay: Pick<
    Relay,
    | 'handle'
    | 'identify'
    | 'count'
    | 'kept'
    | 'ownTasks'
    | 'askAboutTask'
    | 'takeReport'
    | 'taskPicture'
    | 'ownVideo'
    | 'ownVideos'
    | 'deleteVideo'
    | 'sendVideoFile'
    | 'sendSignedVideo'
  >;
  readonly directory: Directory;
  readonly vault: Pick<Vault, 'hash'>;
  readonly clock: Clock;
  /** Name of the provider behind a channel type. */
  readonly providerName: (channelType: number) => string | null;
}

const writeJson = ({ response, head }: Answering, body: Buffer, ...headers: string[]): void => {
  const length = String(body.length);
  response.writeHead(200, head.concat('content-type', jsonType, 'content-length', length, headers)).end(body);
};

/** What it promises, as JSON. */
export const answersJson =
  (content: (exchange: IncomingRequest) => Promise<object>): Route['answer'] =>
  async (exchange) =>
    writeJson(exchange, Buffer.from(JSON.stringify(await content(exchange))));

/** Says of a count of tokens where it comes from. */
const countSource = 'x-token-count';

/** A count of tokens, as `written` puts it in the dialect's words. */
export function answerCount(
  exchange: Answering,
  { reported, estimated }: TokenCount,
  written: (tokens: number) => object,
): void {
  const body = Buffer.from(JSON.stringify(written(reported ?? estimated)));
  writeJson(exchange, body, countSource, reported === null ? 'estimated' : 'upstream');
}

/** `path`: whose rules say where the credential stands. `model`: as the path names it; null: the body does. */
export const incomingCall = (
  { requestId, request, response, head, query, ip }: IncomingRequest,
  endpoint: Endpoint,
  path: string,
  model: string | null,
): IncomingCall => {
  const { headers } = request;
  const credential = readCredential(path, headers, query);
  return { requestId, endpoint, model, query, credential, headers, bodySource: request, ip, response, head };
};

/** Where calls of an endpoint come in. */
export const callsOf = (endpoint: Endpoint, relay: Pick<Relay, 'handle'>): Route => ({
  method: 'POST',
  path: endpoint.path,
  dialect: endpoint.dialect,
  answer: (exchange) => relay.handle(incomingCall(exchange, endpoint, endpoint.path, null)),
});

/** A place that clients of a dialect know, and what whoever asks there is told instead. */
export type UnservedPlace = readonly [method: Method, path: string, message?: string];

/** Where nothing is served: whoever may call is told so, and what to ask for instead. */
export const unservedRoute = (
  relay: Pick<Relay, 'identify'>,
  dialect: Route['dialect'],
  [method, path, message = 'API not implemented']: UnservedPlace,
): Route => ({
  ...{ method, path, dialect },
  answer: async ({ path: asked, request, query, ip }) => {
    await relay.identify({ credential: readCredential(asked, request.headers, query), ip });
    throw new RelayError(501, 'api_not_implemented', message, { shouldRetry: false });
  },
});
