import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Config } from './config.js';
import type { Entrance } from './relay/callers/entrance.js';
import { RelayError } from './relay/errors.js';

/* What listens: its limits of time, the headers of all answers, and that the relay is asked first. */

export interface ListeningOptions {
  readonly server: Pick<Config['server'], 'requestTimeoutMs' | 'hstsSeconds'>;
  readonly entrance: Pick<Entrance, 'take' | 'turnAway'>;
  /** Requests that come from now on are for another node. */
  readonly isEnding: () => boolean;
}

/** Headers are small: whoever needs longer for them is keeping a connection, not asking for anything. */
const mostForHeadersMs = 20_000;
/** Longer than proxies keep theirs, so that none sends a request into a connection that is being ended. */
const keepAliveMs = 72_000;

const stopping = (): RelayError =>
  new RelayError(503, 'gateway_stopping', 'the gateway is stopping; try again shortly');

/** `others` answers what is not the relay's. */
export function listening({ server, entrance, isEnding }: ListeningOptions, others: RequestListener): Server {
  const { requestTimeoutMs, hstsSeconds } = server;
  const strict = hstsSeconds > 0 ? `max-age=${hstsSeconds}; includeSubDomains` : null;
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(mostForHeadersMs, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(5_000, requestTimeoutMs / 2),
    keepAliveTimeout: keepAliveMs,
  };
  return createServer(limits, (request: IncomingMessage, response: ServerResponse) => {
    // Ahead of every face, so that no answer, however it is written, is without them.
    response.setHeader('x-content-type-options', 'nosniff');
    if (strict !== null) response.setHeader('strict-transport-security', strict);
    if (isEnding()) {
      // On a connection that was kept alive: the next request shall find another node, or nobody.
      response.setHeader('connection', 'close');
      entrance.turnAway(response, stopping());
    } else if (!entrance.take(request, response)) others(request, response);
  });
}
