import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Failure, type FailureCode, failureKinds } from '../../src/domain/kernel/failure.js';
import { messageOf } from '../../src/rest-compat/wire/messages.js';
import { type Cast, dataOf, openStage, send, serveRest } from './rest-server.js';

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.stop());

describe('every answer', () => {
  test('contains its request id, under both names', async () => {
    const { headers } = await send(stage.url, 'GET', '/api/status');
    expect(headers.get('x-oneapi-request-id')).toMatch(/^20261121070000123request\d{3,}$/);
    expect(headers.get('x-request-id')).toBe(headers.get('x-oneapi-request-id'));
  });
  test('is JSON in UTF-8 and not cacheable', async () => {
    const { headers } = await send(stage.url, 'GET', '/api/status');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
  });
  test('has the three members', async () => {
    const { text } = await send(stage.url, 'GET', '/api/user/logout');
    expect(text).toBe('{"success":true,"message":"","data":null}');
  });
  test('is compressed for clients that accept gzip, and only for them', async () => {
    const raw = (encoding: string) =>
      new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
        request(`${stage.url}/api/status`, { headers: { 'accept-encoding': encoding } }, (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () =>
            resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(parts) }),
          );
        })
          .on('error', reject)
          .end();
      });
    const zipped = await raw('gzip');
    expect(zipped.encoding).toBe('gzip');
    expect(JSON.parse(gunzipSync(zipped.body).toString())).toMatchObject({ success: true });
    const plain = await raw('identity');
    expect(plain.encoding).toBeUndefined();
    expect(JSON.parse(plain.body.toString())).toMatchObject({ success: true });
  });
});

describe('a path of the legacy interface', () => {
  test.each([
    ['/api/group/', '/api/group'],
    ['/api/token/', '/api/token'],
    ['/api/log/self', '/api/log/self/'],
    ['/api/mj/', '/api/mj'],
    ['/api/task/', '/api/task'],
    ['/api/channel/search', '/api/channel/search/'],
  ])('such as %s is served as %s too', async (documented, other) => {
    const answers = [await stage.root.get(documented), await stage.root.get(other)];
    expect(answers.map(({ status, json }) => [status, json.success])).toEqual([
      [200, true],
      [200, true],
    ]);
    expect(answers[1]?.json.data).toEqual(answers[0]?.json.data);
  });
  test.each([
    ['GET', '/api/nothing'],
    ['GET', '/api'],
    ['PATCH', '/api/user/self'],
    ['DELETE', '/api/status'],
    ['DELETE', '/api/mj/self'],
    ['PATCH', '/api/task/'],
  ])('%s %s is unknown, never "method not allowed"', async (method, path) => {
    const answer = await send(stage.url, method, `${path}?p=1`, { headers: stage.root.headers });
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({
      error: { message: `Invalid URL (${method} ${path})`, type: 'invalid_request_error', param: '', code: '' },
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-oneapi-request-id')).not.toBeNull();
  });
  test('with HEAD is refused where GET changes something: it must not create a new access token', async () => {
    expect((await send(stage.url, 'HEAD', '/api/user/token', { headers: stage.alice.headers })).status).toBe(405);
  });
  test('with an id that is not a number has that error', async () => {
    const answer = await stage.admin.get('/api/user/seven');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      success: false,
      message: '无效的参数：id（an integer）',
      data: { field: 'id', allowed: 'an integer' },
    });
  });
  test.each([
    '/api/user/0',
    '/api/user/-3',
    '/api/user/4711',
    '/api/channel/4711',
    '/api/channel/-1',
    '/api/token/4711',
  ])('with %s as an id finds nothing', async (path) => {
    const answer = await stage.root.get(path);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ success: false, message: 'record not found', data: null });
  });
});

