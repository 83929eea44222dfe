import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/* What may be asked is decided by the path that was asked for and the credential that was shown, and by nothing else. */

let gateway: TestGateway;
let key: string;
let accessToken: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  const user = await gateway.addUser(1_000_000);
  key = await gateway.addApiKey(user);
  const proven = await gateway.proven({ actor: gateway.root, password: 'root-password-1' }, 'access-token');
  accessToken = (await gateway.application.users.issueAccessToken(gateway.root, proven)).token;
});
afterAll(() => gateway?.stop());

/** `target`: as it stands in the first line of the request. */
const verdict = (method: string, target: string, headers: Record<string, string> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gateway.url);
    request(
      { hostname, port, method, path: target, headers: { 'x-tallygate-client': 'test', ...headers } },
      (response) => {
        // The legacy contract answers some refusals with 200 and `success: false`.
        text(response).then(
          (said) => resolve(`${response.statusCode}${/"success":false|"errors":/.test(said) ? ' refused' : ''}`),
          reject,
        );
      },
    )
      .once('error', reject)
      .end();
  });

const isOpen = (said = ''): boolean => /^[23]..$/.test(said);

/** Every route, with something in the place of each parameter. */
const routes = (): readonly (readonly [method: string, path: string])[] =>
  gateway.routes
    .filter(({ method, url }) => method !== 'OPTIONS' && method !== 'HEAD' && !url.startsWith('/assets'))
    .map(({ method, url }) => [method, url.replaceAll(/:[^/]+/g, '1').replaceAll('*', 'x')] as const);

async function verdicts(
  headers: Record<string, string>,
  aimed = (path: string) => path,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [method, path] of routes()) found[`${method} ${path}`] = await verdict(method, aimed(path), headers);
  return found;
}

describe('the authorization of a request', () => {
  test('is the same whatever its Host header', async () => {
    const usual = await verdicts({});
    expect(Object.keys(usual).length).toBeGreaterThan(150);
    for (const host of ['localhost', 'evil.example', '127.0.0.1:1/api/status?', 'x/v1/models#', '[::1]', 'a@b:c'])
      expect(await verdicts({ host, 'x-forwarded-host': '/api/status' })).toEqual(usual);
  });

  test('is the same under headers that only a rewriting proxy obeys', async () => {
    const usual = await verdicts({});
    const headers = {
      'x-original-url': '/api/status',
      'x-rewrite-url': '/api/status',
      'x-forwarded-prefix': '/api/status',
    };
    expect(await verdicts(headers)).toEqual(usual);
  });

  test('is not granted by an unknown scheme, whatever is sent under it', async () => {
    const usual = await verdicts({});
    for (const scheme of ['Basic', 'Token', 'Digest', 'ApiKey', 'Bearers'])
      for (const secret of [key, accessToken]) {
        const found = await verdicts({ authorization: `${scheme} ${secret}`, 'new-api-user': '1' });
        const opened = Object.keys(found).filter((route) => isOpen(found[route]) && !isOpen(usual[route]));
        expect([scheme, opened]).toEqual([scheme, []]);
      }
  });

  test('is granted by the known scheme, so that the tests above can fail', async () => {
    expect(await verdict('GET', '/v1/models', { authorization: `Bearer ${key}` })).toBe('200');
    expect(await verdict('GET', '/v1/models', { authorization: `Basic ${key}` })).toBe('401');
    const root = { 'new-api-user': String(gateway.root.id) };
    expect(await verdict('GET', '/api/user/self', { ...root, authorization: `Bearer ${accessToken}` })).toBe('200');
    expect(await verdict('GET', '/api/user/self', { ...root, authorization: `Basic ${accessToken}` })).toBe(
      '200 refused',
    );
  });
});
