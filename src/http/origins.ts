import type { IncomingMessage } from 'node:http';
import { urlIn } from '../domain/kernel/address.js';
import { addressList } from './client-address.js';
import { ipAddress } from './ip-address.js';

/* Whose page asks, and from where: one judgement for every face that a browser's cookie can open. */

export interface Origins {
  /**
   * A browser asks on behalf of a page that is not ours. It says so itself, or names the page's origin, which is then
   * held against the host it believes to talk to. Programs say nothing of the kind.
   */
  isForeign(request: IncomingMessage): boolean;
  /** The origin of the page that asks, where it is ours by the same measure; null: the request names none, or another. */
  ownSite(request: IncomingMessage): { readonly origin: string } | null;
}

export interface OriginsOptions {
  /** Addresses and ranges whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[];
  /** The address the operator says the gateway has; '' when it says none. */
  readonly publicAddress: () => string;
}

const hostOf = (address: string): string | null => urlIn(address)?.host ?? null;

const lastOf = (header: string | string[] | undefined): string | undefined =>
  (Array.isArray(header) ? header.at(-1) : header)?.split(',').at(-1)?.trim();

export function origins({ trustedProxies, publicAddress }: OriginsOptions): Origins {
  const trusts = addressList(trustedProxies);
  const isTrusted = (peer: string): boolean => trusts(ipAddress(peer) ?? '');

  /** The host the client believes to talk to. */
  const askedHost = ({ headers, socket: { remoteAddress = '' } }: IncomingMessage): string | undefined => {
    const forwarded = lastOf(headers['x-forwarded-host']);
    return forwarded !== undefined && isTrusted(remoteAddress) ? forwarded : headers.host;
  };

  /** A page of the host that was asked, or of the address the gateway is said to have. */
  const isOurs = (request: IncomingMessage, origin: string): boolean => {
    const host = hostOf(origin);
    return host !== null && (host === askedHost(request)?.toLowerCase() || host === hostOf(publicAddress()));
  };

  return {
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
  };
}
