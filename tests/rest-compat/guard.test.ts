import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answered, type Cast, cookieIn, dataOf, openStage, send, signIn } from './rest-server.js';

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.stop());

const refusal = (message: string) => ({ success: false, message, data: null });
const get = (path: string, headers: Record<string, string> = {}): Promise<Answered> =>
  send(stage.url, 'GET', path, { headers });

const accessToken = async (): Promise<string> => dataOf<string>(await stage.alice.get('/api/user/token'));

describe('the guard, in its order', () => {
  test('requires a session or an access token', async () => {
    const answer = await get('/api/user/self', { 'new-api-user': String(stage.alice.id) });
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual(refusal('无权进行此操作，未登录且未提供 access token'));
  });
  test('refuses an unknown access token', async () => {
    const answer = await get('/api/user/self', { authorization: 'Bearer nobody', 'new-api-user': '1' });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(refusal('无权进行此操作，access token 无效'));
  });
  test('refuses an API key as an access token', async () => {
    const key = await stage.gateway.addApiKey(stage.users.alice);
    const answer = await get('/api/user/self', { authorization: `Bearer ${key}`, 'new-api-user': '4' });
    expect(answer.json.message).toBe('无权进行此操作，access token 无效');
  });
  test('requires the id of the user', async () => {
    const answer = await get('/api/user/self', { cookie: stage.alice.headers.cookie ?? '' });
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual(refusal('无权进行此操作，未提供 New-Api-User'));
  });
  test.each(['four', '4.0', '4x', 'undefined'])('refuses %s as the id of a user', async (claimed) => {
    const answer = await get('/api/user/self', { ...stage.alice.headers, 'new-api-user': claimed });
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual(refusal('无权进行此操作，New-Api-User 格式错误'));
  });
  test.each(['-1', '0', '1', '99999999999999999999'])('refuses %s as the id of another user', async (claimed) => {
    const answer = await get('/api/user/self', { ...stage.alice.headers, 'new-api-user': claimed });
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual(refusal('无权进行此操作，New-Api-User 与登录用户不匹配'));
  });
  test('requires the id with an access token too', async () => {
    const answer = await get('/api/user/self', { authorization: await accessToken() });
    expect(answer.json).toEqual(refusal('无权进行此操作，未提供 New-Api-User'));
  });
  test('refuses users with too low a role', async () => {
    const asAlice = await stage.alice.get('/api/user/');
    expect(asAlice.status).toBe(200);
    expect(asAlice.json).toEqual(refusal('无权进行此操作，权限不足'));
    expect((await stage.admin.get('/api/option/')).json).toEqual(refusal('无权进行此操作，权限不足'));
  });
  test('is applied before the body is read', async () => {
    const answer = await send(stage.url, 'POST', '/api/token/', { raw: 'not json' });
    expect(answer.status).toBe(401);
  });
});

describe('an access token', () => {
  test.each(['', 'Bearer ', 'bearer '])('is accepted after %j', async (prefix) => {
    const headers = { authorization: `${prefix}${await accessToken()}`, 'New-API-User': String(stage.alice.id) };
    expect(dataOf<{ username: string }>(await get('/api/user/self', headers)).username).toBe('alice');
  });
  test('is replaced by the next one', async () => {
    const first = await accessToken();
    await accessToken();
    const answer = await get('/api/user/self', { authorization: first, 'new-api-user': String(stage.alice.id) });
    expect(answer.json).toEqual(refusal('无权进行此操作，access token 无效'));
  });
  test('is ignored beside a session', async () => {
    const answer = await get('/api/user/self', { ...stage.bob.headers, authorization: await accessToken() });
    expect(dataOf<{ username: string }>(answer).username).toBe('bob');
  });
  test('is used where the session has ended', async () => {
    const headers = {
      cookie: 'session=over',
      authorization: await accessToken(),
      'new-api-user': String(stage.alice.id),
    };
    expect(dataOf<{ username: string }>(await get('/api/user/self', headers)).username).toBe('alice');
  });
});

