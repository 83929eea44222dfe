import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ForeignSites, serveConsole } from '../../src/bootstrap/console-files.js';

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const pageText = '<!doctype html><title>Console</title>';
const scriptText = `console.log('${'a'.repeat(2000)}');`;

let directory: string;
let app: FastifyInstance;
let url: string;

const nothingForeign: ForeignSites = { turnstile: false, telegram: false, paymentOrigin: null };
let sites = nothingForeign;

async function serving(files: string): Promise<{ app: FastifyInstance; url: string }> {
  const served = Fastify();
  const pages = await serveConsole(served, () => sites, files);
  served.setNotFoundHandler(
    (request, reply) => pages.answer(request, reply) ?? reply.status(404).send({ error: { message: 'Invalid URL' } }),
  );
  return { app: served, url: await served.listen({ host: '127.0.0.1', port: 0 }) };
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tallygate-console-'));
  mkdirSync(join(directory, 'assets'));
  mkdirSync(join(directory, '.vite'));
  writeFileSync(join(directory, 'index.html'), pageText);
  writeFileSync(join(directory, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(directory, 'assets/index-abc123.js'), scriptText);
  writeFileSync(join(directory, 'assets/index-abc123.js.gz'), gzipSync(scriptText));
  writeFileSync(join(directory, '.vite/manifest.json'), '{}');
  writeFileSync(join(directory, '.built'), '');
  ({ app, url } = await serving(directory));
});

afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('a browser at the console', () => {
  test.each(['/', '/login', '/log?page=2', '/channel/edit/7', '/no/such/page'])(
    'gets the one page at %s',
    async (path) => {
      const answer = await fetch(`${url}${path}`, { headers: html });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await answer.text()).toBe(pageText);
    },
  );
  test('gets the page again each time, with the current headers', async () => {
    const first = await fetch(`${url}/login`, { headers: html });
    expect(first.headers.get('cache-control')).toBe('no-cache');
    expect([first.headers.get('etag'), first.headers.get('last-modified')]).toEqual([null, null]);
    // Not by fetch, which adds that it wants no cached answer.
    const since = { 'if-none-match': 'W/"earlier"', 'if-modified-since': new Date().toUTCString() };
    expect((await app.inject({ url: '/login', headers: { ...html, ...since } })).statusCode).toBe(200);
  });
  test('caches files whose name contains a hash permanently', async () => {
    const answer = await fetch(`${url}/assets/index-abc123.js`);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toContain('javascript');
    expect(await answer.text()).toBe(scriptText);
  });
  test('gets them compressed when it accepts that', async () => {
    const packed = await fetch(`${url}/assets/index-abc123.js`, { headers: { 'accept-encoding': 'gzip' } });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('vary')).toMatch(/accept-encoding/i);
    expect(await packed.text()).toBe(scriptText);
    const plain = await fetch(`${url}/assets/index-abc123.js`, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
  });
});

describe('a page of the console', () => {
  const policyOf = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const { headers } = await fetch(`${url}/`, { headers: html });
    const directives = (headers.get('content-security-policy') ?? '').split(';').map((part) => part.trim().split(' '));
    return new Map(directives.map(([name = '', ...sources]) => [name, sources]));
  };

  test('runs scripts of the gateway only, and none inline', async () => {
    const policy = await policyOf();
    expect(policy.get('default-src')).toEqual(["'none'"]);
    expect(policy.get('script-src')).toEqual(["'self'"]);
    expect(policy.get('connect-src')).toEqual(["'self'"]);
    expect(policy.get('base-uri')).toEqual(["'none'"]);
  });
  test('may load what a sign-in method requires from another site, while that method is on', async () => {
    const opener = async () => (await fetch(`${url}/`, { headers: html })).headers.get('cross-origin-opener-policy');
    try {
      sites = { ...nothingForeign, turnstile: true };
      expect((await policyOf()).get('script-src')).toEqual(["'self'", 'https://challenges.cloudflare.com']);
      expect(await opener()).toBe('same-origin');
      sites = { ...nothingForeign, telegram: true };
      expect((await policyOf()).get('script-src')).toEqual(["'self'", 'https://telegram.org']);
      expect(await opener()).toBe('same-origin-allow-popups');
    } finally {
      sites = nothingForeign;
    }
    expect((await policyOf()).get('script-src')).toEqual(["'self'"]);
    expect(await opener()).toBe('same-origin');
  });
  test('posts forms to itself, and while payments are configured to the payment provider and its redirects', async () => {
    expect((await policyOf()).get('form-action')).toEqual(["'self'"]);
    try {
      sites = { ...nothingForeign, paymentOrigin: 'http://cashier.example:8080' };
      expect((await policyOf()).get('form-action')).toEqual(["'self'", 'http://cashier.example:8080', 'https:']);
    } finally {
      sites = nothingForeign;
    }
  });
  test.each([
    '/index.html',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%2findex.html',
    '/assets/./../index.html',
    '//index.html',
    '/login/../index.html',
    '/%69ndex.html',
  ])('has the same policy whether %s leads to it or not', async (path) => {
    const { headers } = await fetch(`${url}/`, { headers: html });
    const answer = await app.inject({ url: path, headers: html });
    if (answer.payload.includes('<title>'))
      expect(answer.headers['content-security-policy']).toBe(headers.get('content-security-policy'));
    else expect([301, 403, 404]).toContain(answer.statusCode);
  });
  test('cannot be framed, nor interpreted as another type', async () => {
    expect((await policyOf()).get('frame-ancestors')).toEqual(["'none'"]);
    const { headers } = await fetch(`${url}/`, { headers: html });
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
  });
});

describe('a program at the console', () => {
  test.each(['/api/nothing', '/v1/nothing', '/v1beta/x', '/graphql/x', '/pg/x', '/mj/x', '/suno/x'])(
    'is never answered with a page at %s, whatever it accepts',
    async (path) => {
      expect((await fetch(`${url}${path}`, { headers: html })).status).toBe(404);
    },
  );
  test('gets an error for an unknown path', async () => {
    expect((await fetch(`${url}/login`, { headers: { accept: 'application/json' } })).status).toBe(404);
    expect((await fetch(`${url}/login`, { method: 'POST', headers: html })).status).toBe(404);
  });
  test('gets a page at a path that only begins like an interface', async () => {
    expect((await fetch(`${url}/apiary`, { headers: html })).status).toBe(200);
  });
});

describe('the files of the console', () => {
  test.each([
    '/assets/missing.js',
    '/.built',
    '/.vite/manifest.json',
    '/index.html.gz',
    '/assets/../.built',
    '/assets/%2e%2e/.built',
    '/assets/..%2f.built',
  ])('do not include %s', async (path) => {
    const answer = await app.inject({ url: path });
    expect([403, 404]).toContain(answer.statusCode);
    expect(answer.payload).not.toBe('');
  });
});

test('without a console the gateway answers at / with one line of advice, and serves everything else', async () => {
  const missing = await serving(join(directory, 'missing'));
  const answer = await fetch(missing.url, { headers: html });
  expect(await answer.text()).toBe('The console is not built. Run this and restart: npm run build:web\n');
  expect((await fetch(`${missing.url}/login`, { headers: html })).status).toBe(404);
  await missing.app.close();
});
