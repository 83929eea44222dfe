import { BlockList, isIP } from 'node:net';

const entry = (line: string): { address: string; prefix: number | null; family: 'ipv4' | 'ipv6' } | null => {
  const [address = '', prefixText] = line.replaceAll(/[\s,]/g, '').split('/');
  const version = isIP(address);
  if (version === 0) return null;
  const longest = version === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? null : Number(prefixText);
  if (prefix !== null && !(Number.isInteger(prefix) && prefix >= 0 && prefix <= longest)) return null;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
};

/** Reads an IPv4 address a dual-stack socket reports in IPv6 form. */
const plain = (ip: string): string => ip.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');

/** Addresses and CIDR ranges, one per line. Blank lines aside, a list whose lines are all wrong allows nobody. */
export function isAllowed(ip: string, lines: readonly string[]): boolean {
  const written = lines.filter((line) => line.replaceAll(/[\s,]/g, '') !== '');
  if (written.length === 0) return true;
  const list = new BlockList();
  for (const line of written) {
    const found = entry(line);
    if (found === null) continue;
    if (found.prefix === null) list.addAddress(found.address, found.family);
    else list.addSubnet(found.address, found.prefix, found.family);
  }
  const address = plain(ip);
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}
