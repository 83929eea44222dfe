import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Directory } from '../../../application/ports.js';
import { openAiModel } from '../../../http/openai-model.js';
import { refuse } from '../../call/refusal.js';
import type { Relay } from '../../call/relay.js';
import type { Endpoint } from '../../endpoint.js';
import { RelayError, refusalFor, unknownModel } from '../../errors.js';
import { readCredential } from './credential.js';
import { openAiCaller } from './dialect.js';
import { chat } from './endpoints/chat.js';
import { completions } from './endpoints/completions.js';
import { embeddings } from './endpoints/embeddings.js';
import { speech } from './endpoints/speech.js';
import { transcriptions, translations } from './endpoints/transcriptions.js';
import { type Dialect, listing, type ModelListing, modelsFor } from './models.js';

/* The /v1 endpoints over HTTP. */

export interface RelayRoutesOptions {
  readonly relay: Relay;
  readonly directory: Directory;
  readonly newRequestId: () => string;
  /** Name of the provider behind a channel type. */
  readonly providerName: (channelType: number) => string | null;
}

const endpoints: readonly Endpoint[] = [chat, completions, embeddings, speech, transcriptions, translations];

/** Known to every client of the dialect, served by no gateway, or not served yet. */
const notImplemented: readonly (readonly ['GET' | 'POST' | 'DELETE', string])[] = [
  ['POST', '/v1/edits'],
  ['POST', '/v1/moderations'],
  ['POST', '/v1/images/generations'],
  ['POST', '/v1/images/edits'],
  ['POST', '/v1/images/variations'],
  ['POST', '/v1/rerank'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/messages'],
  ['GET', '/v1/files'],
  ['POST', '/v1/files'],
  ['GET', '/v1/files/:id'],
  ['DELETE', '/v1/files/:id'],
  ['GET', '/v1/files/:id/content'],
  ['GET', '/v1/fine-tunes'],
  ['POST', '/v1/fine-tunes'],
  ['GET', '/v1/fine-tunes/:id'],
  ['POST', '/v1/fine-tunes/:id/cancel'],
  ['GET', '/v1/fine-tunes/:id/events'],
  ['DELETE', '/v1/models/*'],
];

const queryOf = (request: FastifyRequest): URLSearchParams => {
  const start = request.url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : request.url.slice(start + 1));
};

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? request.url;

function dialectOf({ headers }: FastifyRequest, query: URLSearchParams): Dialect {
  if (headers['x-api-key'] !== undefined && headers['anthropic-version'] !== undefined) return 'anthropic';
  if (headers['x-goog-api-key'] !== undefined || query.has('key')) return 'gemini';
  return 'openai';
}

const exposedHeaders = ['x-request-id', 'x-oneapi-request-id', 'retry-after']
  .concat(openAiCaller.upstreamHeaders.map(({ to }) => to))
  .join(', ');

/** The gateway's own request id on every answer, under the name of today and the one older clients read. */
export const tellRequestId = (reply: Pick<FastifyReply, 'raw'>, id: string): void => {
  reply.raw.setHeader('x-request-id', id);
  reply.raw.setHeader('x-oneapi-request-id', id);
};

const cannotBeRead = (status: number): RelayError =>
  new RelayError(status, 'invalid_request', 'invalid request: it cannot be read');

/** For a request that gets to no face. */
export function turnAway(reply: Pick<FastifyReply, 'raw'>, id: string, error: RelayError): void {
  tellRequestId(reply, id);
  refuse(reply.raw, id, error, openAiCaller);
}

export async function relayRoutes(app: FastifyInstance, options: RelayRoutesOptions): Promise<void> {
  const { relay, directory, newRequestId, providerName } = options;

  // Bodies stay on the wire until their caller is known; most of these endpoints never look at them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  const allowOrigin = (request: FastifyRequest, reply: FastifyReply): void => {
    const { origin } = request.headers;
    if (origin === undefined) return;
    reply.raw.setHeader('access-control-allow-origin', origin);
    reply.raw.setHeader('vary', 'origin');
    reply.raw.setHeader('access-control-expose-headers', exposedHeaders);
  };

  app.addHook('onRequest', async (request, reply) => {
    request.id = newRequestId();
    tellRequestId(reply, request.id);
    allowOrigin(request, reply);
  });

  app.setErrorHandler((error, request, reply) => {
    reply.hijack();
    const { statusCode = 500 } = error as { statusCode?: number };
    // The server could not read the request.
    const unreadable = !(error instanceof RelayError) && statusCode < 500;
    const told = unreadable ? cannotBeRead(statusCode) : refusalFor(error, request.id, request.log);
    refuse(reply.raw, request.id, told, openAiCaller);
  });

  app.options('/v1/*', async (_request, reply) =>
    reply
      .header('access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS')
      .header('access-control-allow-headers', '*, authorization, content-type')
      .header('access-control-max-age', '43200')
      .status(204)
      .send(),
  );

  for (const endpoint of endpoints) {
    app.post(endpoint.path, async (request, reply) => {
      reply.hijack();
      const { headers } = request;
      const query = queryOf(request);
      await relay.handle({
        requestId: request.id,
        endpoint,
        query,
        credential: readCredential(endpoint.path, headers, query),
        headers,
        request: request.raw,
        ip: request.ip,
        response: reply.raw,
      });
    });
  }

  const identified = async (request: FastifyRequest) => {
    const query = queryOf(request);
    const credential = readCredential(pathOf(request), request.headers, query);
    const caller = await relay.identify({ credential, ip: request.ip });
    return { caller, query };
  };

  /** Looks at every channel once, however many models are asked about. */
  const owners = (): ModelListing['ownerOf'] => {
    const types = new Map<string, number>();
    for (const { settings } of directory.channels())
      for (const model of settings.models) if (!types.has(model)) types.set(model, settings.type);
    return (model) => {
      const type = types.get(model);
      return (type === undefined ? null : providerName(type))?.toLowerCase() ?? 'custom';
    };
  };

  app.get('/v1/models', async (request) => {
    const { caller, query } = await identified(request);
    return listing(modelsFor(directory, caller), dialectOf(request, query), owners());
  });

  // Names hold slashes (vendor/model): everything after the prefix is the name.
  app.get<{ Params: { '*': string } }>('/v1/models/*', async (request) => {
    const { caller } = await identified(request);
    const model = request.params['*'];
    if (!modelsFor(directory, caller).includes(model)) throw unknownModel(model);
    return openAiModel(model, owners()(model));
  });

  for (const [method, url] of notImplemented) {
    app.route({
      method,
      url,
      handler: async (request) => {
        await identified(request);
        throw new RelayError(501, 'api_not_implemented', 'API not implemented');
      },
    });
  }

  // Whatever else is asked for below /v1 is asked by a client of the dialect, and gets its kind of error.
  for (const url of ['/v1', '/v1/*']) {
    app.route({
      method: app.supportedMethods.filter((method) => method !== 'OPTIONS'),
      url,
      exposeHeadRoute: false,
      handler: async (request) => {
        const message = `Invalid URL (${request.method} ${pathOf(request)})`;
        throw new RelayError(404, '', message, 'invalid_request_error');
      },
    });
  }
}
