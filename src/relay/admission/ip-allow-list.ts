import { BlockList, isIPv4 } from 'node:net';
import { maxAllowedAddresses } from '../../domain/api-key/api-key-terms.js';
import { ipAddress, ipNetwork } from '../../http/ip-address.js';

/* Which client addresses an API key may be used from. */

/**
 * null: any address. Lists older than today's bound may be longer: what lies beyond it allows nobody, so that no key
 * can make its calls slow for everybody else.
 */
function parse(lines: readonly string[]): BlockList | null {
  const written: string[] = [];
  for (const line of lines) {
    const text = line.replaceAll(/[\s,]/g, '');
    if (text !== '' && written.push(text) === maxAllowedAddresses) break;
  }
  if (written.length === 0) return null;
  const list = new BlockList();
  for (const line of written) {
    const found = ipNetwork(line);
    if (found !== null) list.addSubnet(found.address, found.bits, found.family);
  }
  return list;
}

/** By the lines of a key's terms, which are one object for as long as the key stays as it is. */
const parsed = new WeakMap<readonly string[], BlockList | null>();

/** Addresses and CIDR ranges, one per line. Blank lines aside, a list whose lines are all wrong allows nobody. */
export function isAllowed(ip: string, lines: readonly string[]): boolean {
  if (lines.length === 0) return true;
  let list = parsed.get(lines);
  if (list === undefined) {
    list = parse(lines);
    parsed.set(lines, list);
  }
  if (list === null) return true;
  const address = ipAddress(ip);
  return address !== null && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
