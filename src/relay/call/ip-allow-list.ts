import { BlockList, isIP } from 'node:net';
import { maxAllowedAddresses } from '../../domain/api-key-terms.js';

/* Which client addresses an API key may be used from. */

const entry = (line: string): { address: string; prefix: number | null; family: 'ipv4' | 'ipv6' } | null => {
  const [address = '', prefixText] = line.split('/');
  const version = isIP(address);
  if (version === 0) return null;
  const longest = version === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? null : Number(prefixText);
  if (prefix !== null && !(Number.isInteger(prefix) && prefix >= 0 && prefix <= longest)) return null;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
};

/** Reads an IPv4 address a dual-stack socket reports in IPv6 form. */
const plain = (ip: string): string => ip.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

/**
 * null: any address. Lists older than today's bound may be longer: what lies beyond it allows nobody, so that no key
 * can make its calls dear for everybody else.
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
    const found = entry(line);
    if (found === null) continue;
    if (found.prefix === null) list.addAddress(found.address, found.family);
    else list.addSubnet(found.address, found.prefix, found.family);
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
  const address = plain(ip);
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}
