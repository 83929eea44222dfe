import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addressGuard } from '../../../src/outbound/address-guard.js';
import { type FileFailure, passFile } from '../../../src/relay/delivery/pass-file.js';
import { watchStalledCallers } from '../../../src/relay/delivery/stalled-callers.js';
import { openUpstream, type Upstream as Sender } from '../../../src/relay/upstream/upstream.js';
import { MemoryConnection } from '../../support/callers/memory-connection.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

const stalledCallers = watchStalledCallers({ limitMs: 60_000, gaveUp: () => {} });
const types = /^image\/(?!svg)[\w.+-]{1,64}$/;
const rules = {
  ...{ types, usualType: 'image/jpeg', maxBytes: 100_000, timeoutMs: 10_000, idleMs: 5_000 },
  headers: ['x-content-type-options', 'nosniff'],
};
const loopback = addressGuard(['127.0.0.0/8'], async () => [{ address: '127.0.0.1', family: 4 }]);
const closed = addressGuard([], async () => [{ address: '169.254.169.254', family: 4 }]);

let server: Upstream;
let open: Sender;
let guarded: Sender;
const asked: string[] = [];
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/picture': (response) => response.writeHead(200, { 'content-type': 'image/png', 'content-length': 5 }).end('hello'),
  '/untyped': (response) => response.writeHead(200).end('hello'),
  '/page': (response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<script>'),
  '/drawing': (response) => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>'),
  '/announced': (response) =>
    void response.writeHead(200, { 'content-type': 'image/png', 'content-length': 5e9 }).write('x'),
  '/growing': (response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  },
  '/broken': (response) => {
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': 10 }).write('hello');
    setImmediate(() => response.destroy());
  },
  '/moved': (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  '/gone': (response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>gone'),
};

beforeAll(async () => {
  server = await startUpstream(({ url }, response) => {
    asked.push(url);
    answers[url]?.(response);
  });
  open = openUpstream({ connections: 10, guard: loopback });
  guarded = openUpstream({ connections: 10, guard: closed });
});
afterAll(async () => {
  await Promise.all([open?.close(), guarded?.close()]);
  await server?.stop();
});
beforeEach(() => {
  asked.length = 0;
});

const passed = async (url: string, files: Sender = open) => {
  const connection = new MemoryConnection();
  const failure = await passFile({ files, stalledCallers }, connection, { url, payer: 1 }, rules);
  return { connection, failure };
};

describe('a file of a provider', () => {
  test('is passed on with its type and length', async () => {
    const { connection, failure } = await passed(`${server.url}/picture`);
    expect(failure).toBeNull();
    expect(connection).toMatchObject({ text: 'hello', ended: true, brokenOff: false });
    expect(connection.begun).toEqual({ type: 'image/png', length: 5, headers: rules.headers });
    expect((await passed(`${server.url}/untyped`)).connection.begun?.type).toBe('image/jpeg');
  });

  test.each<[string, FileFailure]>([
    ['/page', { reason: 'wrong-type', status: null }],
    ['/drawing', { reason: 'wrong-type', status: null }],
    ['/announced', { reason: 'too-large', status: null }],
    ['/moved', { reason: 'refused', status: 302 }],
    ['/gone', { reason: 'refused', status: 404 }],
  ])('at %s is not passed on, and the caller gets none of it', async (path, expected) => {
    const { connection, failure } = await passed(server.url + path);
    expect(failure).toEqual(expected);
    expect(connection).toMatchObject({ begun: null, text: '' });
    expect(asked).toEqual([path]);
  });

  test('is not loaded where only its headers are requested', async () => {
    const connection = new MemoryConnection();
    const given = { url: `${server.url}/growing`, payer: 1, headOnly: true };
    expect(await passFile({ files: open, stalledCallers }, connection, given, rules)).toBeNull();
    expect(connection).toMatchObject({ ended: true, text: '', begun: { type: 'image/png' } });
  });

  test('that grows beyond its limit is broken off', async () => {
    const { connection, failure } = await passed(`${server.url}/growing`);
    expect(failure).toBeNull();
    expect(connection.brokenOff).toBe(true);
    expect(connection.text.length).toBeLessThanOrEqual(rules.maxBytes);
  });

  test('whose connection breaks is broken off for its caller, too', async () => {
    expect((await passed(`${server.url}/broken`)).connection.brokenOff).toBe(true);
  });

  test.each([
    'http://127.0.0.1:1/',
    'http://localhost/',
    'http://metadata.internal/latest',
    'http://[::1]/',
    'ftp://cdn.example/1.png',
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'nonsense',
  ])('at the closed address %s is never dialled', async (url) => {
    const { connection, failure } = await passed(url, guarded);
    expect(failure).toEqual({ reason: 'unreached', status: null });
    expect(connection.begun).toBeNull();
  });

  test('of a caller who has left is not loaded further', async () => {
    const connection = new MemoryConnection();
    connection.write = (bytes) => {
      connection.text += String(bytes);
      connection.disconnect();
      return true;
    };
    const given = { url: `${server.url}/growing`, payer: 1 };
    await passFile({ files: open, stalledCallers }, connection, given, { ...rules, maxBytes: 1e12 });
    expect(connection).toMatchObject({ gone: true, ended: false });
  });
});