describe('a session of the legacy interface', () => {
  const login = (headers: Record<string, string> = {}) =>
    send(stage.url, 'POST', '/api/user/login', {
      headers,
      body: { username: 'bob', password: stage.users.bob.password },
    });

  test('is in a cookie that scripts and other sites cannot use', async () => {
    const [cookie = ''] = (await login()).headers.getSetCookie();
    expect(cookie).toMatch(/^session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
  });
  test('is Secure when the sign-in was over https', async () => {
    const [cookie = ''] = (await login({ 'x-forwarded-proto': 'https' })).headers.getSetCookie();
    expect(cookie).toContain('; Secure');
  });
  test('never reuses a token from before the sign-in', async () => {
    const planted = `session=${'a'.repeat(43)}`;
    const answer = await login({ cookie: planted });
    expect(cookieIn(answer)).not.toBe(planted);
    const asPlanted = await get('/api/user/self', { cookie: planted, 'new-api-user': String(stage.bob.id) });
    expect(asPlanted.status).toBe(401);
  });
  test('ends when its user signs in again', async () => {
    const first = cookieIn(await login());
    const second = cookieIn(await login({ cookie: first }));
    const id = String(stage.bob.id);
    expect((await get('/api/user/self', { cookie: first, 'new-api-user': id })).status).toBe(401);
    expect((await get('/api/user/self', { cookie: second, 'new-api-user': id })).json.success).toBe(true);
  });
  test('ends with signing out, for every holder of the cookie', async () => {
    const client = await signIn(stage.url, 'bob', stage.users.bob.password);
    const answer = await client.get('/api/user/logout');
    expect(answer.json).toEqual({ success: true, message: '', data: null });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^session=; Max-Age=0;/);
    expect((await client.get('/api/user/self')).status).toBe(401);
  });
  test('is not required to sign out', async () => {
    expect((await get('/api/user/logout')).json.success).toBe(true);
  });
  test('has the user’s current rights, not those at sign-in', async () => {
    const { gateway, url } = stage;
    const carol = await gateway.addUser(0, 'carol');
    const client = await signIn(url, 'carol', carol.password);
    expect((await client.get('/api/user/')).json.message).toBe('无权进行此操作，权限不足');
    await stage.root.post('/api/user/manage', { id: carol.actor.id, action: 'promote' });
    expect((await client.get('/api/user/')).json.success).toBe(true);
    await stage.root.post('/api/user/manage', { id: carol.actor.id, action: 'demote' });
    expect((await client.get('/api/user/')).json.message).toBe('无权进行此操作，权限不足');
  });
  test('of a disabled user is over, with the reason; so is its access token', async () => {
    const { gateway, url } = stage;
    const dave = await gateway.addUser(0, 'dave');
    const client = await signIn(url, 'dave', dave.password);
    const token = dataOf<string>(await client.get('/api/user/token'));
    await stage.admin.post('/api/user/manage', { id: dave.actor.id, action: 'disable' });
    const byToken = await get('/api/user/self', { authorization: token, 'new-api-user': String(client.id) });
    for (const answer of [await client.get('/api/user/self'), byToken]) {
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual(refusal('用户已被封禁'));
    }
  });
  test('of a disabled user gives the reason only with the id of the user, in the order of the checks', async () => {
    const { gateway, url } = stage;
    const erin = await gateway.addUser(0, 'erin');
    const { headers } = await signIn(url, 'erin', erin.password);
    await stage.admin.post('/api/user/manage', { id: erin.actor.id, action: 'disable' });
    const { cookie = '' } = headers;
    expect((await get('/api/user/self', { cookie })).status).toBe(401);
    expect((await get('/api/user/self', { cookie, 'new-api-user': '1' })).status).toBe(401);
  });
  test('of a disabled user permits no request, and is not restored', async () => {
    const { gateway, url } = stage;
    const frank = await gateway.addUser(500, 'frank');
    const client = await signIn(url, 'frank', frank.password);
    await stage.root.post('/api/user/manage', { id: frank.actor.id, action: 'promote' });
    await stage.root.post('/api/user/manage', { id: frank.actor.id, action: 'disable' });
    const answers = [
      await client.get('/api/token/'),
      await client.post('/api/token/', { name: 'mine' }),
      await client.put('/api/user/self', { display_name: 'still here' }),
      await client.get('/api/user/token'),
      await client.post('/api/user/manage', { id: stage.bob.id, action: 'disable' }),
      await client.get('/api/channel/'),
    ];
    for (const answer of answers) expect(answer.json).toEqual(refusal('用户已被封禁'));
    const me = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: client.headers.cookie ?? '' },
      body: JSON.stringify({ query: '{ me { username } }' }),
    });
    expect(await me.json()).toEqual({ data: { me: null } });
    // Prices are for everybody; those of a user's own groups are not for this one.
    const anonymous = await send(url, 'GET', '/api/pricing');
    expect((await get('/api/pricing', { cookie: client.headers.cookie ?? '' })).json).toEqual(anonymous.json);

    await stage.root.post('/api/user/manage', { id: frank.actor.id, action: 'enable' });
    expect((await client.get('/api/user/self')).status).toBe(401);
    expect((await stage.bob.get('/api/user/self')).json.success).toBe(true);
  });
  test('that a new password ended discloses nothing of a later disabling', async () => {
    const { gateway, url } = stage;
    const grace = await gateway.addUser(0, 'grace');
    const { headers } = await signIn(url, 'grace', grace.password);
    await stage.root.put('/api/user/', { id: grace.actor.id, username: 'grace', password: 'another-horse' });
    await stage.root.post('/api/user/manage', { id: grace.actor.id, action: 'disable' });
    expect((await get('/api/user/self', headers)).status).toBe(401);
  });
});

