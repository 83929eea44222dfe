import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type OriginsOptions, origins } from '../../src/http/origins.js';

const asking = (headers: IncomingHttpHeaders, remoteAddress = '203.0.113.9') =>
  ({ headers: { host: 'gateway.example', ...headers }, socket: { remoteAddress } }) as unknown as IncomingMessage;

const judge = (options: Partial<OriginsOptions> = {}) =>
  origins({ trustedProxies: [], publicAddress: () => '', ...options });

describe('a request for a page', () => {
  test.each<[string, IncomingHttpHeaders]>([
    ['says nothing of a page', {}],
    ['comes from the host it asks', { origin: 'https://gateway.example' }],
    ['comes from the host and port it asks', { origin: 'http://gateway.example:8080', host: 'gateway.example:8080' }],
    ['names the host in capitals', { origin: 'http://gateway.example', host: 'Gateway.Example' }],
    [
      'is of the same origin by the word of the browser',
      { origin: 'http://x.example', 'sec-fetch-site': 'same-origin' },
    ],
    ['was typed by the user', { 'sec-fetch-site': 'none' }],
  ])('that %s is not foreign', (_, headers) => {
    expect(judge().isForeign(asking(headers))).toBe(false);
  });

  test.each<[string, IncomingHttpHeaders]>([
    ['comes from another host', { origin: 'http://evil.example' }],
    ['comes from another port', { origin: 'http://gateway.example:81' }],
    ['comes from a page without origin', { origin: 'null' }],
    ['comes from something that is no origin', { origin: 'gateway.example' }],
    ['comes from a subdomain', { origin: 'http://a.gateway.example' }],
    ['is of a neighbour by the word of the browser', { 'sec-fetch-site': 'same-site' }],
    [
      'is of another site by the word of the browser',
      { 'sec-fetch-site': 'cross-site', origin: 'http://gateway.example' },
    ],
    ['claims a proxy nobody trusts', { origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' }],
  ])('that %s is foreign', (_, headers) => {
    expect(judge().isForeign(asking(headers))).toBe(true);
  });

  test('is held against the name a trusted proxy was called by, or the one the operator gives', () => {
    const headers = { host: 'inner:3000', origin: 'https://gateway.example', 'x-forwarded-host': 'gateway.example' };
    for (const trustedProxies of [['10.1.0.0/16'], ['10.1.2.3', '::1']]) {
      const behind = judge({ trustedProxies });
      expect(behind.isForeign(asking(headers, '10.1.2.3'))).toBe(false);
      expect(behind.isForeign(asking(headers, '10.2.0.1'))).toBe(true);
    }
    // What a client claims stands before what the proxy adds.
    const claimed = { ...headers, origin: 'http://evil.example', 'x-forwarded-host': 'evil.example, gateway.example' };
    expect(judge({ trustedProxies: ['10.1.0.0/16'] }).isForeign(asking(claimed, '10.1.2.3'))).toBe(true);
    const told = judge({ publicAddress: () => 'https://gateway.example/' });
    expect(told.isForeign(asking({ host: 'inner', origin: 'https://gateway.example' }))).toBe(false);
  });
});
