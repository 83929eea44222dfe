import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from './application/ports.js';
import { requestId } from './application/request-id.js';
import type { Config } from './config.js';
import { turnAway } from './relay/callers/openai/routes.js';
import { RelayError } from './relay/errors.js';

/* The port: how a request gets as far as a face. */

export interface ServerPorts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Requests that come from now on are for another node. */
  readonly isEnding: () => boolean;
}

export interface Server {
  readonly app: FastifyInstance;
  /** Every path it answers; grows as faces are added. */
  readonly routes: readonly { readonly method: string; readonly url: string }[];
}

/** Headers are small: whoever needs longer for them is keeping a connection, not asking for anything. */
const mostForHeadersMs = 20_000;

const timeLimits = (requestTimeoutMs: number) => ({
  headersTimeout: Math.min(mostForHeadersMs, requestTimeoutMs),
  connectionsCheckingInterval: Math.min(5_000, requestTimeoutMs / 2),
});

export function openServer(server: Config['server'], { clock, log, isEnding }: ServerPorts): Server {
  const app = Fastify({
    // Whatever it says of itself is said better elsewhere; its warnings are wanted.
    loggerInstance: log.child({}, { level: log.isLevelEnabled('debug') ? log.level : 'warn' }) as never,
    logController: new LogController({ disableRequestLogging: true }),
    // Every line about a request names its id; a logger per request would only cost.
    childLoggerFactory: (logger) => logger,
    trustProxy: server.trustedProxies.length > 0 ? [...server.trustedProxies] : false,
    bodyLimit: server.maxBodyBytes,
    requestTimeout: server.requestTimeoutMs,
    http: timeLimits(server.requestTimeoutMs),
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: false },
    // The router's own answer repeats the address it cannot read, and an address may carry a key.
    frameworkErrors: (_error, _request, reply) => {
      const id = requestId(clock.now());
      reply.hijack();
      turnAway(reply, id, new RelayError(400, '', 'the address cannot be read', 'invalid_request_error'));
    },
  }) as unknown as FastifyInstance;
  app.addHook('onRequest', (_request, reply, next) => {
    if (!isEnding()) return next();
    const id = requestId(clock.now());
    reply.hijack();
    // On a connection that was kept alive: the next request shall find another node, or nobody.
    reply.raw.setHeader('connection', 'close');
    turnAway(reply, id, new RelayError(503, 'gateway_stopping', 'the gateway is stopping; try again shortly'));
  });
  const routes: { method: string; url: string }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, url });
  });
  return { app, routes };
}

/** Where it can be reached from this machine, once it listens. */
export function addressOf(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
