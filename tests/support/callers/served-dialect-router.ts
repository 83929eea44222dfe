import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/adapters/clock.js';
import { type DialectRouterOptions, openDialectRouter } from '../../../src/relay/dialects/router.js';

/** The relay's entrance and nothing else, until the test is over; whatever is not the relay's is a teapot. */
export async function serveDialectRouter(
  options: Pick<DialectRouterOptions, 'relay' | 'directory' | 'providerName'> & Partial<DialectRouterOptions>,
): Promise<string> {
  let ids = 0;
  const entrance = openDialectRouter({
    newRequestId: () => `id-${++ids}`,
    addressOf: ({ socket }) => socket.remoteAddress ?? '',
    headers: ['x-on-all', 'yes'],
    vault: { hash: (secret) => secret },
    clock: systemClock,
    elsewhere: [],
    log: { warn() {}, error() {} },
    ...options,
  });
  const server = createServer((request, response) => {
    if (!entrance.take(request, response)) response.writeHead(418).end('not the relay’s');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
