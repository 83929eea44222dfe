import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../../src/relay/contracts/endpoint.js';
import { RelayError } from '../../../src/relay/contracts/errors.js';
import { serveDialectRouter } from '../../support/callers/served-dialect-router.js';

/* The relay's places on a server that knows nothing but the relay. */

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Paths go out as they stand: `fetch` would tidy them. */
const ask = (url: string, method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    httpRequest({ hostname, port, method, path, headers, agent: false }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }), reject);
    })
      .on('error', reject)
      .end();
  });

interface Handled {
  readonly endpoint: Pick<Endpoint, 'path'>;
  readonly requestId: string;
  readonly query: URLSearchParams;
  readonly ip: string;
  readonly credential: { readonly key: string } | null;
  readonly response: ServerResponse;
  readonly head: string[];
}

async function served() {
  const calls: Handled[] = [];
  const failing = { with: null as unknown };
  const url = await serveDialectRouter({
    relay: {
      async handle(call: Handled) {
        calls.push(call);
        call.response.writeHead(200, call.head).end(call.endpoint.path);
      },
      async identify() {
        throw failing.with;
      },
    },
    directory: {},
    providerName: () => null,
    elsewhere: ['/v1/elsewhere'],
  } as never);
  return { url, calls, failing };
}

const errorOf = ({ body }: Answer) => (JSON.parse(body) as { error: { message: string; code: string } }).error;

test('a call is routed to the endpoint of its path, with its query, its caller and a new request id', async () => {
  const { url, calls } = await served();
  const headers = { authorization: 'Bearer sk-abc' };
  const first = await ask(url, 'POST', '/v1/chat/completions?key=a%20b&x', headers);
  const second = await ask(url, 'POST', '/v1/embeddings');
  expect([first.body, second.body]).toEqual(['/v1/chat/completions', '/v1/embeddings']);
  expect(calls.map(({ query }) => [query.get('key'), [...query].length])).toEqual([
    ['a b', 2],
    [null, 0],
  ]);
  expect(calls.map(({ requestId }) => requestId)).toEqual(['id-1', 'id-2']);
  expect(first.headers).toMatchObject({ 'x-request-id': 'id-1', 'x-oneapi-request-id': 'id-1' });
  expect(calls[0]).toMatchObject({ ip: '127.0.0.1', credential: { key: 'abc' } });
});

test('a path outside the relay is left to others', async () => {
  const { url } = await served();
  const others = ['/', '/api/status', '/v1x', '/V1/models', '/v1/models/%zz', '/v1/elsewhere', '/v1/elsewhere?a=b'];
  for (const path of others) {
    const { status, headers } = await ask(url, 'GET', path);
    expect([path, status, headers['x-request-id']]).toEqual([path, 418, undefined]);
  }
  expect((await ask(url, 'OPTIONS', '/api/status')).status).toBe(418);
});

test('an unknown path below the root of a dialect is refused in the form of that dialect, for every method', async () => {
  const { url, calls } = await served();
  const cases: [string, string][] = [
    ['GET', '/v1'],
    ['GET', '/v1/nope?key=sk-secret'],
    ['GET', '/v1/chat/completions'],
    ['POST', '/v1/models'],
    ['POST', '/v1/elsewhere'],
    ['PROPFIND', '/v1/models'],
    ['POST', '/v1/chat/completions/'],
  ];
  for (const [method, path] of cases) {
    const answer = await ask(url, method, path);
    expect([path, answer.status]).toEqual([path, 404]);
    const id = answer.headers['x-request-id'];
    expect(answer.headers['x-on-all']).toBe('yes');
    expect(errorOf(answer).message).toBe(`Invalid URL (${method} ${path.split('?')[0]}) (request id: ${id})`);
  }
  expect(calls).toEqual([]);
});

test('a client of any dialect is refused in its own form where an address or a method is not there', async () => {
  const { url, failing } = await served();
  failing.with = new RelayError(501, 'api_not_implemented', 'API not implemented');
  const asked: [path: string, headers: Record<string, string>, error: object][] = [
    ['/v1/messages/batches', { 'anthropic-version': '2023-06-01' }, { type: 'not_found_error' }],
    ['/v1/files', { 'anthropic-version': '2023-06-01' }, { type: 'api_error' }],
    ['/v1/nope', { 'x-goog-api-key': 'k' }, { code: 404, status: 'NOT_FOUND' }],
    ['/v1/messages/batches', {}, { type: 'invalid_request_error', code: '' }],
  ];
  for (const [path, headers, error] of asked)
    expect([path, JSON.parse((await ask(url, 'GET', path, headers)).body).error]).toMatchObject([path, error]);
});

test('a model name in a path may be as long as an address, and may contain any characters', async () => {
  const { url, failing } = await served();
  failing.with = new RelayError(403, 'seen', 'seen');
  for (const path of [`/v1/files/${'x'.repeat(5000)}`, '/v1/models/vendor/name%20with%20100%25'])
    expect([(await ask(url, 'GET', path)).status, path]).toEqual([403, path]);
});

test('a failure of an endpoint has the form of its dialect, and an internal error discloses nothing', async () => {
  const { url, failing } = await served();
  failing.with = new RelayError(401, 'invalid_api_key', 'invalid token');
  const refused = await ask(url, 'GET', '/v1/models');
  expect([refused.status, errorOf(refused).code]).toEqual([401, 'invalid_api_key']);
  expect((await ask(url, 'HEAD', '/v1/models')).status).toBe(401);
  failing.with = new Error('a secret of the house');
  const failed = await ask(url, 'POST', '/v1/edits');
  expect([failed.status, errorOf(failed).code]).toEqual([500, 'internal_error']);
  expect(failed.body).not.toContain('secret');
});

test('pages of other origins may call, and read request ids', async () => {
  const { url } = await served();
  const origin = 'https://chat.example';
  const before = await ask(url, 'OPTIONS', '/v1/chat/completions', { origin });
  expect([before.status, before.headers['access-control-allow-origin']]).toEqual([204, origin]);
  expect(before.headers['access-control-allow-headers']).toContain('authorization');
  const answer = await ask(url, 'POST', '/v1/chat/completions', { origin });
  expect(answer.headers['access-control-expose-headers']).toContain('x-upstream-request-id');
  expect(answer.headers.vary).toBe('origin');
  expect((await ask(url, 'POST', '/v1/chat/completions')).headers.vary).toBeUndefined();
});
