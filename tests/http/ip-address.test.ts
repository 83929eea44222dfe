import { describe, expect, test } from 'vitest';
import { forwardedAddress, ipAddress, ipNetwork } from '../../src/http/ip-address.js';

describe('an IP address', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['2001:DB8:0:0::7', '2001:db8::7'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['64:ff9b::203.0.113.7', '64:ff9b::cb00:7107'],
  ])('%s is read as %s', (text, address) => {
    expect(ipAddress(text)).toBe(address);
    expect(forwardedAddress(text)).toBe(address);
  });

  test.each([
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8::7]:51234', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['"[2001:db8::7]:51234"', '2001:db8::7'],
    ['"203.0.113.7:80"', '203.0.113.7'],
    [' 203.0.113.7 ', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:80', '203.0.113.7'],
    ['[fe80::1%25eth0]:80', 'fe80::1'],
    ['[fe80::1%eth0]:80', 'fe80::1'],
    ['[203.0.113.7]:80', null],
    ['203.0.113.7:', null],
    ['203.0.113.7:123456', null],
    ['203.0.113.7:80:80', null],
    ['203.0.113', null],
    ['0xcb.0.113.7', null],
    ['3405803783', null],
    ['0313.0.113.7', null],
    ['unknown', null],
    ['_hidden', null],
    ['example.com', null],
    ['[::1', null],
    ['user@::1', null],
    ['', null],
  ])('that a proxy writes as %j is parsed as %j', (text, address) => {
    expect(forwardedAddress(text)).toBe(address);
  });
});

describe('an IP network', () => {
  test.each([
    ['10.0.0.0/8', { address: '10.0.0.0', bits: 8, family: 'ipv4' }],
    ['10.0.0.1', { address: '10.0.0.1', bits: 32, family: 'ipv4' }],
    ['::ffff:10.0.0.0/104', { address: '10.0.0.0', bits: 8, family: 'ipv4' }],
    ['::ffff:10.0.0.1', { address: '10.0.0.1', bits: 32, family: 'ipv4' }],
    ['2001:DB8::/32', { address: '2001:db8::', bits: 32, family: 'ipv6' }],
    ['::1', { address: '::1', bits: 128, family: 'ipv6' }],
  ])('%s is accepted', (text, network) => {
    expect(ipNetwork(text)).toEqual(network);
  });

  test.each([
    '10.0.0.0/33',
    '::/129',
    '::ffff:10.0.0.1/95',
    '10.0.0.1:80',
    '[::1]',
    'fe80::1%eth0',
    '10.0.0.0/8/8',
    '',
  ])('is not parsed from %j', (text) => {
    expect(ipNetwork(text)).toBeNull();
  });
});
