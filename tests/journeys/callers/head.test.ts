import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send, signIn } from '../../rest-compat/rest-server.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/* HEAD: status and headers of GET, and no body, wherever GET is answered. */

let gateway: TestGateway;
let session: string;
let key: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.addChannel();
  const user = await gateway.addUser(1_000_000);
  key = await gateway.addApiKey(user);
  const { headers } = await signIn(gateway.url, 'root', gateway.rootPassword);
  session = headers.cookie ?? '';
});
afterAll(() => gateway?.stop());

/** Change with every request, or say how a body is cut or packed, which nobody knows before there is one. */
const varying = [
  'content-encoding',
  'vary',
  'date',
  'connection',
  'x-request-id',
  'x-oneapi-request-id',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'request-id',
  'set-cookie',
];

const asked = async (method: string, path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(gateway.url + path, { method, headers, redirect: 'manual' });
  const received = [...answer.headers].filter(([name]) => !varying.includes(name));
  return {
    status: answer.status,
    headers: received,
    text: await answer.text(),
    length: answer.headers.get('content-length'),
  };
};

const html = { accept: 'text/html' };

describe('HEAD', () => {
  test.each<[string, Record<string, string>, number]>([
    ['/', {}, 200],
    ['/api/status', {}, 200],
    ['/api/status/', {}, 200],
    ['/api/setup', {}, 200],
    ['/api/notice', {}, 200],
    ['/api/pricing', {}, 200],
    ['/api/user/self', {}, 401],
    ['/api/hello', {}, 404],
    ['/no-such-place', {}, 404],
    ['/graphql?query=%7Bstatus%7Bversion%7D%7D', { 'x-tallygate-client': 'test' }, 200],
    ['/export/usage.csv?month=2026-01', {}, 401],
    ['/v1/models', {}, 401],
    ['/v1/no-such-place', {}, 404],
    ['/dashboard/billing/usage', {}, 401],
    ['/logo.svg', {}, 200],
  ])('of %s answers as GET does, without a body', async (path, headers, status) => {
    const got = await asked('GET', path, headers);
    const head = await asked('HEAD', path, headers);
    expect(head).toMatchObject({ status: got.status, headers: got.headers, text: '' });
    expect([path, got.status]).toEqual([path, status]);
  });

  test('of a page of the console answers as GET does, for browsers and for clients of any type', async () => {
    for (const path of ['/login', '/token', '/log/abc', '/setup'])
      for (const headers of [html, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[]) {
        const got = await asked('GET', path, headers);
        const head = await asked('HEAD', path, headers);
        expect([path, headers.accept, head.status, head.text]).toEqual([path, headers.accept, got.status, '']);
        expect(got.status).toBe(headers.accept === 'application/json' ? 404 : 200);
      }
  });

  test('of an endpoint with a key or a session answers as GET does', async () => {
    for (const [path, headers] of [
      ['/v1/models', { authorization: `Bearer ${key}` }],
      ['/v1beta/models', { 'x-goog-api-key': key }],
      ['/dashboard/billing/subscription', { authorization: `Bearer ${key}` }],
      ['/api/user/self', { cookie: session, 'new-api-user': '1' }],
      ['/export/usage.csv?month=2026-01', { cookie: session }],
      ['/export/log.csv', { cookie: session }],
    ] as [string, Record<string, string>][]) {
      const got = await asked('GET', path, headers);
      const head = await asked('HEAD', path, headers);
      expect([path, got.status, head.status, head.text]).toEqual([path, 200, 200, '']);
      expect(head.headers).toEqual(got.headers);
    }
  });

  test('is refused where GET changes something, and answered for every other GET', async () => {
    for (const path of ['/api/user/token', '/api/user/logout', '/api/verification', '/api/channel/test/1']) {
      const head = await asked('HEAD', path, { cookie: session, 'new-api-user': '1' });
      expect([path, head.status, head.headers.find(([name]) => name === 'allow')]).toEqual([
        path,
        405,
        ['allow', 'GET'],
      ]);
    }
    const methods = (wanted: string) =>
      new Set(gateway.routes.filter(({ method }) => method === wanted).map(({ url }) => url));
    const heads = methods('HEAD');
    expect([...methods('GET')].filter((url) => !heads.has(url))).toEqual([]);
    expect(heads.size).toBeGreaterThan(50);
  });

  test('keeps the connection usable: the next answer belongs to the next request', async () => {
    for (const path of ['/api/status', '/v1/models', '/login'])
      for (let n = 0; n < 3; n++) {
        expect((await send(gateway.url, 'HEAD', path)).text).toBe('');
        expect((await send(gateway.url, 'GET', '/api/status')).json).toMatchObject({ success: true });
      }
  });
});
