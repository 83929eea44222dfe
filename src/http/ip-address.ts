import { isIPv4, isIPv6 } from 'node:net';
import addresses from 'ipaddr.js';

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

/** null: the text is no IPv6 address. A zone (`%eth0`) is passed over. */
function ipv6In(text: string): addresses.IPv6 | null {
  const [plain = ''] = text.split('%', 1);
  // Node decides what an address is; the library reads older spellings too.
  return isIPv6(plain) ? addresses.IPv6.parse(plain) : null;
}

/** Eight groups of 16 bits; null: the text is no IPv6 address. A zone is passed over. */
export const groupsOf = (address: string): readonly number[] | null => ipv6In(address)?.parts ?? null;

/**
 * Dotted IPv4, or the shortest form of IPv6 (RFC 5952), without a zone; null: it is none. A mapped address
 * (`::ffff:192.0.2.1`, how a socket for both families shows an IPv4 address) is the IPv4 one.
 */
export function ipAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  const address = ipv6In(text);
  if (address === null) return null;
  return (address.isIPv4MappedAddress() ? address.toIPv4Address() : address).toString();
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
