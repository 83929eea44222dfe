import { isIPv4 } from 'node:net';
import { groupsOf, ipAddress } from './ip-address.js';

/*
 * Where a client is, for counting. One IPv4 address is one network; of IPv6, a subscriber has at least the 64 bits behind
 * the first 64, so those are one network.
 */

/**
 * The network around a client address, for lists that people read: the first 24 bits of IPv4, 48 of IPv6. Empty: the
 * text is no address.
 */
export function clientNetwork(address: string): string {
  const network = rateLimitKey(address);
  if (isIPv4(network)) return `${network.slice(0, network.lastIndexOf('.'))}.0/24`;
  const groups = groupsOf(address);
  if (groups === null) return '';
  const first = groups.slice(0, 3).map((group) => group.toString(16));
  return `${first.join(':')}::/48`;
}

/** The network that a client address counts as; text that is no address counts as itself. */
export function rateLimitKey(address: string): string {
  if (isIPv4(address)) return address;
  const plain = ipAddress(address);
  if (plain === null) return address;
  if (isIPv4(plain)) return plain;
  const groups = groupsOf(plain) ?? [];
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
