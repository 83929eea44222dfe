import { isUtf8 } from 'node:buffer';
import { pipeline, type Readable, Transform } from 'node:stream';
import { ApolloServer, type ApolloServerPlugin, HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import type { UserView } from '../../application/ports/storage-ports.js';
import { isUnavailable } from '../../domain/kernel/failure.js';
import { countUnfinished } from '../../http/body-room.js';
import { clientOf } from '../../http/client.js';
import { rateLimitKey } from '../../http/client-network.js';
import {
  clearedPendingSignInCookie,
  closedSessionCookie,
  openedSessionCookie,
  pendingSignInCookie,
  pendingSignInIn,
} from '../../http/session-cookie.js';
import { forgottenVisitorCookie, newVisitor, visitorCookie, visitorIn } from '../../http/visitor-cookie.js';
import { graphqlSchema } from '../schema.js';
import { admit } from './admission.js';
import {
  contextFor,
  type GraphqlCaller,
  type GraphqlContext,
  type GraphqlOptions,
  identify,
  identifyFrom,
  sessionCredentialsIn,
} from './context.js';
import { type Documents, documentLimits, InvalidDocument, openDocuments } from './documents.js';
import { answerFor, notExecuted, RequestRefused } from './errors.js';
import { payFor } from './work.js';

/* GraphQL over HTTP. */

export const graphqlPath = '/graphql';

/**
 * Clients that do not bring an access token send this header with every mutation, any value: a page of another site
 * cannot make a browser send it.
 */
const clientHeader = 'x-tallygate-client';

const maxBodyBytes = 1024 * 1024;
/** Up to here a body is received from anybody: signing in, setting up. */
const anonymousBodyBytes = 64 * 1024;

/** Registers the route; to be called once per server. */
export async function graphqlRoutes(app: FastifyInstance, options: GraphqlOptions): Promise<void> {
  const documents = openDocuments(graphqlSchema());
  const apollo = openApollo(options, documents);
  await apollo.start();
  app.addHook('onClose', () => apollo.stop());
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (isUtf8(body)) return parseJson(request, body.toString('utf8'), done);
    done(new NotUtf8());
  });
  app.route({
    method: ['GET', 'POST'],
    url: graphqlPath,
    bodyLimit: maxBodyBytes,
    onRequest: async (request, reply) => {
      // Of refusals as well.
      void reply.header('cache-control', 'no-store');
      // A GET can only ask: mutations are not executed then.
      if (request.method !== 'POST' || !options.origins.isForeign(request.raw)) return;
      const { message, extensions } = answerFor(new RequestRefused('foreign-page'), options.log);
      return reply.code(403).send({ errors: [{ message, extensions }] });
    },
    preParsing: async (request, reply, payload) => {
      const sendsTooMany = !countUnfinished(options.bodyRoom, reply.raw, request.ip);
      if (!sendsTooMany && (!mayBeLarge(request) || (await isKnown(request, options)))) return payload;
      // What is not received now shall not come later.
      const close = () => void reply.header('connection', 'close');
      if (!sendsTooMany && saysNoLength(request)) return upTo(payload, anonymousBodyBytes, close);
      close();
      throw new Unreceived(sendsTooMany ? 429 : 413);
    },
    preHandler: async (request) => {
      const text = documentIn(request);
      if (text !== null) documents.read(text, (cost) => payFor(options.work, rateLimitKey(request.ip), cost));
    },
    handler: async (request, reply) => {
      const answer = await apollo.executeHTTPGraphQLRequest({
        httpGraphQLRequest: asAsked(request),
        context: async () => contextOf(request, reply, options),
      });
      if (answer.body.kind !== 'complete') throw new Error('an answer in parts, which nobody can have asked for');
      return reply
        .code(answer.status ?? 200)
        .headers(Object.fromEntries(answer.headers))
        .send(answer.body.string);
    },
    // What cannot even be read is reported in GraphQL's form, without quoting it.
    errorHandler(error: FastifyError | GraphQLError | InvalidDocument | NotUtf8, _request, reply) {
      if (error instanceof InvalidDocument) {
        const errors = error.complaints.map((complaint) => answerFor(complaint, options.log));
        return reply.code(400).send({ errors });
      }
      if (error instanceof RequestRefused) {
        const { status, headers } = error.extensions.http as { status: number; headers: Map<string, string> };
        return reply
          .code(status)
          .headers(Object.fromEntries(headers))
          .send({ errors: [answerFor(error, options.log)] });
      }
      // Who asks could not be looked up.
      const { statusCode: status = isUnavailable(error) ? 503 : 500 } = error as FastifyError;
      if (status >= 500) {
        const { message, extensions } = answerFor(new GraphQLError('', { originalError: error }), options.log);
        return reply.code(status).send({ errors: [{ message, extensions }] });
      }
      const extensions = { code: 'BAD_REQUEST', kind: 'invalid' };
      const message =
        status === 413
          ? `The body is too large: at most ${maxBodyBytes} bytes, ${anonymousBodyBytes} of who is not signed in`
          : error instanceof NotUtf8
            ? error.message
            : 'The request cannot be read';
      return reply.code(status).send({ errors: [{ message, extensions }] });
    },
  });
}

/** The text of the one document of a request; null: none that could be read. */
function documentIn({ body, query }: FastifyRequest): string | null {
  const { query: text } = (body ?? query ?? {}) as { query?: unknown };
  return typeof text === 'string' && text !== '' ? text : null;
}

