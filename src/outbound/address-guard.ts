import { lookup as resolveName } from 'node:dns/promises';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { ipAddress, ipNetwork } from '../http/ip-address.js';

/*
 * Whoever may set up channels, or name a webhook, chooses where the gateway connects to, and the gateway stands inside:
 * next to databases, and to the address where clouds hand out credentials. Behind this guard only addresses of the public
 * internet are dialled, and exactly those that were looked at: a name is resolved once.
 */

export interface AddressGuard {
  /** Resolves with nothing; rejects with BlockedAddress. For connections that somebody else makes for us. */
  check(hostname: string): Promise<void>;
  /** Resolves names, to allowed addresses only. It is not asked for a host that is an address: `check` is. */
  readonly lookup: LookupFunction;
  /** Connections that go to allowed addresses only. `open` makes one with the given way to resolve names. */
  guarded(open: (lookup: LookupFunction) => buildConnector.connector): buildConnector.connector;
}

export type Resolve = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

/** As the machine resolves names. */
export const resolveBySystem: Resolve = (hostname) => resolveName(hostname, { all: true });

/** The host is, or resolves to, an address that must not be dialled. */
export class BlockedAddress extends Error {
  constructor() {
    super('the address is not allowed');
    this.name = 'BlockedAddress';
  }
}

const networksIn = (texts: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const text of texts) {
    const network = ipNetwork(text);
    if (network !== null) list.addSubnet(network.address, network.bits, network.family);
  }
  return list;
};

/** Everything that is not of the public internet: private, shared, local, documentation, group and reserved. */
const closedIPv4 = networksIn([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]);

/** Of IPv6 only this is public at all, and not what stands for something else: tunnels, translations, documentation. */
const openIPv6 = networksIn(['2000::/3']);
const closedIPv6 = networksIn(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

const isIn = (list: BlockList, address: string): boolean => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

/** Whether an address, not a name, is one of the public internet. */
export function isPublic(text: string): boolean {
  const address = ipAddress(text);
  if (address === null) return false;
  if (isIPv4(address)) return !isIn(closedIPv4, address);
  return isIn(openIPv6, address) && !isIn(closedIPv6, address);
}

/** `allowed`: addresses and CIDR ranges that may be dialled although they are not public. */
export function addressGuard(allowed: readonly string[], resolve: Resolve): AddressGuard {
  const exempt = networksIn(allowed);
  const permits = (text: string): boolean => {
    const address = ipAddress(text);
    return address !== null && (isPublic(address) || isIn(exempt, address));
  };

  const literalIn = (hostname: string): string | null => {
    const bare = hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(bare) === 0 ? null : bare;
  };

  /** One address that must not be dialled spoils all: nobody mixes them without intent. */
  const resolved: Resolve = async (hostname) => {
    const addresses = await resolve(hostname);
    if (addresses.length === 0 || !addresses.every(({ address }) => permits(address))) throw new BlockedAddress();
    return addresses;
  };

  const lookup: LookupFunction = (hostname, options, callback) => {
    resolved(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: Error) => callback(error, ''),
    );
  };

  return {
    lookup,
    async check(hostname) {
      const literal = literalIn(hostname);
      if (literal === null) await resolved(hostname);
      else if (!permits(literal)) throw new BlockedAddress();
    },
    guarded(open) {
      const connect = open(lookup);
      return (options, callback) => {
        const literal = literalIn(options.hostname);
        if (literal !== null && !permits(literal)) callback(new BlockedAddress(), null);
        else connect(options, callback);
      };
    },
  };
}