describe('a request from a page of another site', () => {
  const credentials = () => JSON.stringify({ username: 'bob', password: stage.users.bob.password });
  const login = (headers: Record<string, string>) =>
    send(stage.url, 'POST', '/api/user/login', { headers, raw: credentials() });

  test('is refused when the browser marks it', async () => {
    const answer = await login({ 'sec-fetch-site': 'cross-site' });
    expect(answer.status).toBe(403);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
  test.each<Record<string, string>>([
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://evil.example' },
    { origin: 'http://evil.example', 'sec-fetch-site': 'none' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'http://evil.example', authorization: 'Bearer anything' },
  ])('is refused when the browser sends %j', async (headers) => {
    const answer = await login(headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; application/json',
    '',
  ])('cannot have a form’s content type: %j is not JSON', async (type) => {
    const answer = await login({ 'content-type': type });
    expect(answer.status).toBe(415);
    expect(answer.json).toMatchObject({ success: false, message: expect.stringContaining('application/json') });
  });
  test.each([
    '/api/user/logout',
    '/api/user/token',
    '/api/channel/test/1',
    '/api/channel/test',
    '/api/channel/update_balance',
    '/api/channel/update_balance/1',
    '/api/channel/fetch_models/1',
  ])('is refused at %s too, which changes something though it is a GET', async (path) => {
    const { headers } = await signIn(stage.url, 'bob', stage.users.bob.password);
    const pages: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'http://evil.example' }];
    for (const foreign of pages) {
      const answer = await get(path, { ...headers, ...foreign });
      expect([answer.status, answer.json.message]).toEqual([403, '拒绝来自其他网站的请求']);
    }
    expect((await get('/api/user/self', headers)).json.success).toBe(true);
  });
  test.each([
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-origin', origin: 'http://renamed.by.a.proxy' },
    { 'sec-fetch-site': 'none' },
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'application/merge-patch+json' },
    {},
  ])('is not one with %j', async (headers) => {
    expect((await login(headers as Record<string, string>)).json.success).toBe(true);
  });
  test('is distinguished from one of the gateway’s own pages', async () => {
    expect((await login({ origin: stage.url })).json.success).toBe(true);
  });
  test('cannot make a browser send the id of the user', async () => {
    const preflight = await send(stage.url, 'OPTIONS', '/api/user/manage', {
      headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    for (const permission of ['origin', 'headers', 'methods', 'credentials'])
      expect(preflight.headers.get(`access-control-allow-${permission}`)).toBeNull();
    const answer = await stage.alice.get('/api/user/self');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});
