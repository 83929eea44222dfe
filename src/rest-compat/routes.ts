import fastifyCompress from '@fastify/compress';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Application } from '../application/application.js';
import { Failure } from '../domain/kernel/failure.js';
import type { Instant } from '../domain/kernel/instant.js';
import { type BodyRoom, countUnfinished } from '../http/body-room.js';
import { requestLimit } from '../rate-limit/request-limit.js';
import { type BillingEndpointOptions, billingRoutes } from './billing.js';
import { channelEndpoints } from './channel.js';
import { channelBulkEndpoints } from './channel-bulk.js';
import { channelModelsEndpoints } from './channel-models.js';
import { dataEndpoints } from './data.js';
import { logEndpoints } from './log.js';
import { modelEndpoints } from './model.js';
import { oauthEndpoints } from './oauth.js';
import { optionEndpoints } from './option.js';
import { pricingEndpoints } from './pricing.js';
import { redemptionEndpoints } from './redemption.js';
import { registrationEndpoints } from './registration.js';
import { setupEndpoints } from './setup.js';
import { shownQuota } from './shown-quota.js';
import { statusEndpoints } from './status.js';
import { taskEndpoints } from './tasks.js';
import { tokenEndpoints } from './token.js';
import { topUpEndpoints } from './top-up.js';
import { userEndpoints } from './user.js';
import { userAdminEndpoints } from './user-admin.js';
import { isForm, isJsonOrNone, isOrder } from './wire/cross-site.js';
import { type EndpointOptions, endpointsOn, takesForm } from './wire/endpoints.js';
import { failure } from './wire/envelope.js';
import { badParameter, errorObject, ForeignPage, RestRefusal, refusalAnswer } from './wire/errors.js';
import { type RateLimits, TooManyRequests } from './wire/rate-limits.js';

/* The legacy contract over HTTP: `/api`, and the billing endpoints of OpenAI's old dashboard. */

interface RestOptions extends BillingEndpointOptions {
  readonly application: Application;
  readonly newRequestId: () => string;
  readonly startedAt: Instant;
  readonly version: string;
  readonly databaseType: 'postgres';
  readonly bodyRoom: BodyRoom;
  readonly rateLimits: RateLimits;
  /** Whether one more guess at an account is allowed from this address; counts it. All faces share the count. */
  readonly allowAttempt: (clientAddress: string) => boolean;
  readonly origins: EndpointOptions['origins'];
  /** Whether an API key with these allowed addresses may be used from the address. */
  readonly allowsAddress: (address: string, allowed: readonly string[]) => boolean;
  /** Whether the database answers. */
  readonly ping: () => Promise<boolean>;
}

/** The largest thing anybody saves is a price table. */
const maxBodyBytes = 4 * 1024 * 1024;

const notJson = '请求体必须是 JSON（Content-Type: application/json）';
const bodyTooLarge = '请求体过大';

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof TooManyRequests) return reply.status(429).send();
  if (error instanceof Failure && error.code === 'too-many-attempts')
    return reply.status(429).header('retry-after', error.details.seconds).send();
  const refused = refusalAnswer(error);
  if (refused !== null) return reply.status(refused.status).send(refused.body);
  const { statusCode = 500 } = error as { statusCode?: number };
  if (statusCode === 413) return reply.status(413).send(failure(bodyTooLarge));
  if (statusCode < 500) return reply.status(statusCode).send(failure(badParameter));
  request.log.error({ err: error, requestId: request.id }, 'a request to the legacy interface failed');
  const message = `internal error (request id: ${request.id})`;
  return reply.status(500).send(errorObject(message, 'gateway_panic'));
}

/** Asked with every status; once the answer is yes it stays yes. */
function rememberSetUp(isDone: () => Promise<boolean>): () => Promise<boolean> {
  let done = false;
  return async () => {
    done ||= await isDone();
    return done;
  };
}

export async function restRoutes(app: FastifyInstance, options: RestOptions): Promise<void> {
  const { application, newRequestId, rateLimits, allowAttempt, origins } = options;
  const { clock } = application;
  const apiLimit = requestLimit(rateLimits.api, clock);
  const webLimit = requestLimit(rateLimits.web, clock);

  await app.register(fastifyCompress, { encodings: ['gzip'], threshold: 0, globalDecompression: false });

  app.removeAllContentTypeParsers();
  // Clients mean JSON whatever they call it; how a body that is none is answered differs by endpoint.
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) =>
    done(null, body),
  );

  app.addHook('onRequest', async (request, reply) => {
    request.id = newRequestId();
    reply.headers({
      'x-request-id': request.id,
      'x-oneapi-request-id': request.id,
      'cache-control': 'no-store',
    });
    if (!(request.is404 ? webLimit : apiLimit)(request.ip)) throw new TooManyRequests();
    if (!isOrder(request)) return;
    if (origins.isForeign(request.raw)) throw new ForeignPage();
    if (!isJsonOrNone(request) && !(takesForm(request) && isForm(request))) throw new RestRefusal(notJson, 415);
  });
  app.addHook('preParsing', async (request, reply) => {
    if (!countUnfinished(options.bodyRoom, reply.raw, request.ip)) throw new TooManyRequests();
  });
  app.setErrorHandler(answerError);

  const isSetUp = rememberSetUp(() => application.setup.isDone());

  const api = async (scope: FastifyInstance): Promise<void> => {
    const endpoints = endpointsOn(scope, { ...application, allowAttempt, origins });
    setupEndpoints(endpoints, application, { databaseType: options.databaseType, isSetUp });
    statusEndpoints(endpoints, application, { ...options, isSetUp });
    userEndpoints(endpoints, application);
    registrationEndpoints(endpoints, application);
    oauthEndpoints(endpoints, application);
    topUpEndpoints(endpoints, application);
    const shown = shownQuota();
    userAdminEndpoints(endpoints, application, shown);
    tokenEndpoints(endpoints, application, shown);
    redemptionEndpoints(endpoints, application);
    channelEndpoints(endpoints, application);
    channelBulkEndpoints(endpoints, application);
    channelModelsEndpoints(endpoints, application);
    modelEndpoints(endpoints, application);
    pricingEndpoints(endpoints, application);
    optionEndpoints(endpoints, application);
    logEndpoints(endpoints, application, options);
    dataEndpoints(endpoints, application);
    taskEndpoints(endpoints, application);

    // Pages of other origins have nothing to do here; what they may read with an API key says so itself.
    scope.options('/*', (_request, reply) => reply.status(204).send());
    scope.setNotFoundHandler((request, reply) => {
      const path = request.url.split('?', 1)[0];
      return reply.status(404).send(errorObject(`Invalid URL (${request.method} ${path})`, 'invalid_request_error'));
    });
  };

  await app.register(api, { prefix: '/api' });
  await app.register(billingRoutes, options);
}
