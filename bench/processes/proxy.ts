import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { answerParent } from './child.js';

/*
 * The yardstick: what a gateway in Node costs that does nothing but pass bytes on. Kept-alive connections both ways,
 * nothing parsed, nothing buffered.
 */

export interface ProxyQuestion {
  /** Where every request goes, path and all. */
  readonly upstream: string;
}

export interface ProxyAnswer {
  readonly url: string;
}

answerParent<ProxyQuestion, ProxyAnswer>(async ({ upstream }) => {
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = request({ agent, hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, outgoing, () => {});
    });
    onward.once('error', () => outgoing.destroy());
    pipeline(incoming, onward, () => {});
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
});
