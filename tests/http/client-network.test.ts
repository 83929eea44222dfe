import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientNetwork, rateLimitKey } from '../../src/http/client-network.js';

describe('the rate-limit key of a client', () => {
  test('is its IPv4 address, also when a socket writes it as IPv6', () => {
    for (const written of [
      '192.0.2.7',
      '::ffff:192.0.2.7',
      '::FFFF:192.0.2.7',
      '::ffff:c000:207',
      '0:0:0:0:0:ffff:c000:0207',
    ])
      expect([written, rateLimitKey(written)]).toEqual([written, '192.0.2.7']);
  });

  test('is the first half of its IPv6 address, because it owns the second', () => {
    for (const written of ['2001:db8:0:1::', '2001:db8::1:0:0:0:1', '2001:0db8:0000:0001:ffff:ffff:ffff:ffff%eth0'])
      expect([written, rateLimitKey(written)]).toEqual([written, '2001:db8:0:1::/64']);
    expect(rateLimitKey('2001:db8:0:2::')).toBe('2001:db8:0:2::/64');
    expect(rateLimitKey('::1')).toBe('0:0:0:0::/64');
  });

  test('is the same for a whole /64 and for no other, and any other text is its own key', () => {
    const group = fc.integer({ min: 1, max: 0xffff }).map((value) => value.toString(16));
    const half = fc.array(group, { minLength: 4, maxLength: 4 }).map((groups) => groups.join(':'));
    fc.assert(
      fc.property(half, half, half, half, (own, other, host, neighbour) => {
        expect(rateLimitKey(`${own}:${host}`)).toBe(rateLimitKey(`${own}:${neighbour}`.toUpperCase()));
        if (own !== other) expect(rateLimitKey(`${own}:${host}`)).not.toBe(rateLimitKey(`${other}:${host}`));
      }),
    );
    fc.assert(
      fc.property(
        fc.string(),
        (text) => isIPv6(text.split('%', 1)[0] ?? '') || isIPv4(text) || rateLimitKey(text) === text,
      ),
    );
    // Between the brackets of a URL this is a user and a host.
    for (const text of ['@&:\\', '::1]@[2001:db8::1', '::1]:80/[::']) expect(rateLimitKey(text)).toBe(text);
  });
});

describe('the client network for display', () => {
  test.each([
    ['192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.7', '192.0.2.0/24'],
    ['2001:db8:7:1::5', '2001:db8:7::/48'],
    ['2001:0DB8:0007:ffff:ffff:ffff:ffff:ffff%eth0', '2001:db8:7::/48'],
    ['::1', '0:0:0::/48'],
    ['', ''],
    ['<script>', ''],
    ['@&:\\', ''],
  ])('of %s is %s', (address, network) => expect(clientNetwork(address)).toBe(network));
});
