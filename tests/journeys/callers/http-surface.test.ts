import { once } from 'node:events';
import { connect } from 'node:net';
import * as zlib from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';

/* The relay as HTTP: bodies, encodings, headers, unknown places. */

const balance = 10_000_000;
const model = 'gpt-4o-mini';
const mebibyte = 1024 * 1024;

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let apiKey: string;
let caller: Caller;

const codeOf = (answer: Answer): [number, string] => [answer.status, errorIn(answer).code];

beforeAll(async () => {
  gateway = await startTestGateway({ MAX_REQUEST_BODY_MB: '2' });
  callers = openCallers(gateway.url);
  await gateway.addChannel({ models: [model, 'vendor/name with 100%'] });
  await gateway.setOption('ModelRatio', JSON.stringify({ [model]: 0.075, 'vendor/name with 100%': 1 }));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(balance);
  apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
});

const chatBody = (content = 'What is a ledger?'): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content }] });

const { brotliCompressSync, deflateSync, gzipSync } = zlib;
/** Not there before Node 22.15. */
const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Buffer };

describe('a compressed body', () => {
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['X-GZip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (text: string) => Buffer.from(text)],
  ])('in %s is decompressed', async (encoding, pack) => {
    const answer = await caller.chat({}, { body: pack(chatBody()), headers: { 'content-encoding': encoding } });
    expect(answer.status).toBe(200);
    expect(gateway.provider.tally().requests[0]?.body).toMatchObject({ model });
  });

  test.skipIf(zstdCompressSync === undefined)('in zstd is decompressed where Node can (22.15 and newer)', async () => {
    const body = zstdCompressSync?.(chatBody()) ?? '';
    expect((await caller.chat({}, { body, headers: { 'content-encoding': 'zstd' } })).status).toBe(200);
  });

  test('that is not in the declared encoding is refused', async () => {
    const headers = { 'content-encoding': 'gzip' };
    expect(codeOf(await caller.chat({}, { body: chatBody(), headers }))).toEqual([400, 'invalid_request']);
    const torn = gzipSync(chatBody()).subarray(0, -12);
    expect(codeOf(await caller.chat({}, { body: torn, headers }))).toEqual([400, 'invalid_request']);
    for (const encoding of [...('zstdCompressSync' in zlib ? [] : ['zstd']), 'gzip, br', 'constructor', '__proto__'])
      expect([
        encoding,
        ...codeOf(await caller.chat({}, { body: chatBody(), headers: { 'content-encoding': encoding } })),
      ]).toEqual([encoding, 400, 'invalid_request']);
    expect(gateway.provider.tally().calls).toBe(0);
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('in %s that decompresses beyond the limit is refused, however small it was', async (encoding, pack) => {
    const bomb = pack(chatBody(' '.repeat(64 * mebibyte)));
    expect(bomb.length).toBeLessThan(mebibyte);
    const answer = await caller.chat({}, { body: bomb, headers: { 'content-encoding': encoding } });
    expect(codeOf(answer)).toEqual([413, 'read_request_body_failed']);
    expect(answer.requestId).not.toBe('');
  });

  test('whose caller disconnects during decompression releases everything', async () => {
    const counting = Array.from({ length: 200_000 }, (_, number) => number).join(' ');
    const packed = gzipSync(JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: counting }] }));
    const { port, hostname } = new URL(gateway.url);
    for (let call = 0; call < 5; call++) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      const head = [
        'POST /v1/chat/completions HTTP/1.1',
        'host: gateway',
        `authorization: Bearer ${apiKey}`,
        'content-type: application/json',
        'content-encoding: gzip',
        `content-length: ${packed.length}`,
      ];
      socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), packed]));
      socket.destroySoon();
      await once(socket, 'close');
    }
    // One that stays, unpacked after those: when it is answered they have been dealt with, or hang.
    const stayed = await caller.chat({}, { body: packed, headers: { 'content-encoding': 'gzip' } });
    expect(stayed.text).toContain('[DONE]');
    await until(async () => {
      const lines = await gateway.application.queries.logBefore(user.actor, { type: 2 }, { limit: 10 }, true);
      const charged = lines.reduce((sum, { quota }) => sum + quota, 0);
      const rests = lines.length === gateway.provider.tally().calls && lines.length > 0;
      return rests && (await gateway.available(user)) === balance - charged ? true : null;
    });
  });
});

