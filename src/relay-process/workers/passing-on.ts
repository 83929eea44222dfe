import { Agent, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyServer } from 'httpxy';
import { destroyOnceEnded, type UpgradeHandler } from '../../http/upgrade-router.js';

/*
 * What is not the relay's goes from the worker that got it to the process that serves the faces, over a socket only they
 * can open. The client's address goes with it, so that everything there reads it as if the client had come itself.
 */

/** Clients that send it themselves are not believed: the worker sets it anew. */
const clientHeader = 'x-tallygate-passed-from';

const clientOf = ({ socket }: IncomingMessage) => ({ [clientHeader]: socket.remoteAddress ?? '' });

interface PassingOn {
  readonly listener: RequestListener;
  readonly upgrade: UpgradeHandler;
}

/** In a worker. `path`: of the socket. */
export function passingOn(path: string): PassingOn {
  // A connection for each request: one that has been used may be closed just as it is used again.
  const agent = new Agent({ keepAlive: true });
  agent.maxFreeSockets = 0;
  const proxy = createProxyServer({ target: { socketPath: path }, agent });
  // A client that has left, or a primary that is gone; and then this process ends, too.
  proxy.on('error', (_error, _request, response) => void response?.destroy());
  return {
    listener: (request, response) => void proxy.web(request, response, { headers: clientOf(request) }),
    upgrade(request, socket, head) {
      // The primary may refuse it, and then nobody reads what the client still sends.
      destroyOnceEnded(socket);
      void proxy.ws(request, socket as Socket, { headers: clientOf(request) }, head);
    },
  };
}

/** Where the faces are served: the peer of a request that was passed on is the client's. */
export function takePassedOn(server: Server): void {
  const restoreClient = (request: IncomingMessage): void => {
    const address = request.headers[clientHeader];
    delete request.headers[clientHeader];
    Object.defineProperty(request.socket, 'remoteAddress', { value: address, configurable: true });
  };
  server.prependListener('request', restoreClient);
  server.prependListener('upgrade', restoreClient);
}
