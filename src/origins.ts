import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { urlIn } from './domain/address.js';

/* Whose page asks, and from where: one judgement for every face that a browser's cookie can open. */

export interface Origins {
  /** The gateway listens on this machine's own addresses only. */
  readonly isLoopbackOnly: boolean;
  /**
   * A browser asks on behalf of a page that is not ours. It says so itself, or names the page's origin, which is then
   * held against the host it believes to talk to. Programs say nothing of the kind.
   */
  isForeign(request: IncomingMessage): boolean;
  /** The origin of the page that asks, where it is ours by the same measure; null: the request names none, or another. */
  ownSite(request: IncomingMessage): { readonly origin: string } | null;
  /**
   * Who asks sits at this machine: the gateway listens on loopback only, was called by such a name, and nobody passed
   * the request on. A page that has made its own name mean this machine fails by that name.
   */
  isLocal(request: IncomingMessage): boolean;
}

export interface OriginsOptions {
  /** Where the gateway listens. */
  readonly host: string;
  /** Addresses and ranges whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[];
  /** The address the operator says the gateway has; '' when it says none. */
  readonly publicAddress: () => string;
}

const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

const hostOf = (address: string): string | null => urlIn(address)?.host ?? null;

/** A name or address that can only mean this machine. */
const isLoopback = (name: string): boolean => {
  const plain = name.toLowerCase().replace(/^\[|\]$/g, '');
  return plain === 'localhost' || plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
};

const lastOf = (header: string | string[] | undefined): string | undefined =>
  (Array.isArray(header) ? header.at(-1) : header)?.split(',').at(-1)?.trim();

export function origins({ host, trustedProxies, publicAddress }: OriginsOptions): Origins {
  const proxies = new BlockList();
  for (const network of trustedProxies) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }

  const isTrusted = (peer: string): boolean => proxies.check(peer, isIP(peer) === 4 ? 'ipv4' : 'ipv6');

  /** The host the client believes to talk to. */
  const askedHost = ({ headers, socket: { remoteAddress = '' } }: IncomingMessage): string | undefined => {
    const forwarded = lastOf(headers['x-forwarded-host']);
    return forwarded !== undefined && isIP(remoteAddress) !== 0 && isTrusted(remoteAddress) ? forwarded : headers.host;
  };

  /** A page of the host that was asked, or of the address the gateway is said to have. */
  const isOurs = (request: IncomingMessage, origin: string): boolean => {
    const asking = hostOf(origin);
    return asking !== null && (asking === askedHost(request)?.toLowerCase() || asking === hostOf(publicAddress()));
  };

  const isLoopbackOnly = isLoopback(host);
  return {
    isLoopbackOnly,
    isForeign(request) {
      const { origin, 'sec-fetch-site': site } = request.headers;
      // The browser has compared for us, and knows the names on its side of any proxy.
      if (site === 'same-origin') return false;
      if (site !== undefined && site !== 'none') return true;
      return origin !== undefined && !isOurs(request, origin);
    },
    ownSite(request) {
      const { origin } = request.headers;
      return origin !== undefined && isOurs(request, origin) ? { origin } : null;
    },
    isLocal({ headers }) {
      if (!isLoopbackOnly || forwarding.some((name) => headers[name] !== undefined)) return false;
      const asked = hostOf(`http://${headers.host ?? ''}`);
      return asked !== null && isLoopback(asked.replace(/:\d+$/, ''));
    },
  };
}