test('a caller that disconnects inside its body causes no error, and no line in the log', async () => {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const before = gateway.logged.length;
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${apiKey}\r\ncontent-length: 99\r\n\r\n{"model`,
  );
  socket.end();
  await once(socket.resume(), 'close');
  expect((await caller.chat({ model })).status).toBe(200);
  const errors = gateway.logged.slice(before).filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
  expect(errors).toEqual([]);
});

test('embeddings are served at the address of the oldest clients, which has the model in its path', async () => {
  const name = 'vendor/name with 100%';
  const path = `/v1/engines/${encodeURIComponent(name)}/embeddings`;
  const answer = await caller.send(path, { method: 'POST', body: { input: 'A ledger.' } });
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, expect.objectContaining({ object: 'list' })]);
  expect(gateway.provider.tally().requests[0]).toMatchObject({ body: { model: name, input: 'A ledger.' } });
  expect(await gateway.available(user)).toBeLessThan(balance);
});

describe('an over-long body', () => {
  test('is refused by its announced length and while it arrives', async () => {
    const long = chatBody('x'.repeat(3 * mebibyte));
    expect(codeOf(await caller.chat({}, { body: long }))).toEqual([413, 'read_request_body_failed']);
    expect(gateway.provider.tally().calls).toBe(0);
    expect((await caller.chat({ model })).status).toBe(200);
  });

  test('just within the limit is served', async () => {
    const answer = await caller.chat({}, { body: chatBody('x '.repeat(mebibyte - 200)) });
    expect(answer.status).toBe(200);
  });
});

describe('a path that the gateway does not have', () => {
  const nowhere: [string, string][] = [
    ['GET', '/v1/nope'],
    ['POST', '/v1/chat/completions/extra'],
    ['GET', '/v1/chat/completions'],
    ['PUT', '/v1/chat/completions'],
    ['PATCH', '/v1/embeddings'],
    ['DELETE', '/v1/completions'],
    ['GET', '/v1'],
    ['GET', '/v1/chat/completions/'],
    ['PROPFIND', '/v1/models'],
  ];

  test.each(nowhere)('%s %s is answered with 404 in the form of the dialect', async (method, path) => {
    const answer = await caller.send(path, { method });
    expect(answer.status).toBe(404);
    expect(errorIn(answer)).toMatchObject({ type: 'invalid_request_error', param: '', code: '' });
    expect(errorIn(answer).message).toContain(`Invalid URL (${method} ${path})`);
    expect(answer.requestId).toMatch(/^\d{17}\w{8}$/);
  });

  test('HEAD is answered without a body', async () => {
    const list = await caller.send('/v1/models', { method: 'HEAD' });
    expect([list.status, list.text]).toEqual([200, '']);
    const nothing = await caller.send('/v1/nope', { method: 'HEAD' });
    expect([nothing.status, nothing.text]).toEqual([404, '']);
    expect(nothing.requestId).not.toBe('');
  });

  test('and an unparsable address are refused in the form of the dialect', async () => {
    const answer = await caller.send('/v1/models/%zz');
    expect(answer.status).toBe(400);
    expect(errorIn(answer).type).toBe('invalid_request_error');
    expect(answer.requestId).not.toBe('');
  });

  const later: [string, string][] = [
    ['POST', '/v1/edits'],
    ['POST', '/v1/images/variations'],
    ['GET', '/v1/files'],
    ['GET', '/v1/files/file-1/content'],
    ['POST', '/v1/fine-tunes'],
    ['DELETE', '/v1/models/some/model'],
  ];
  test.each(later)('%s %s is answered as not implemented, to callers with a key', async (method, path) => {
    const answer = await caller.send(path, { method });
    expect(answer.status).toBe(501);
    expect(errorIn(answer)).toMatchObject({ type: 'gateway_error', param: '', code: 'api_not_implemented' });
    expect(errorIn(answer).message).toContain('API not implemented');
    expect(codeOf(await callers.with(null).send(path, { method }))).toEqual([401, 'missing_api_key']);
  });

  test.each([
    ['POST', '/v1/complete', { type: 'error', error: { type: 'api_error' } }, 'POST /v1/messages'],
    ['POST', '/v1beta/interactions', { error: { code: 501, status: 'UNIMPLEMENTED' } }, ':generateContent'],
    ['GET', '/v1beta/interactions/v1_1', { error: { code: 501, status: 'UNIMPLEMENTED' } }, ':generateContent'],
  ] as const)('%s %s is refused in the format of its clients, with the endpoint to use instead', async (...asked) => {
    const [method, path, body, instead] = asked;
    const answer = await caller.send(path, { method });
    expect(answer.status).toBe(501);
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(JSON.parse(answer.text)).toMatchObject(body);
    expect(JSON.parse(answer.text).error.message).toContain(instead);
    expect((await callers.with(null).send(path, { method })).status).toBe(401);
  });
});

