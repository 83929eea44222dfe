import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/* An upstream that does what one test needs, where the simulated provider is too well-behaved. */

export interface UpstreamCall {
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Upstream {
  readonly url: string;
  stop(): Promise<void>;
}

/** `serve` gets each request once it has come whole, and answers or does not. */
export async function startUpstream(serve: (call: UpstreamCall, response: ServerResponse) => void): Promise<Upstream> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.once('end', () => serve({ url: request.url ?? '', headers: request.headers, body }, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
