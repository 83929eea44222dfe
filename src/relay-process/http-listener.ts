import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Log } from '../adapters/log.js';
import type { Config } from '../config.js';
import { settleClientAddress } from '../http/client-address.js';
import type { UpgradeRouter } from '../http/upgrade-router.js';
import { internalError, RelayError } from '../relay/contracts/errors.js';
import type { DialectRouter } from '../relay/dialects/router.js';

/* What listens: its limits of time, the headers of all answers, and that the relay is asked first. */

export interface HttpListenerOptions {
  readonly server: Pick<Config['server'], 'requestTimeoutMs' | 'hstsSeconds' | 'trustedProxies'>;
  readonly entrance: Pick<DialectRouter, 'take' | 'turnAway'>;
  /** Who takes upgrades, by path. */
  readonly upgrades: UpgradeRouter;
  /** The client behind a request. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly log: Pick<Log, 'error'>;
  /** Requests that come from now on are for another node. */
  readonly isEnding: () => boolean;
}

/** Headers are small: whoever needs longer for them is keeping a connection, not asking for anything. */
const maxForHeadersMs = 20_000;
/**
 * Longer than proxies keep theirs (Caddy two minutes), so that none sends a request into a connection that is being
 * ended. Whoever keeps them without an end is set to end them earlier.
 */
const keepAliveMs = 305_000;

const stopping = (): RelayError =>
  new RelayError(503, 'gateway_stopping', 'the gateway is stopping; try again shortly');

/** Of every answer, whoever gives it: names and values in turn. */
export const headersOfAll = ({ hstsSeconds }: Pick<Config['server'], 'hstsSeconds'>): readonly string[] =>
  hstsSeconds > 0
    ? [...noSniffing, 'strict-transport-security', `max-age=${hstsSeconds}; includeSubDomains`]
    : noSniffing;

/** Whatever an upstream called its answer: on this origin nothing of it may be a page. */
const noSniffing = ['x-content-type-options', 'nosniff'] as const;

const pairs = (headers: readonly string[]): [string, string][] =>
  headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : []));

/** `others` answers what is not the relay's. */
export function httpListener(
  { server, entrance, upgrades, addressOf, log, isEnding }: HttpListenerOptions,
  others: RequestListener,
): Server {
  const { requestTimeoutMs, trustedProxies } = server;
  const headers = pairs(headersOfAll(server));
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(maxForHeadersMs, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(5_000, requestTimeoutMs / 2),
    keepAliveTimeout: keepAliveMs,
  };
  const listener = createServer(limits, (request: IncomingMessage, response: ServerResponse) => {
    // On a connection that was kept alive: the next request shall find another node, or nobody.
    if (isEnding()) return entrance.turnAway(response, stopping(), true);
    if (entrance.take(request, response)) return;
    for (const [name, value] of headers) response.setHeader(name, value);
    try {
      settleClientAddress(request, trustedProxies, addressOf);
      others(request, response);
    } catch (error) {
      // What fails on the way to a face ends this request, and not the process with all others.
      const seen = error instanceof Error ? error.stack : String(error);
      log.error({ error: seen }, 'a request failed before it reached a face');
      entrance.turnAway(response, internalError());
    }
  });
  upgrades.listenTo(listener);
  return listener;
}