/** The request as the engine takes it. The address is not put together with `Host`, which may be anything. */
function asAsked({ method, url, headers, body }: FastifyRequest): HTTPGraphQLRequest {
  const given = new HeaderMap();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) given.set(name, Array.isArray(value) ? value.join(', ') : value);
  const start = url.indexOf('?');
  return {
    method: method === 'HEAD' ? 'GET' : method,
    headers: given,
    search: start < 0 ? '' : url.slice(start),
    body,
  };
}

/** A request that is refused before its body is. */
class Unreceived extends Error {
  constructor(readonly statusCode: number) {
    super('a body was not received');
  }
}

class NotUtf8 extends Error {
  readonly statusCode = 400;
  constructor() {
    super('The body is not UTF-8 text');
  }
}

/** Sent in chunks, as proxies do that pass on what they have not read whole. */
const saysNoLength = ({ headers }: FastifyRequest): boolean => headers['transfer-encoding'] !== undefined;

/** A body that does not say how long it is may be any. */
const mayBeLarge = (request: FastifyRequest): boolean =>
  saysNoLength(request) || Number(request.headers['content-length'] ?? 0) > anonymousBodyBytes;

/** The body, or 413 once it is larger than `max` bytes. */
function upTo(body: Readable, max: number, beyond: () => void): Readable {
  let received = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received <= max) return done(null, chunk);
      beyond();
      done(new Unreceived(413));
    },
  });
  return pipeline(body, counted, () => {});
}

const isKnown = async ({ headers }: FastifyRequest, { application }: GraphqlOptions): Promise<boolean> =>
  (await identify(application, sessionCredentialsIn(headers.authorization, headers.cookie))) !== null;

function openApollo(options: GraphqlOptions, documents: Documents): ApolloServer<GraphqlContext> {
  const { log } = options;
  return new ApolloServer<GraphqlContext>({
    schema: graphqlSchema(),
    // Nothing depends on the environment of the process.
    nodeEnv: 'production',
    // Whose question about the schema is answered is decided with each operation.
    introspection: true,
    hideSchemaDetailsFromClientErrors: true,
    csrfPrevention: { requestHeaders: [clientHeader] },
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: documentLimits.tokens },
    // The engine finds every document here: it was read before.
    documentStore: {
      get: async (key) => documents.known(key.slice(key.lastIndexOf(':') + 1)),
      set: async () => {},
      delete: async () => false,
    },
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    formatError: (_, error) =>
      answerFor(error instanceof GraphQLError ? error : new GraphQLError('', { originalError: asError(error) }), log),
    logger: {
      debug() {},
      info() {},
      warn: (message) => log.error({}, String(message)),
      error: (message) => log.error({}, String(message)),
    },
    plugins: [
      gatekeeper(options),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
    ],
  });
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const gatekeeper = (options: GraphqlOptions): ApolloServerPlugin<GraphqlContext> => ({
  requestDidStart: async () => ({
    async didResolveOperation({ document, operation, request, contextValue: { caller, address } }) {
      // An unknown name, or several operations and none: the engine says so and executes nothing.
      if (operation === undefined) return;
      if (operation.operation === 'subscription') throw new RequestRefused('subscription-over-http');
      const ownsUp = caller.credentials.kind === 'access-token' || request.http?.headers.has(clientHeader);
      if (operation.operation === 'mutation' && !ownsUp)
        throw new RequestRefused('client-header-missing', { header: clientHeader });
      const asked = { document, operation, variables: request.variables ?? {}, caller, address };
      await admit(asked, options).catch((error: unknown) => {
        throw notExecuted(error);
      });
    },
  }),
});

function contextOf(request: FastifyRequest, reply: FastifyReply, options: GraphqlOptions): GraphqlContext {
  const secure = request.protocol === 'https';
  let credentials = sessionCredentialsIn(request.headers.authorization, request.headers.cookie);
  const pendingSignIn = pendingSignInIn(request.headers.cookie);
  const visitor = visitorIn(request.headers.cookie);
  let user: Promise<UserView | null> | null = null;
  const caller: GraphqlCaller = {
    get credentials() {
      return credentials;
    },
    identified() {
      user ??= identifyFrom(options.application, credentials, request.ip);
      return user;
    },
  };
  void reply.header('cache-control', 'no-store');
  return contextFor(options, caller, request.ip, {
    address: request.ip,
    client: clientOf(request.ip, request.headers),
    site: options.origins.ownSite(request.raw),
    origin: request.headers.origin ?? null,
    pendingSignIn,
    visitor: {
      known: visitor,
      address: request.ip,
      remember() {
        const known = newVisitor();
        void reply.header('set-cookie', visitorCookie(known, secure));
        return known;
      },
    },
    signIn(signedIn, token) {
      void reply.header('set-cookie', openedSessionCookie(token, secure));
      if (pendingSignIn !== null) void reply.header('set-cookie', clearedPendingSignInCookie(secure));
      credentials = { kind: 'session', token };
      user = Promise.resolve(signedIn);
    },
    waitForSecondFactor(ticket) {
      void reply.header('set-cookie', pendingSignInCookie(ticket, secure));
    },
    signOut() {
      void reply.header('set-cookie', closedSessionCookie(secure));
      if (visitor !== null) void reply.header('set-cookie', forgottenVisitorCookie(secure));
      credentials = { kind: 'none' };
      user = null;
    },
  });
}
