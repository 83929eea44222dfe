import type { NoRoom } from '../../../../http/body-room.js';
import { RelayError } from '../../../contracts/errors.js';

/* Why a WebSocket is not opened, or takes no more. Agents take 426 for a request to use HTTP, and give up at 429. */

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

const again = 'try again shortly';

/** For a message. `address`: too many of its sender's are unfinished. */
export const noRoomForMessage = (why: NoRoom | 'address'): RelayError =>
  why === 'process'
    ? new RelayError(503, 'request_bodies_exhausted', `the gateway holds as many request bodies as it can; ${again}`)
    : new RelayError(
        429,
        'too_many_request_bodies',
        `too many large or unfinished requests of yours at once; ${again}`,
      );
