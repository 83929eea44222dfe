import { isIPv4, isIPv6 } from 'node:net';
import { urlIn } from '../domain/address.js';

/*
 * Where a client is, for counting. One IPv4 address is one place; of IPv6, a subscriber has at least the 64 bits behind
 * the first 64, so those are one place together.
 */

const mappedDotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The eight groups of an IPv6 address as numbers; null: it is none. */
function groupsOf(address: string): readonly number[] | null {
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

const isMapped = (groups: readonly number[]): boolean =>
  groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;

/**
 * The network around a client address, for lists that people read: the first 24 bits of IPv4, 48 of IPv6. Empty: the
 * text is no address.
 */
export function networkOf(address: string): string {
  const place = placeOf(address);
  if (isIPv4(place)) return `${place.slice(0, place.lastIndexOf('.'))}.0/24`;
  const groups = groupsOf(address);
  if (groups === null) return '';
  const first = groups.slice(0, 3).map((group) => group.toString(16));
  return `${first.join(':')}::/48`;
}

/** The place a client address counts as; text that is no address counts as itself. */
export function placeOf(address: string): string {
  if (isIPv4(address)) return address;
  const [, dotted] = mappedDotted.exec(address) ?? [];
  if (dotted !== undefined && isIPv4(dotted)) return dotted;
  const groups = groupsOf(address);
  if (groups === null) return address;
  if (isMapped(groups))
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
