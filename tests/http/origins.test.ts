import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type OriginsOptions, origins } from '../../src/http/origins.js';

const requestWith = (headers: IncomingHttpHeaders, remoteAddress = '203.0.113.9') =>
  ({ headers: { host: 'gateway.example', ...headers }, socket: { remoteAddress } }) as unknown as IncomingMessage;

const judge = (options: Partial<OriginsOptions> = {}) =>
  origins({ trustedProxies: [], publicAddress: () => '', ...options });

describe('the origin of a request', () => {
  test.each<[string, IncomingHttpHeaders]>([
    ['names no page', {}],
    ['equals the requested host', { origin: 'https://gateway.example' }],
    ['equals the requested host and port', { origin: 'http://gateway.example:8080', host: 'gateway.example:8080' }],
    ['has the host in capitals', { origin: 'http://gateway.example', host: 'Gateway.Example' }],
    ['is the same according to the browser', { origin: 'http://x.example', 'sec-fetch-site': 'same-origin' }],
    ['was typed by the user', { 'sec-fetch-site': 'none' }],
  ])('that %s is accepted', (_, headers) => {
    expect(judge().isForeign(requestWith(headers))).toBe(false);
  });

  test.each<[string, IncomingHttpHeaders]>([
    ['is another host', { origin: 'http://evil.example' }],
    ['is another port', { origin: 'http://gateway.example:81' }],
    ['is an opaque origin', { origin: 'null' }],
    ['is not an origin', { origin: 'gateway.example' }],
    ['is a subdomain', { origin: 'http://a.gateway.example' }],
    ['is a sibling site according to the browser', { 'sec-fetch-site': 'same-site' }],
    ['is another site according to the browser', { 'sec-fetch-site': 'cross-site', origin: 'http://gateway.example' }],
    ['relies on an untrusted proxy', { origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' }],
  ])('that %s is refused as foreign', (_, headers) => {
    expect(judge().isForeign(requestWith(headers))).toBe(true);
  });

  test('is compared with the host that a trusted proxy received, or the operator’s', () => {
    const headers = { host: 'inner:3000', origin: 'https://gateway.example', 'x-forwarded-host': 'gateway.example' };
    for (const trustedProxies of [['10.1.0.0/16'], ['10.1.2.3', '::1']]) {
      const behind = judge({ trustedProxies });
      expect(behind.isForeign(requestWith(headers, '10.1.2.3'))).toBe(false);
      expect(behind.isForeign(requestWith(headers, '10.2.0.1'))).toBe(true);
    }
    // What a client claims stands before what the proxy adds.
    const claimed = { ...headers, origin: 'http://evil.example', 'x-forwarded-host': 'evil.example, gateway.example' };
    expect(judge({ trustedProxies: ['10.1.0.0/16'] }).isForeign(requestWith(claimed, '10.1.2.3'))).toBe(true);
    const withPublicAddress = judge({ publicAddress: () => 'https://gateway.example/' });
    expect(withPublicAddress.isForeign(requestWith({ host: 'inner', origin: 'https://gateway.example' }))).toBe(false);
  });
});
