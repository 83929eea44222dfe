import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { DoubtedProxy } from '../../src/application/doubted-proxies.js';
import { clientAddress, type ProxyDoubt, settleClientAddress } from '../../src/http/client-address.js';
import { proxyDoubts, warnOfProxies } from '../../src/http/proxy-doubts.js';

const request = (remoteAddress: string, forwarded?: string, url = '/v1/chat/completions') =>
  ({
    method: 'POST',
    url,
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    socket: { remoteAddress },
  }) as unknown as IncomingMessage;

const behind = clientAddress(['127.0.0.1', '10.0.0.0/8', '2001:db8:1::/48']);

describe('a client behind a trusted proxy', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8::7]:51234', '2001:db8::7'],
    ['2001:DB8:0::7', '2001:db8::7'],
    ['"[2001:db8::7]:443"', '2001:db8::7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['198.51.100.9:1, 127.0.0.1:80', '198.51.100.9'],
    ['198.51.100.9:1,[::ffff:10.1.2.3]:80 , [2001:db8:1::5]:9', '198.51.100.9'],
    // What a client wrote stands before what the proxy adds.
    ['192.0.2.66, 203.0.113.7:51234', '203.0.113.7'],
    ['10.9.9.9', '10.9.9.9'],
    // What cannot be read ends the chain at whoever was named last.
    ['203.0.113.7, unknown', '127.0.0.1'],
    ['203.0.113.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['203.0.113.7:x', '127.0.0.1'],
    ['', '127.0.0.1'],
    [',', '127.0.0.1'],
  ])('of "%s" has the address %s', (header, client) => {
    for (const peer of ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1'])
      expect(behind(request(peer, header))).toBe(client);
  });

  test('has the peer’s address where the peer is not trusted, in normal form', () => {
    expect(behind(request('203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
    expect(behind(request('::ffff:203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
    expect(clientAddress([])(request('::ffff:203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
    expect(clientAddress([])({ socket: {} } as IncomingMessage)).toBe('');
  });

  test('has the address that the web framework determines, too', () => {
    const trusted = ['10.0.0.0/8'];
    for (const [peer, header] of [
      ['::ffff:10.0.0.1', '[2001:db8::7]:1, 10.0.0.9:80'],
      ['10.0.0.1', '203.0.113.7:4, nonsense'],
      ['::ffff:203.0.113.7', '1.2.3.4'],
    ] as const) {
      const asked = request(peer, header);
      const address = clientAddress(trusted)(asked);
      settleClientAddress(asked, trusted, clientAddress(trusted));
      // By a worker first, then by the process it passes the request on to.
      settleClientAddress(asked, trusted, clientAddress(trusted));
      expect(clientAddress(trusted)(asked)).toBe(address);
      expect(asked.socket.remoteAddress).toBe(peer.replace('::ffff:', ''));
    }
  });
});

describe('a trusted proxy that does not set the header itself', () => {
  const doubtsOf = (...requests: IncomingMessage[]) => {
    const doubts: [string, ProxyDoubt][] = [];
    const warned: string[] = [];
    const warn = warnOfProxies((facts, text) => {
      doubts.push([facts.proxy, facts.doubt]);
      warned.push(text);
    });
    const addressOf = clientAddress(['10.0.0.0/8'], proxyDoubts(() => 0, warn).report);
    for (const each of requests) addressOf(each);
    return { doubts, warned };
  };

  test('is detected by a request without it, or with an invalid last address; each proxy is reported once', () => {
    const { doubts, warned } = doubtsOf(
      request('10.0.0.1'),
      request('10.0.0.1'),
      request('::ffff:10.0.0.2', '203.0.113.7, nonsense'),
      request('10.0.0.2', ''),
    );
    expect(doubts).toEqual([
      ['10.0.0.1', 'no-header'],
      ['10.0.0.2', 'no-address'],
    ]);
    expect(warned[0]).toContain('docs/operating.md');
    expect(warned.join()).not.toContain('nonsense');
  });

  test('is not suspected for valid headers, for untrusted clients, or for health checks', () => {
    const { doubts } = doubtsOf(
      request('10.0.0.1', '203.0.113.7:5'),
      request('10.0.0.1', 'nonsense, 203.0.113.7'),
      request('203.0.113.7'),
      request('10.0.0.3', undefined, '/api/status'),
    );
    expect(doubts).toEqual([]);
  });

  test('is reported for a hundred proxies at most', () => {
    expect(
      doubtsOf(...Array.from({ length: 300 }, (_, n) => request(`10.0.${n >> 8}.${n & 255}`))).doubts,
    ).toHaveLength(100);
  });

  test('is remembered for a day after its last request, checked once a minute', () => {
    let now = 1_000_000;
    const heard: [DoubtedProxy, boolean][] = [];
    const doubts = proxyDoubts(
      () => now,
      (...doubtsOf) => heard.push(doubtsOf),
    );
    const seen = (): void => doubts.report('10.0.0.1', 'no-header');
    seen();
    now += 59_999;
    seen();
    now += 1;
    seen();
    expect(heard.map(([{ seenAt }, isFirst]) => [seenAt, isFirst])).toEqual([
      [1_000_000, true],
      [1_060_000, false],
    ]);
    now += 86_399_999;
    expect(doubts.recent()).toEqual([{ proxy: '10.0.0.1', doubt: 'no-header', seenAt: 1_060_000 }]);
    now += 1;
    expect(doubts.recent()).toEqual([]);
    now = 0;
    seen();
    expect(doubts.recent()).toEqual([{ proxy: '10.0.0.1', doubt: 'no-header', seenAt: 0 }]);
  });
});
