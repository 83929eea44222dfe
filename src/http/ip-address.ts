import { isIPv4, isIPv6 } from 'node:net';
import { urlIn } from '../domain/kernel/address.js';

/*
 * IP addresses as text: one spelling for each, so that what is compared, counted or shown is the address and not the way
 * somebody wrote it.
 */

/** An address, or all that begin with the same `bits`. */
interface IpNetwork {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

const lengthOf = { ipv4: 32, ipv6: 128 } as const;
const mappedBits = 96;

/** Eight groups of 16 bits; null: the text is no IPv6 address. A zone (`%eth0`) is passed over. */
export function groupsOf(address: string): readonly number[] | null {
  const [plain = ''] = address.split('%', 1);
  // What is none could be anything of a URL between its brackets, such as a user and a host.
  const url = isIPv6(plain) ? urlIn(`http://[${plain}]`) : null;
  if (url === null) return null;
  // The URL parser has put it into its one short form: no dots, at most one `::`.
  const [before = '', after] = url.hostname.slice(1, -1).split('::');
  const read = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const first = read(before);
  if (after === undefined) return first;
  const last = read(after);
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

const dotted = (groups: readonly number[]): string => groups.flatMap((group) => [group >> 8, group & 0xff]).join('.');

/** The IPv4 address that an IPv6 one of these first six groups stands for; null: it stands for none. */
const insideOf = (groups: readonly number[], first: readonly number[]): string | null =>
  first.every((group, at) => groups[at] === group) ? dotted(groups.slice(6)) : null;

/** `::ffff:192.0.2.1`: how a socket for both families shows an IPv4 address. */
const mappedIPv4 = (groups: readonly number[]): string | null => insideOf(groups, [0, 0, 0, 0, 0, 0xffff]);

/** Dotted IPv4, or the shortest form of IPv6, without a zone; a mapped address is the IPv4 one. null: it is none. */
export function ipAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  const groups = groupsOf(text);
  if (groups === null) return null;
  const [plain = ''] = text.split('%', 1);
  return mappedIPv4(groups) ?? urlIn(`http://[${plain}]`)?.hostname.slice(1, -1) ?? null;
}

const withPort = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/;

/** The same of what proxies write: also in quotes, in brackets, and with a port. */
export function forwardedAddress(text: string): string | null {
  const bare = text.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, before] = withPort.exec(bare) ?? [];
  if (bracketed !== undefined) return isIPv6(bracketed) ? ipAddress(bracketed) : null;
  return ipAddress(before ?? bare);
}

/** `10.0.0.0/8`, `2001:db8::1`; null: it is neither address nor CIDR range. A range within `::ffff:0:0/96` is one of IPv4. */
export function ipNetwork(text: string): IpNetwork | null {
  const [written = '', bitsText, ...rest] = text.split('/');
  const address = ipAddress(written);
  if (address === null || written.includes('%') || rest.length > 0) return null;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const isMapped = family === 'ipv4' && !isIPv4(written);
  if (bitsText === undefined) return { address, bits: lengthOf[family], family };
  const bits = /^\d{1,3}$/.test(bitsText) ? Number(bitsText) - (isMapped ? mappedBits : 0) : Number.NaN;
  return bits >= 0 && bits <= lengthOf[family] ? { address, bits, family } : null;
}
