import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4 } from 'node:net';
import { forwardedAddress, ipAddress, ipNetwork } from './ip-address.js';

/*
 * The client behind a request: the peer, or whom a trusted proxy names in `X-Forwarded-For`. Every element of that header
 * is read as an address before anything is done with it, whatever port, bracket or quote a proxy writes around it.
 */

/** What shows that a trusted proxy passes on a header of its client's instead of writing its own. */
export type ProxyDoubt = 'no-header' | 'no-address';

export type ReportDoubt = (proxy: string, doubt: ProxyDoubt) => void;

const nobody: ReportDoubt = () => {};

const plain = (peer: string | undefined): string => ipAddress(peer ?? '') ?? '';

/** What asks whether the gateway is there, and may be the proxy itself. */
const isProbe = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'OPTIONS' || url === '/' || url.startsWith('/api/status');

/** Of addresses that `ipAddress` has read. */
export function addressList(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of networks) {
    const network = ipNetwork(text);
    if (network !== null) list.addSubnet(network.address, network.bits, network.family);
  }
  return (address) => address !== '' && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/**
 * The client's address in its one spelling; '' for one whose connection is gone. What is no address ends the chain: the
 * request then counts as the last one's that was named.
 */
export function clientAddress(
  trustedProxies: readonly string[],
  report: ReportDoubt = nobody,
): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => plain(socket.remoteAddress);
  const isTrusted = addressList(trustedProxies);
  return (request) => {
    const { headers, socket } = request;
    const peer = plain(socket.remoteAddress);
    if (!isTrusted(peer)) return peer;
    const named = headers['x-forwarded-for'];
    if (typeof named !== 'string') {
      if (!isProbe(request)) report(peer, 'no-header');
      return peer;
    }
    let client = peer;
    for (const element of named.split(',').reverse()) {
      const address = forwardedAddress(element);
      if (address === null) {
        // A proxy that writes the header ends it with an address.
        if (client === peer) report(peer, 'no-address');
        break;
      }
      client = address;
      if (!isTrusted(address)) break;
    }
    return client;
  };
}

/**
 * Makes whatever reads a request afterwards find the same client by the same headers: the web framework compares and
 * returns texts as they came.
 */
export function settleClientAddress(
  request: IncomingMessage,
  trustedProxies: readonly string[],
  addressOf: (request: IncomingMessage) => string,
): void {
  const { socket, headers } = request;
  if (trustedProxies.length > 0 && headers['x-forwarded-for'] !== undefined)
    headers['x-forwarded-for'] = addressOf(request);
  const peer = plain(socket.remoteAddress);
  if (peer !== socket.remoteAddress)
    Object.defineProperty(socket, 'remoteAddress', { value: peer, configurable: true });
}
