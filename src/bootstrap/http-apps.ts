import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Application } from '../application/application.js';
import { requestId } from '../application/request-id.js';
import type { Config } from '../config.js';
import type { Instant } from '../domain/kernel/instant.js';
import { exportRoutes } from '../exports/export-routes.js';
import { attachSubscriptions } from '../graphql/live/subscriptions.js';
import { graphqlRoutes } from '../graphql/server/routes.js';
import type { BodyRoom } from '../http/body-room.js';
import type { Origins } from '../http/origins.js';
import type { UpgradeRouter } from '../http/upgrade-router.js';
import { playgroundRoutes } from '../playground/playground-routes.js';
import { requestLimit } from '../rate-limit/request-limit.js';
import { TokenBuckets } from '../rate-limit/token-bucket.js';
import { isAllowed } from '../relay/admission/ip-allow-list.js';
import { readCredential } from '../relay/dialects/openai/credential.js';
import { requestIdHeaders } from '../relay/dialects/router.js';
import type { Relay } from '../relay/pipeline/relay.js';
import { restRoutes } from '../rest-compat/routes.js';
import { serveConsole } from './console-files.js';

/* The faces beside the relay on one port: GraphQL, legacy REST, files to be saved, the playground, and the console. */

interface FacesOptions {
  readonly application: Application;
  readonly relay: Pick<Relay, 'identify' | 'handle'>;
  /** What holds of the bodies of the relay holds for how many are being sent to the others, too. */
  readonly bodyRoom: BodyRoom;
  /** The client behind a request that is not the web framework's. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Of the port that the faces share. */
  readonly upgrades: UpgradeRouter;
  readonly config: Config;
  readonly origins: Origins;
  readonly startedAt: Instant;
  readonly version: string;
  readonly log: Logger;
  /** Asks the database whether it is there. */
  readonly ping: () => Promise<unknown>;
}

export async function serveHttpApps(app: FastifyInstance, options: FacesOptions): Promise<void> {
  const { application, relay, bodyRoom, addressOf, upgrades, config, origins, log, startedAt, version, ping } = options;
  const { rateLimits } = config.server;
  const newRequestId = () => requestId(application.clock.now());

  // One count for everything that guesses at accounts, whichever face it comes through.
  const allowAttempt = requestLimit(rateLimits.critical, application.clock);
  const graphql = {
    application,
    version,
    startedAt,
    bodyRoom,
    work: new TokenBuckets({ perMinute: config.graphql.costPerMinute }, application.clock),
    addressOf,
    limits: { depth: config.graphql.maxDepth, cost: config.graphql.maxCost },
    openIntrospection: false,
    allowAttempt,
    origins,
    log,
  };
  await app.register(graphqlRoutes, graphql);
  const endSubscriptions = attachSubscriptions(upgrades, graphql);
  app.addHook('preClose', () => endSubscriptions());

  await app.register(restRoutes, {
    application,
    newRequestId,
    startedAt,
    version,
    databaseType: 'postgres',
    bodyRoom,
    rateLimits,
    allowAttempt,
    origins,
    ping: () =>
      ping().then(
        () => true,
        () => false,
      ),
    allowsAddress: isAllowed,
    identifyApiKey: ({ path, headers, query, ip }) =>
      relay.identify({ credential: readCredential(path, headers, query), ip }),
  });

  await app.register(exportRoutes, {
    application,
    newRequestId,
    origins,
    allowRequest: requestLimit(rateLimits.api, application.clock),
  });

  await app.register(playgroundRoutes, {
    application,
    relay,
    newRequestId,
    requestIdHeaders,
    origins,
    allowRequest: requestLimit(rateLimits.api, application.clock),
    log,
  });

  const pages = await serveConsole(app, () => {
    const { humanCheck, telegram } = application.queries.signInMethods();
    const paymentOrigin = application.queries.paymentOrigin();
    return { turnstile: humanCheck !== null, telegram: telegram !== null, paymentOrigin };
  });
  app.setNotFoundHandler((request, reply) => {
    const id = newRequestId();
    for (const name of requestIdHeaders) reply.raw.setHeader(name, id);
    const page = pages.answer(request, reply);
    if (page !== null) return page;
    const message = `Invalid URL (${request.method} ${request.url.split('?', 1)[0]})`;
    return reply
      .status(404)
      .header('cache-control', 'no-store')
      .send({ error: { message, type: 'invalid_request_error', param: '', code: '' } });
  });
}
