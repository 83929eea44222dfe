import { RelayError } from '../../../contracts/errors.js';

/* Why nobody gets a WebSocket here. Agents take 426 for a request to use HTTP, and give up at 429. */

const overHttp = (code: string, why: string): RelayError =>
  new RelayError(426, code, `${why}; send the same request to this address over HTTP, by POST`, {
    shouldRetry: false,
  });

export const switchedOff = (): RelayError => overHttp('websocket_disabled', 'WebSockets are switched off here');

export const tooMany = (): RelayError =>
  overHttp('websocket_connection_limit_reached', 'as many WebSockets are open as may be at once');

/** A GET: of a client that wants none, or behind a proxy that passes no upgrade on. */
export const notUpgraded = (): RelayError =>
  overHttp('upgrade_required', 'GET is for WebSockets, and no upgrade came with it');

export const stopping = (): RelayError =>
  new RelayError(503, 'gateway_stopping', 'the gateway is stopping; try again shortly');
