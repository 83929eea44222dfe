import { describe, expect, test, vi } from 'vitest';
import { addressGuard, BlockedAddress, isPublic } from '../../src/outbound/address-guard.js';

/* Nothing is dialled here: names are resolved by the test, and the connector only notes what it is asked. */

describe('an address', () => {
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

describe('a connection', () => {
  test('goes to the very addresses that were looked at', async () => {
    expect(await dialled('https://public.example/v1')).toEqual(names['public.example']);
    expect(await dialled('https://8.8.8.8/v1')).toBe('8.8.8.8');
  });

  test.each([
    ...['https://inside.example', 'https://both.example', 'https://nowhere.example', 'http://127.0.0.1:5432'],
    ...[
      'http://2130706433/',
      'http://0177.0.0.1/',
      'http://0x7f.1/',
      'http://[::1]:80/',
      'http://[::ffff:169.254.169.254]/',
    ],
    ...['http://169.254.169.254/latest/meta-data', 'http://[fd00:ec2::254]/', 'http://１２７.0.0.1/'],
  ])('to %s is not made', async (base) => expect(await dialled(base)).toBe(BlockedAddress.name));

  test('is made inside where the operator allows it', async () => {
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

test('a host that somebody else connects to is looked at first', async () => {
  const guard = addressGuard([], resolve);
  await expect(guard.check('public.example')).resolves.toBeUndefined();
  for (const host of ['both.example', '[::1]', '10.0.0.7'])
    await expect(guard.check(host)).rejects.toThrow(BlockedAddress);
});
