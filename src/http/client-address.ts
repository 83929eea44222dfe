import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';

/** The client behind a request: the peer, or whom a trusted proxy names, as the web framework finds it. */
export function clientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  // One whose connection is gone has no address, and nobody will answer it.
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? '';
  const trust = proxyAddress.compile([...trustedProxies]);
  return (request) => proxyAddress(request, trust);
}
