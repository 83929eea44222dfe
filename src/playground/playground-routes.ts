import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Application } from '../application/application.js';
import type { UserView } from '../application/ports/storage-ports.js';
import { sessionTokenIn } from '../http/session-cookie.js';
import type { Endpoint } from '../relay/contracts/endpoint.js';
import { RelayError, refusalFor } from '../relay/contracts/errors.js';
import type { RelayLog } from '../relay/contracts/ports.js';
import { type Answering, refuse } from '../relay/delivery/refusal.js';
import { openAiCaller } from '../relay/dialects/openai/dialect.js';
import { chat } from '../relay/dialects/openai/endpoints/chat.js';
import type { Relay } from '../relay/pipeline/relay.js';
import { type SessionEnds, whenSessionEnds } from './session-ends.js';

/*
 * Calls that somebody makes in person, from a page of the console: the browser's session says who pays. All else is the
 * relay's, so a call is reserved, charged and logged as one by an API key is.
 */

interface PlaygroundOptions {
  readonly application: SessionEnds & { readonly identity: Pick<Application['identity'], 'bySessionEvenDisabled'> };
  readonly relay: Pick<Relay, 'handle'>;
  readonly newRequestId: () => string;
  /** Names of the headers that carry it. */
  readonly requestIdHeaders: readonly string[];
  readonly origins: { isForeign(request: IncomingMessage): boolean };
  /** Whether a client may ask once more. */
  readonly allowRequest: (client: string) => boolean;
  readonly log: Pick<RelayLog, 'warn' | 'error'>;
}

const playgroundPath = '/pg/chat/completions';

const conversation: Endpoint = { ...chat, path: playgroundPath };

const noQuery = new URLSearchParams();

/** What a form cannot be sent as: a page of another site would have to ask for permission. */
const json = /^application\/json *(?:;|$)/i;

const refused = (status: number, code: string, message: string): RelayError => new RelayError(status, code, message);

/** The token of the browser's session. Throws RelayError. */
function sessionIn({ headers }: FastifyRequest): string {
  const token = sessionTokenIn(headers.cookie);
  if (token !== null) return token;
  throw headers.authorization === undefined
    ? refused(401, 'not_signed_in', 'the playground is for who is signed in to the console')
    : refused(400, 'access_token_not_supported', 'the playground takes a session of the console, and no token');
}

/**
 * A page of another site can make a browser send its cookie, but neither of these headers: the console's own, and the
 * older one with the user's id.
 */
function checkOwnClient({ headers }: FastifyRequest, { id }: UserView): void {
  const claimed = headers['new-api-user'];
  if (claimed !== undefined && claimed !== String(id))
    throw refused(401, 'user_mismatch', 'the header New-Api-User names another user than the session');
  if (claimed === undefined && headers['x-tallygate-client'] === undefined)
    throw refused(401, 'client_header_missing', 'the header X-Tallygate-Client or New-Api-User is required');
}

export async function playgroundRoutes(app: FastifyInstance, options: PlaygroundOptions): Promise<void> {
  const { application, relay, newRequestId, requestIdHeaders, origins, allowRequest, log } = options;
  const { identity } = application;

  // The relay reads the body, once it knows who calls.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));

  const callerOf = async (request: FastifyRequest, token: string): Promise<UserView> => {
    const user = await identity.bySessionEvenDisabled(token);
    if (user === null) throw refused(401, 'not_signed_in', 'the session has ended; sign in again');
    checkOwnClient(request, user);
    return user;
  };

  const serve = async (request: FastifyRequest, answering: Answering): Promise<void> => {
    const { ip, headers, raw } = request;
    if (!allowRequest(ip)) throw refused(429, 'rate_limit_exceeded', 'too many requests from this address');
    if (origins.isForeign(raw)) throw refused(403, 'foreign_page', 'a page of another site may not call');
    if (!json.test(headers['content-type'] ?? ''))
      throw refused(415, 'unsupported_content_type', 'the content type must be application/json');
    const token = sessionIn(request);
    const inPerson = await callerOf(request, token);
    // Whose session ends has left: what was answered until then is charged as for any caller who leaves.
    const stopWatching = whenSessionEnds(application, token, inPerson.id, () => answering.response.destroy());
    try {
      const call = { ...answering, endpoint: conversation, model: null, query: noQuery, headers };
      await relay.handle({ ...call, inPerson, credential: null, ip, bodySource: raw });
    } finally {
      stopWatching();
    }
  };

  app.post(playgroundPath, async (request, reply) => {
    reply.hijack();
    const requestId = newRequestId();
    const head = requestIdHeaders.flatMap((name) => [name, requestId]);
    const answering = { requestId, response: reply.raw, head };
    try {
      await serve(request, answering);
    } catch (error) {
      refuse(answering, refusalFor(error, requestId, log), openAiCaller);
    }
  });
}
