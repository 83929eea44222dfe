/* What the server accepts in a list of allowed addresses. A line it cannot read allows nobody, so it is refused here. */

const octet = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const ipv4 = new RegExp(`^${octet}(\\.${octet}){3}$`);

function isIpv6(text: string): boolean {
  if (!/^[0-9a-f:.]+$/i.test(text) || !text.includes(':')) return false;
  try {
    // The browser's own parser knows every way of writing one.
    return new URL(`http://[${text}]/`).hostname !== '';
  } catch {
    return false;
  }
}

/** `192.0.2.1`, `2001:db8::1`, `192.0.2.0/24`. */
export function isAddressOrRange(line: string): boolean {
  const [address = '', prefix, ...more] = line.split('/');
  const maxPrefix = ipv4.test(address) ? 32 : isIpv6(address) ? 128 : 0;
  if (maxPrefix === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= maxPrefix);
}