describe('a body of the legacy interface', () => {
  const create = (sent: { body?: unknown; raw?: string | Buffer<ArrayBuffer> }) =>
    send(stage.url, 'POST', '/api/token/', { headers: stage.alice.headers, ...sent });
  const refused = (field: string, allowed: string) => ({
    success: false,
    message: `无效的参数：${field}（${allowed}）`,
    data: { field, allowed },
  });
  const newest = async () => dataOf<{ name: string; remain_quota: number }[]>(await stage.alice.get('/api/token/'))[0];

  test.each(['', 'nonsense', '{"name":', '[]', '"text"', '7', 'null'])(
    '%j is refused as the body of a request',
    async (raw) => {
      const answer = await create({ raw });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({ success: false, message: '无效的参数', data: null });
    },
  );
  test.each([
    ['a lone byte', [0xff]],
    ['half a character', [0xe6, 0xbc]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('that is not UTF-8 (%s) is refused, and the error names the expected encoding', async (_what, wrong) => {
    const raw = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(wrong), Buffer.from('"}')]);
    const answer = await create({ raw });
    expect([answer.status, answer.json]).toEqual([
      200,
      { success: false, message: '无效的参数：请求体（UTF-8 text）', data: { allowed: 'UTF-8 text' } },
    ]);
  });
  test('may have names in any letter case, and unknown members', async () => {
    await create({ body: { NAME: 'upper', Remain_Quota: 7, DeletedAt: null, key: 'added by the client' } });
    expect(await newest()).toMatchObject({ name: 'upper', remain_quota: 7 });
  });
  test('may have null for an absent member', async () => {
    await create({ body: { name: 'nulls', remain_quota: null, expired_time: null, allow_ips: null, group: null } });
    expect(await newest()).toMatchObject({ name: 'nulls', remain_quota: 0, expired_time: -1, allow_ips: '' });
  });
  test('may have -0 for 0', async () => {
    await create({ raw: '{"name":"minus","remain_quota":-0}' });
    expect(await newest()).toMatchObject({ name: 'minus', remain_quota: 0 });
  });
  test.each([
    ['remain_quota', '5', 'an integer'],
    ['remain_quota', 1.5, 'an integer'],
    ['remain_quota', true, 'an integer'],
    ['remain_quota', Number.MAX_SAFE_INTEGER + 1, 'an integer'],
    ['expired_time', '-1', 'an integer'],
    ['expired_time', 9e15, 'unix seconds from 0 to 253402300799, or -1 for never'],
    ['unlimited_quota', 'true', 'true or false'],
    ['unlimited_quota', 1, 'true or false'],
    ['name', 5, 'text'],
    ['name', ['a'], 'text'],
    ['name', 'nul \u0000', 'well-formed text without NUL characters'],
    ['name', 'half \ud800', 'well-formed text without NUL characters'],
  ])('with %s %j is refused, naming the member', async (field, value, allowed) => {
    expect((await create({ body: { name: 'x', [field]: value } })).json).toEqual(refused(field, allowed));
  });
  test('of zero length needs no type', async () => {
    const headers = { ...stage.alice.headers, 'content-type': 'text/plain' };
    const answer = await send(stage.url, 'DELETE', '/api/token/4711', { headers });
    expect(answer.json).toEqual({ success: false, message: 'record not found', data: null });
  });
  test('beyond 4 MiB is not read', async () => {
    const answer = await create({ raw: `{"name":"${'x'.repeat(4 * 1024 * 1024)}"}` });
    expect(answer.status).toBe(413);
    expect(answer.json).toEqual({ success: false, message: '请求体过大', data: null });
  });
});

describe('a query of the legacy interface', () => {
  const users = async (query: string) =>
    dataOf<{ items: { username: string }[]; page: number; page_size: number; total: number }>(
      await stage.root.get(`/api/user/?${query}`),
    );

  test.each(['', 'p=', 'p=0', 'p=-3', 'p=NaN', 'p=undefined', 'p=1.5', 'p=1&p=2', 'page_size=0', 'page_size=-5'])(
    'such as %j requests the first ten',
    async (query) => {
      expect(await users(query)).toMatchObject({ page: 1, page_size: 10, total: 5 });
    },
  );
  test('for pages returns at most a hundred rows, and none beyond the end', async () => {
    expect(await users('page_size=5000')).toMatchObject({ page_size: 100 });
    expect(await users('p=2&page_size=4')).toMatchObject({ page: 2, page_size: 4, total: 5, items: [{ id: 1 }] });
    expect(await users('p=9007199254740991')).toMatchObject({ items: [], total: 5 });
    expect(await users('p=99999999999999999999')).toMatchObject({ page: 1 });
  });
  test.each(['%00', '%', '%E0%A4', '_', '\\', "'", '%25', 'constructor'])(
    'such as %j is only a search word',
    async (word) => {
      const found = await stage.root.get(`/api/user/search?keyword=${word}&sort=${word}&group=${word}`);
      expect(found.status).toBe(200);
      const lines = await stage.root.get(`/api/log/?model_name=${word}&username=${word}&type=${word}`);
      expect(lines.status).toBe(200);
      const channels = await stage.root.get(`/api/channel/search?keyword=${word}&model=${word}&group=${word}`);
      expect(channels.status).toBe(200);
    },
  );
});

describe('an internal error', () => {
  test('is answered without details', async () => {
    const { application } = stage.gateway;
    const broken = {
      ...application,
      queries: {
        ...application.queries,
        self: async (): Promise<never> => {
          throw new Error('select password from users');
        },
      },
    };
    const rest = await serveRest(broken);
    const answer = await send(rest.url, 'GET', '/api/user/self', { headers: stage.alice.headers });
    await rest.stop();
    expect(answer.status).toBe(500);
    expect(answer.json).toEqual({
      error: {
        message: 'internal error (request id: 20261121070000123request001)',
        type: 'gateway_panic',
        param: '',
        code: '',
      },
    });
  });
});

describe('the messages of the legacy interface', () => {
  test.each(Object.keys(failureKinds) as FailureCode[])('include a text for %s', (code) => {
    const text = messageOf(
      new Failure(code, {
        ...{ field: 'name', allowed: 'text', max: 1, min: 1 },
        ...{ model: 'm', needed: 'n', reason: 'r', because: 'answers-unseen', period: '2026-10', file: 'f' },
      }),
    );
    // What an upstream says, or its status, stands for itself.
    if (['balance-not-told', 'models-not-askable', 'models-not-told'].includes(code)) return expect(text).toBe('r');
    expect(text).toMatch(/\p{Script=Han}|^record not found$|^state is empty or not same$|domain name whitelist/u);
    expect(text).not.toContain('undefined');
  });
});
