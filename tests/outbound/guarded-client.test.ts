import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { OutboundAnswer, OutboundRequest } from '../../src/application/ports/outbound-ports.js';
import type { Resolve } from '../../src/outbound/address-guard.js';
import { type GuardedClient, type OutboundOptions, openGuardedClient } from '../../src/outbound/guarded-client.js';
import { OutboundError, outboundFetch } from '../../src/outbound/outbound-fetch.js';
import { certificate, certificateKey } from '../support/inputs/certificate.js';

/* Only loopback is dialled: where a test needs a public address, 127.0.0.1 stands for it. */

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const here: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

function clientOf(options: Partial<OutboundOptions> = {}): GuardedClient {
  const client = openGuardedClient({
    allowedNetworks: ['127.0.0.1'],
    allowHttp: true,
    resolve: here,
    authorities: [certificate],
    ...options,
  });
  closing.push(() => client.close());
  return client;
}

async function serve(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** What it answers, and what it has been asked. */
async function plain(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await serve(createServer(answer))}`;
}
const encrypted = async (answer: RequestListener): Promise<string> =>
  `https://localhost:${await serve(createTlsServer({ key: certificateKey, cert: certificate }, answer))}`;

const bounds = { timeoutMs: 10_000, maxBytes: 1000 };
const get = (client: GuardedClient, url: string, request: Partial<OutboundRequest> = {}): Promise<OutboundAnswer> =>
  client.fetch({ ...bounds, url, ...request });
const refused = (reason: string) => ({ ok: false, reason });
const textOf = (answer: OutboundAnswer): string => (answer.ok ? String(answer.body) : answer.reason);

describe('the answer to a guarded request', () => {
  test('has status, headers and body', async () => {
    const url = await encrypted((request, response) => {
      response.writeHead(201, { 'x-told': 'yes', 'set-cookie': ['a=1', 'b=2'] });
      request.on('data', (piece) => response.write(piece)).on('end', () => response.end('!'));
    });
    const answer = await get(clientOf({ allowHttp: false }), url, { method: 'POST', body: 'hello' });
    expect(answer).toMatchObject({ ok: true, status: 201 });
    expect(textOf(answer)).toBe('hello!');
    expect(answer.ok && [...answer.headers]).toContainEqual(['x-told', 'yes']);
  });

  test.each([302, 404, 500])('with status %i is returned', async (status) => {
    const url = await plain((_, response) => void response.writeHead(status, { location: '/elsewhere' }).end());
    expect(await get(clientOf(), url)).toMatchObject({ ok: true, status });
  });

  test('is accepted up to its maximum length', async () => {
    const url = await plain((request, response) => response.end('x'.repeat(Number(request.url?.slice(1)))));
    expect(await get(clientOf(), `${url}/1000`)).toMatchObject({ ok: true });
    expect(await get(clientOf(), `${url}/1001`)).toEqual(refused('too-large'));
  });

  test('that is endless is cut off', async () => {
    const url = await plain((_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    expect(await get(clientOf(), url)).toEqual(refused('too-large'));
  });

  test('with unrequested compression is decompressed, with a bounded result', async () => {
    const url = await plain((request, response) => {
      const [, coding = '', length = ''] = request.url?.split('/') ?? [];
      const text = 'x'.repeat(Number(length));
      response.setHeader('content-encoding', coding);
      response.end(coding === 'br' ? brotliCompressSync(text) : gzipSync(text));
    });
    for (const coding of ['gzip', 'br']) {
      expect(textOf(await get(clientOf(), `${url}/${coding}/1000`))).toBe('x'.repeat(1000));
      expect(await get(clientOf(), `${url}/${coding}/100000`)).toEqual(refused('too-large'));
    }
  });

  test.each([
    ['gzip', 'not compressed at all'],
    ['br', 'not compressed at all'],
    ['zstd', 'anything'],
  ])('that declares %s and is not is refused', async (coding, text) => {
    const url = await plain((_, response) => void response.setHeader('content-encoding', coding).end(text));
    expect(await get(clientOf(), url)).toEqual(refused('unreadable'));
  });

  test.each<[string, RequestListener]>([
    ['does not begin', () => {}],
    ['does not end', (_, response) => void response.write('x')],
    [
      'is redirected endlessly',
      (_, response) => void setImmediate(() => response.writeHead(302, { location: '/' }).end()),
    ],
  ])('that %s is aborted at its timeout', async (_, answer) => {
    const url = await plain(answer);
    expect(await get(clientOf(), url, { timeoutMs: 200, redirects: 1_000_000 })).toEqual(refused('timed-out'));
  });

  test('fails where no server listens, or it disconnects', async () => {
    const url = await plain((request) => request.socket.destroy());
    expect(await get(clientOf(), url)).toEqual(refused('unreachable'));
    const nobody = await plain(() => {});
    await closing.pop()?.();
    expect(await get(clientOf(), nobody)).toEqual(refused('unreachable'));
  });
});

describe('the target of a guarded request', () => {
  test.each([
    '',
    'nowhere',
    'ftp://a.example',
    'file:///etc/passwd',
    'javascript:0',
    'https://user:pass@a.example/',
    'https://user@a.example',
  ])('%j is refused as a target', async (url) =>
    expect(await get(clientOf(), url)).toEqual(refused('address-invalid')),
  );

  test('must begin with https, unless the operator or the request permits otherwise', async () => {
    const url = await plain((_, response) => void response.end('plain'));
    expect(await get(clientOf({ allowHttp: false }), url)).toEqual(refused('http-refused'));
    expect(textOf(await get(clientOf({ allowHttp: false }), url, { allowHttp: true }))).toBe('plain');
    expect(textOf(await get(clientOf({ allowHttp: true }), url))).toBe('plain');
  });

  const names: Readonly<Record<string, readonly string[]>> = {
    'inside.example': ['10.0.0.7'],
    'both.example': ['8.8.8.8', '169.254.169.254'],
    'six.example': ['fd00:ec2::254'],
    'mapped.example': ['::ffff:127.0.0.1'],
    'nowhere.example': [],
  };
  const resolve: Resolve = async (name) =>
    (names[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  test.each([
    ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0177.0.0.1/', 'https://0x7f000001/'],
    ...['https://0x7f.0.0.1/', 'https://１２７.0.0.1/', 'https://0/', 'https://10.0.0.1/', 'https://169.254.169.254/'],
    ...['https://100.64.0.1/', 'https://[::1]/', 'https://[::]/', 'https://[::ffff:127.0.0.1]/', 'https://[fe80::1]/'],
    ...['https://[::ffff:a9fe:a9fe]/', 'https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/', 'https://[fd00::1]/'],
    ...Object.keys(names).map((name) => `https://${name}/`),
    'https://inside.example.:8443/',
  ])('%s is not dialled', async (url) =>
    expect(await get(clientOf({ allowedNetworks: [], resolve }), url)).toEqual(refused('blocked')),
  );

  test('is dialled at the checked address, whatever its name resolves to later', async () => {
    let asked = 0;
    let resolved = 0;
    const rebinding: Resolve = async () => [{ address: ++resolved > 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }];
    const { port } = new URL(await plain((_, response) => void response.end(`heard ${++asked}`)));
    const client = clientOf({ resolve: rebinding });
    expect(textOf(await get(client, `http://rebinding.example:${port}/`))).toBe('heard 1');
    expect(resolved).toBe(1);
    expect(await get(client, `http://rebinding.example:${port}/`)).toEqual(refused('blocked'));
    expect(asked).toBe(1);
  });
});

describe('a redirect', () => {
  /** Redirects `/status` to where the test wants it, and says what it was asked everywhere else. */
  const heard: string[] = [];
  const server =
    (location: () => string): RequestListener =>
    (request, response) => {
      heard.push(
        `${request.method} ${request.url} ${request.headers.authorization ?? '-'} ${request.headers.accept ?? '-'}`,
      );
      const status = Number(request.url?.slice(1));
      if (status >= 300) response.writeHead(status, { location: location() }).end();
      else request.on('data', (piece) => response.write(piece)).on('end', () => response.end('there'));
    };
  const headers = { authorization: 'Bearer secret', accept: 'text/plain' };
  afterEach(() => heard.splice(0));

  test('is followed up to the limit, and no further', async () => {
    let left = 3;
    const url = await plain(server(() => (--left > 0 ? '/302' : '/end')));
    expect(textOf(await get(clientOf(), `${url}/302`, { redirects: 3 }))).toBe('there');
    left = 3;
    expect(await get(clientOf(), `${url}/302`, { redirects: 2 })).toEqual(refused('redirect-refused'));
  });

  test('within the origin keeps the credentials', async () => {
    const url = await plain(server(() => '/end'));
    await get(clientOf(), `${url}/302`, { redirects: 1, headers });
    expect(heard.at(-1)).toBe('GET /end Bearer secret text/plain');
  });

  test('to another origin drops the credentials', async () => {
    const other = await plain(server(() => '/'));
    const url = await plain(server(() => `${other}/end`));
    await get(clientOf(), `${url}/302`, { redirects: 1, headers });
    expect(heard.at(-1)).toBe('GET /end - text/plain');
  });

  test.each([
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', 'posted'],
    [308, 'POST', 'posted'],
  ])('with status %i of a POST is followed with %s', async (status, method, body) => {
    const url = await plain(server(() => '/end'));
    const answer = await get(clientOf(), `${url}/${status}`, { redirects: 1, method: 'POST', body: 'posted' });
    expect([heard.at(-1)?.split(' ')[0], textOf(answer)]).toEqual([method, `${body}there`]);
  });

  test('to another origin does not repeat a POST', async () => {
    const other = await plain(server(() => '/'));
    const url = await plain(server(() => `${other}/end`));
    const posting = { redirects: 1, method: 'POST', body: 'secret' } as const;
    expect(await get(clientOf(), `${url}/307`, posting)).toEqual(refused('redirect-refused'));
    expect(heard).toHaveLength(1);
  });

  test('to an unencrypted address is refused', async () => {
    const other = await plain(server(() => '/'));
    const url = await encrypted(server(() => `${other}/end`));
    expect(await get(clientOf(), `${url}/302`, { redirects: 1 })).toEqual(refused('redirect-refused'));
    expect(heard).toHaveLength(1);
  });

  test.each(['http://127.0.0.2/', 'http://169.254.169.254/latest/meta-data', 'http://[::1]/', 'http://2130706434/'])(
    'to %s is checked again',
    async (location) => {
      const url = await plain(server(() => location));
      expect(await get(clientOf(), `${url}/302`, { redirects: 1 })).toEqual(refused('blocked'));
    },
  );

  test.each(['file:///etc/passwd', 'http://user:pass@127.0.0.1/', 'http://'])(
    'to %s is not followed',
    async (location) => {
      const url = await plain(server(() => location));
      expect(await get(clientOf(), `${url}/302`, { redirects: 1 })).toEqual(refused('address-invalid'));
    },
  );
});

describe('guarded requests as fetch', () => {
  test('send forms and headers, and return a Response', async () => {
    const url = await plain((request, response) => {
      response.setHeader('content-type', 'application/json').setHeader('content-encoding', 'gzip');
      request.on('data', (body) =>
        response.end(gzipSync(JSON.stringify([String(body), request.headers['content-type'], request.headers.accept]))),
      );
    });
    const body = new URLSearchParams({ code: 'a b' });
    const response = await outboundFetch(clientOf(), bounds)(url, {
      method: 'POST',
      headers: { Accept: 'json' },
      body,
    });
    expect(await response.json()).toEqual(['code=a+b', 'application/x-www-form-urlencoded;charset=UTF-8', 'json']);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  test('return no body where the answer has none', async () => {
    const url = await plain((_, response) => void response.writeHead(204).end());
    expect((await outboundFetch(clientOf(), bounds)(url)).status).toBe(204);
  });

  test('throw the reason where there is no answer', async () => {
    const fetching = outboundFetch(clientOf({ allowedNetworks: [] }), bounds)('https://127.0.0.1/');
    await expect(fetching).rejects.toThrow(new OutboundError('blocked'));
  });
});
