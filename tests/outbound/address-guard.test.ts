import { describe, expect, test, vi } from 'vitest';
import { addressGuard, BlockedAddress, isPublic } from '../../src/outbound/address-guard.js';

/* Nothing is dialled here: names are resolved by the test, and the connector only notes what it is asked. */

describe('an outgoing address', () => {
  test.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.7', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '169.254.170.2', '100.64.0.1', '100.127.255.255', '192.0.0.192', '198.18.0.1', '224.0.0.1'],
    ...['255.255.255.255', '240.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1'],
    ...[
      '::',
      '::1',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd00:ec2::254',
      'ff02::1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
    ],
    ...['2001::1', '2001:db8::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe', '::127.0.0.1', '100::1'],
    ...['', 'localhost', '2130706433', '0177.0.0.1', '0x7f000001', '127.1'],
  ])('%j is not one of the public internet', (address) => expect(isPublic(address)).toBe(false));

  test.each([
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '169.253.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
  ])('%s is one of the public internet', (address) => expect(isPublic(address)).toBe(true));
});

/* Each range that is set aside, in every spelling: what stands for an inner address, or leads there by a translator. */
describe('a special address range', () => {
  test.each([
    ['carrier-grade NAT', ['100.64.0.0', '100.100.100.200', '::ffff:100.64.0.1', '::ffff:6440:1', '::FFFF:6464:64C8']],
    ['6to4', ['2002::', '2002:7f00:1::', '2002:a9fe:a9fe::1', '192.88.99.1', '::ffff:192.88.99.1']],
    ['NAT64', ['64:ff9b::', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '0064:FF9B:0:0:0:0:10.0.0.1', '64:ff9b:1::1']],
    ['translated IPv4', ['::ffff:0:127.0.0.1', '::ffff:0:a00:1', '::127.0.0.1', '::a00:1', '0::0.0.0.1']],
    ['site-local', ['fec0::1', 'FEC0:0:0:ffff::1', 'feff:ffff::1']],
    ['unique local', ['fc00::', 'fd12:3456::1', 'fdff:ffff::1', 'FD00::1']],
    ['link-local', ['fe80::', 'febf::1', 'fe80::1%1', 'fe80::a9fe:a9fe%eth0', '169.254.0.1']],
    ['multicast', ['ff00::', 'ff02::1', 'ff0e::1', '224.0.0.251', '239.255.255.250']],
    [
      'Teredo, ORCHID, benchmarking',
      ['2001::', '2001:0:7f00:1::', '2001:2::1', '2001:10::1', '2001:20::1', '198.19.9.9'],
    ],
    ['documentation', ['2001:db8::', '2001:DB8:ffff::1', '3fff::1', '3fff:fff::', '203.0.113.255']],
    ['discard-only, segment routing, unassigned', ['100::', '100:0:0:1::1', '5f00::1', '4000::1', 'e000::1', '1::1']],
    ['mapped loopback and private', ['::ffff:7f00:1', '0:0:0:0:0:ffff:a00:1', '::ffff:192.168.0.1', '::ffff:0.0.0.0']],
  ])('is refused: %s', async (_range, addresses) => {
    for (const address of addresses) {
      expect([address, isPublic(address)]).toEqual([address, false]);
      const written = address.includes(':') ? `[${address}]` : address;
      await expect(addressGuard([], resolve).check(written)).rejects.toThrow(BlockedAddress);
      // A name with such an address is no way in, either.
      const guard = addressGuard([], async () => [{ address, family: address.includes(':') ? 6 : 4 }]);
      await expect(guard.check('name.example')).rejects.toThrow(BlockedAddress);
    }
  });

  test('that the operator allows is allowed in each of its spellings', async () => {
    const guard = addressGuard(['10.0.0.0/24', '::ffff:10.1.0.0/112', 'fd00::/8'], resolve);
    for (const host of ['10.0.0.1', '[::ffff:10.0.0.1]', '[::ffff:a00:1]', '10.1.0.9', '[FD00:0::1]'])
      await expect(guard.check(host)).resolves.toBeUndefined();
    for (const host of ['10.0.1.1', '[::ffff:10.0.1.1]', '[64:ff9b::10.0.0.1]', '[2002:a00:1::]'])
      await expect(guard.check(host)).rejects.toThrow(BlockedAddress);
  });
});

/** Names, and the addresses they have. */
const names: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['8.8.8.8', '2606:4700::1111'],
  'inside.example': ['10.0.0.7'],
  'both.example': ['8.8.8.8', '169.254.169.254'],
  'nowhere.example': [],
};
const resolve = async (name: string) =>
  (names[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

/** What is dialled for the host of an address: what the connector was given to dial, or the refusal. */
function dialled(base: string, allowed: readonly string[] = []): Promise<string | readonly string[]> {
  return new Promise((done) => {
    const connect = addressGuard(allowed, resolve).guarded((lookup) => (options) => {
      const { hostname } = options;
      if (/^[\d.]+$|:/.test(hostname)) return done(hostname);
      lookup(hostname, { all: true }, (error, addresses) =>
        done(error?.name ?? (addresses as { address: string }[]).map(({ address }) => address)),
      );
    });
    const { hostname, host, protocol, port } = new URL(base);
    connect({ hostname, host, protocol, port }, (...[error]) => done(error?.name ?? 'connected'));
  });
}

describe('an outgoing connection', () => {
  test('goes to the very addresses that were checked', async () => {
    expect(await dialled('https://public.example/v1')).toEqual(names['public.example']);
    expect(await dialled('https://8.8.8.8/v1')).toBe('8.8.8.8');
  });

  test.each([
    ...['https://inside.example', 'https://both.example', 'https://nowhere.example', 'http://127.0.0.1:5432'],
    ...[
      'http://2130706433/',
      'http://0177.0.0.1/',
      'http://0x7f.1/',
      'http://0X7F000001/',
      'http://017700000001/',
      'http://127.1/',
      'http://0/',
      'http://0251.0376.0251.0376/',
      'http://0xa9.0xfe.0xa9.0xfe/',
      'http://100.4194305/',
      'http://[::1]:80/',
      'http://[::ffff:169.254.169.254]/',
    ],
    ...['http://169.254.169.254/latest/meta-data', 'http://[fd00:ec2::254]/', 'http://１２７.0.0.1/'],
  ])('to %s is refused', async (base) => expect(await dialled(base)).toBe(BlockedAddress.name));

  test('to a private network is made where the operator allows it', async () => {
    expect(await dialled('https://inside.example', ['10.0.0.0/24'])).toEqual(['10.0.0.7']);
    expect(await dialled('https://inside.example', ['10.0.1.0/24'])).toBe(BlockedAddress.name);
    expect(await dialled('http://10.0.0.9', ['10.0.0.9'])).toBe('10.0.0.9');
  });

  test('resolves a name once', async () => {
    const counting = vi.fn(resolve);
    const guard = addressGuard([], counting);
    await new Promise<void>((done) => {
      const connect = guard.guarded(
        (lookup) =>
          ({ hostname }) =>
            lookup(hostname, { all: true }, () => done()),
      );
      connect({ hostname: 'public.example', protocol: 'https:', port: '443' }, () => done());
    });
    expect(counting).toHaveBeenCalledTimes(1);
  });
});

test('a host for another client’s connection is checked first', async () => {
  const guard = addressGuard([], resolve);
  await expect(guard.check('public.example')).resolves.toBeUndefined();
  for (const host of ['both.example', '[::1]', '10.0.0.7'])
    await expect(guard.check(host)).rejects.toThrow(BlockedAddress);
});