describe('a model with an unusual name', () => {
  const name = 'vendor/name with 100%';

  test('can be requested, and read by its address', async () => {
    expect((await caller.chat({ model: name })).status).toBe(200);
    const answer = await caller.send(`/v1/models/${encodeURIComponent(name)}`);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ id: name });
    const slashed = await caller.send(`/v1/models/vendor/${encodeURIComponent('name with 100%')}`);
    expect(JSON.parse(slashed.text)).toMatchObject({ id: name });
  });
});

describe('every answer', () => {
  test('has a request id of its own, and an error repeats it once', async () => {
    gateway.provider.script('gpt-4o', { kind: 'refuse', status: 500 });
    const answers = [
      await caller.chat({ model }),
      await caller.chat({ model, stream: true }),
      await caller.send('/v1/models'),
      await caller.chat({ model: 'no-such-model' }),
      await callers.with('sk-wrong').chat({ model }),
      await caller.chat({}, { body: 'no json' }),
      await caller.send('/v1/models/unknown'),
    ];
    for (const { requestId, headers } of answers) {
      expect(requestId).toMatch(/^\d{17}\w{8}$/);
      expect(headers['x-oneapi-request-id']).toBe(requestId);
    }
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(answers.length);
    for (const answer of answers.filter(({ status }) => status >= 400))
      expect(errorIn(answer).message.split(`(request id: ${answer.requestId})`)).toHaveLength(2);
  });

  test('has only the gateway’s own headers: an upstream’s ids and limits stay out', async () => {
    const { headers } = await caller.chat({ model });
    expect(headers['x-request-id']).not.toMatch(/simulated/);
    expect(headers['set-cookie']).toBeUndefined();
    expect(headers['content-encoding']).toBeUndefined();
  });
});

describe('a browser of another origin', () => {
  const origin = 'https://chat.example';

  test('may send a preflight request', async () => {
    const answer = await callers.with(null).send('/v1/chat/completions', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    expect(answer.headers['access-control-allow-methods']).toContain('POST');
    expect(answer.headers['access-control-allow-headers']).toContain('authorization');
    // A key is given explicitly; cookies of the console have no business here.
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('may read answers, streams and errors, and the request id with them', async () => {
    const headers = { origin };
    const answers = [
      await caller.chat({ model }, { headers }),
      await caller.chat({ model, stream: true }, { headers }),
      await caller.chat({ model: 'no-such-model' }, { headers }),
      await caller.send('/v1/nope', { headers }),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([answer.status, origin]);
      expect(answer.headers['access-control-expose-headers']).toContain('x-request-id');
      expect(answer.headers.vary).toMatch(/origin/i);
    }
  });
});
