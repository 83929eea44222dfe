import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.js';
import { UpgradeRouter } from '../http/upgrade-router.js';
import { RelayError } from '../relay/contracts/errors.js';
import type { DialectRouter } from '../relay/dialects/router.js';
import { preloadTokenizers } from '../relay/text/tokens.js';
import { type HttpListenerOptions, httpListener } from '../relay-process/http-listener.js';

/* The port: how a request gets as far as a face. */

interface ServerPorts extends Pick<HttpListenerOptions, 'isEnding' | 'addressOf'> {
  readonly entrance: DialectRouter;
  readonly log: Logger;
}

export interface Server {
  /** Of every face but the relay. */
  readonly app: FastifyInstance;
  /** Every path it answers; grows as faces are added. */
  readonly routes: readonly { readonly method: string; readonly url: string }[];
  /** Faces own paths of it. */
  readonly upgrades: UpgradeRouter;
}

export function openServer(server: Config['server'], ports: ServerPorts): Server {
  const { entrance, log } = ports;
  const upgrades = new UpgradeRouter((error) => log.error({ err: error }, 'an upgrade failed'));
  const app = Fastify({
    serverFactory: (others) => httpListener({ server, upgrades, ...ports }, others),
    // Whatever it says of itself is said better elsewhere; its warnings are wanted.
    loggerInstance: log.child({}, { level: log.isLevelEnabled('debug') ? log.level : 'warn' }) as never,
    logController: new LogController({ disableRequestLogging: true }),
    // Every line about a request names its id; a logger per request would only cost.
    childLoggerFactory: (logger) => logger,
    trustProxy: server.trustedProxies.length > 0 ? [...server.trustedProxies] : false,
    bodyLimit: server.maxBodyBytes,
    forceCloseConnections: true,
    // A machine that is busy starts slowly, and that is all.
    pluginTimeout: 0,
    routerOptions: { ignoreTrailingSlash: false },
    // The router's own answer repeats the address it cannot read, and an address may carry a key.
    frameworkErrors: (_error, _request, reply) => {
      reply.hijack();
      const unreadable = new RelayError(400, '', 'the address cannot be read', { type: 'invalid_request_error' });
      entrance.turnAway(reply.raw, unreadable);
    },
  }) as unknown as FastifyInstance;
  const routes: { method: string; url: string }[] = [...entrance.routes];
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, url });
  });
  return { app, routes, upgrades };
}

/** Resolves with the port. */
export async function listenOn(app: FastifyInstance, { host, port }: Config['server']): Promise<number> {
  await app.listen({ host, port });
  // Nobody waits for the tables now; the first call would.
  setImmediate(preloadTokenizers);
  return (app.server.address() as AddressInfo).port;
}

/** Where a port can be reached from this machine. */
export function addressOf(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
