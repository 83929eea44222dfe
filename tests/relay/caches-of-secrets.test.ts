import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secretHash } from '../../src/adapters/vault/vault.js';
import { AccessTokens } from '../../src/relay/upstream/access-tokens.js';
import { withoutSecrets } from '../../src/relay/upstream/confidential.js';
import { openUpstream } from '../../src/relay/upstream/upstream.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';

/*
 * What is remembered of a secret is remembered by all of it: a cache asked by a beginning, or by a short digest, answers
 * for one secret with what belongs to another (CVE-2026-35030).
 */

const secret = 'sk-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Alike but for one character, at each place of it; and longer and shorter. */
const alike = [
  ...Array.from(secret, (_, at) => `${secret.slice(0, at)}-${secret.slice(at + 1)}`),
  ...[`${secret}-`, secret.slice(0, -1), secret.slice(1)],
].filter((one) => one !== secret);

describe('similar secrets', () => {
  test('have distinct hashes of full length, also when they are hashed again', () => {
    const hash = secretHash(Buffer.alloc(32, 7));
    const all = [secret, ...alike];
    const hashes = all.map(hash);
    expect(hashes.every((one) => /^[0-9a-f]{64}$/.test(one))).toBe(true);
    expect(new Set(hashes).size).toBe(all.length);
    expect(all.map(hash)).toEqual(hashes);
  });

  test('get no tokens of each other, and the cache of tokens is bounded', async () => {
    const tokens = new AccessTokens(settableClock(someInstant), 10);
    let made = 0;
    const tokenOf = async (credentials: string): Promise<string> => {
      const granted = await tokens.of(credentials, async () => {
        made++;
        return { ok: true, token: `of ${credentials}`, lifeMs: 3_600_000 };
      });
      return granted.ok ? granted.token : 'refused';
    };
    for (const one of [secret, ...alike]) expect(await tokenOf(one)).toBe(`of ${one}`);
    const before = made;
    for (const one of alike.slice(-10)) expect(await tokenOf(one)).toBe(`of ${one}`);
    expect(made).toBe(before);
    expect(await tokenOf(secret)).toBe(`of ${secret}`);
    expect(made).toBe(before + 1);
  });

  test('are each masked in what an upstream says about its own channel', () => {
    const confidential = { baseUrl: '', organization: null, other: '', proxy: null };
    // Like no key of anybody's: it is masked because it is this channel's.
    const begins = 'violet harbour lantern '.repeat(3);
    for (const own of ['quietly walking', 'seldom thunder', 'quietly walking']) {
      const masked = withoutSecrets(`wrong: ${begins}${own}`, { ...confidential, key: begins + own }, 1_000);
      expect(masked).not.toContain(own);
    }
  });
});

describe('proxies that differ only in a password', () => {
  let proxy: Server;
  const shown: string[] = [];
  beforeAll(async () => {
    proxy = createServer().on('connect', ({ headers }, socket) => {
      shown.push(Buffer.from(String(headers['proxy-authorization']).slice('Basic '.length), 'base64').toString());
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  });
  afterAll(() => {
    proxy.close();
    proxy.closeAllConnections();
  });

  test('are each displayed as their own, however many there are', async () => {
    const upstream = openUpstream({ connections: 4, guard: null });
    const { port } = proxy.address() as AddressInfo;
    const passwords = Array.from({ length: 230 }, (_, index) => `${secret.slice(0, 40)}${index}`);
    // The first have been let go of by the end, and come again.
    for (const password of [...passwords, ...passwords.slice(0, 3)]) {
      shown.length = 0;
      const { sent } = upstream.send(
        { method: 'GET', url: 'http://upstream.example/', headers: {}, content: { kind: 'none' } },
        { proxy: `http://user:${password}@127.0.0.1:${port}`, timeoutMs: 10_000, idleMs: 10_000, payer: null },
      );
      expect((await sent).ok).toBe(false);
      expect(new Set(shown)).toEqual(new Set([`user:${password}`]));
    }
    await upstream.close();
  });
});
