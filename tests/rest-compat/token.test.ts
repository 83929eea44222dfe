import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiKeyId } from '../../src/domain/kernel/ids.js';
import { type Cast, type Client, dataOf, openStage, signIn } from './rest-server.js';

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.stop());

const refusal = (message: string, data: unknown = null) => ({ success: false, message, data });
const done = { success: true, message: '', data: null };

interface LegacyToken {
  id: number;
  key: string;
  status: number;
  name: string;
  expired_time: number;
}

let newcomers = 0;
async function newcomer(): Promise<Client> {
  const { username, password } = await stage.gateway.addUser(0, `owner${++newcomers}`);
  return signIn(stage.url, username, password);
}
const tokensOf = async (user: Client, query = ''): Promise<LegacyToken[]> =>
  dataOf<LegacyToken[]>(await user.get(`/api/token/${query}`));

async function make(user: Client, body: object): Promise<LegacyToken> {
  expect((await user.post('/api/token/', body)).json).toEqual(done);
  const [newest] = await tokensOf(user);
  if (newest === undefined) throw new Error('no token was made');
  return newest;
}

describe('POST /token/', () => {
  test('makes a key that only the list returns, in full and without prefix', async () => {
    const user = await newcomer();
    const token = await make(user, {
      name: 'ci',
      remain_quota: 500_000,
      expired_time: 4_102_444_800,
      unlimited_quota: false,
      model_limits_enabled: true,
      model_limits: 'gpt-4o, gpt-4o-mini,',
      allow_ips: '10.0.0.1, \n\n 10.0.0.2',
      group: 'vip',
    });
    const { created_time } = token as LegacyToken & { created_time: number };
    expect(token).toEqual({
      id: token.id,
      user_id: user.id,
      key: expect.stringMatching(/^[0-9a-zA-Z]{48}$/),
      status: 1,
      name: 'ci',
      created_time,
      accessed_time: created_time,
      expired_time: 4_102_444_800,
      remain_quota: 500_000,
      unlimited_quota: false,
      model_limits_enabled: true,
      model_limits: 'gpt-4o,gpt-4o-mini',
      allow_ips: '10.0.0.1\n10.0.0.2',
      used_quota: 0,
      group: 'vip',
      DeletedAt: null,
    });
    expect(created_time).toBeGreaterThan(1_700_000_000);
  });
  test.each([
    [{}, -1],
    [{ expired_time: 0 }, -1],
    [{ expired_time: -1 }, -1],
    [{ expired_time: 1_000 }, 1_000],
  ])('with %j makes a key that expires at %d', async (body, expiry) => {
    expect((await make(await newcomer(), body)).expired_time).toBe(expiry);
  });
  test('limits names by bytes', async () => {
    const user = await newcomer();
    await make(user, { name: '十'.repeat(10) });
    for (const name of ['十'.repeat(10).concat('x'), 'x'.repeat(31)])
      expect((await user.post('/api/token/', { name })).json).toMatchObject({
        success: false,
        message: '令牌名称过长',
      });
  });
  test('limits the list of models', async () => {
    const answer = await stage.alice.post('/api/token/', { name: 'long', model_limits: 'm'.repeat(1_025) });
    expect(answer.json).toMatchObject({ success: false, data: { field: 'model_limits' } });
  });
});

describe('an allow list', () => {
  test('has a limit, named in the error', async () => {
    const allow_ips = Array.from({ length: 230_000 }, (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.1`).join(
      '\n',
    );
    expect((await stage.alice.post('/api/token/', { name: 'long', allow_ips })).json).toStrictEqual({
      success: false,
      message: '无效的参数：allow_ips（at most 1000 entries）',
      data: { field: 'allow_ips', allowed: 'at most 1000 entries' },
    });
  });
});

describe('a budget that the console has set', () => {
  test('survives an edit by an old client, and is omitted for such clients', async () => {
    const person = await stage.gateway.addUser(0, `owner${++newcomers}`);
    const user = await signIn(stage.url, person.username, person.password);
    const { application } = stage.gateway;
    await stage.gateway.addApiKey(person, { quota: 500, budget: { quota: 300, period: 'weekly' } });
    const [token] = await tokensOf(user);
    expect(Object.keys(token ?? {})).not.toContain('budget');
    const sent = { ...token, name: 'renamed', budget: { quota: 1, period: 'daily' } };
    expect((await user.put('/api/token/', sent)).json).toMatchObject({ success: true, data: { name: 'renamed' } });
    expect(await application.queries.apiKey(person.actor, ApiKeyId(token?.id))).toMatchObject({
      name: 'renamed',
      budget: { quota: 300, period: 'weekly' },
    });
  });
});

describe('aliases of models', () => {
  const model_aliases = { 'claude-*': 'gpt-4o', small: 'gpt-4o-mini' };

  test('are set and returned as an object, and survive an edit by a client that knows nothing of them', async () => {
    const user = await newcomer();
    const token = await make(user, { name: 'ci', remain_quota: 5, expired_time: -1, model_aliases });
    expect(token).toMatchObject({ model_aliases });
    await user.put('/api/token/', { id: token.id, name: 'renamed', remain_quota: 5, expired_time: -1 });
    expect((await tokensOf(user))[0]).toMatchObject({ name: 'renamed', model_aliases });
    await user.put('/api/token/', {
      id: token.id,
      name: 'renamed',
      remain_quota: 5,
      expired_time: -1,
      model_aliases: {},
    });
    expect((await tokensOf(user))[0]).not.toHaveProperty('model_aliases');
  });

  test.each([
    ['a text', 'claude-*=gpt-4o', 'model_aliases'],
    ['a list', ['gpt-4o'], 'model_aliases'],
    ['an object with a number', { small: 5 }, 'model_aliases'],
    ['a model with a wildcard', { small: 'gpt-*' }, 'model_aliases'],
  ])('are refused as %s, and the member is named', async (_what, given, member) => {
    const answer = await (await newcomer()).post('/api/token/', { name: 'ci', expired_time: -1, model_aliases: given });
    expect(answer.json).toMatchObject({ success: false, message: expect.stringContaining(member) });
  });
});

describe('GET /token/', () => {
  test('counts pages from 0, newest first, ten at a time', async () => {
    const user = await newcomer();
    for (let n = 1; n <= 12; n++) await make(user, { name: `t${n}` });
    const names = async (query: string) => (await tokensOf(user, query)).map(({ name }) => name);
    const [first, second] = [await names('?p=0'), await names('?p=1')];
    expect(first).toEqual(['t12', 't11', 't10', 't9', 't8', 't7', 't6', 't5', 't4', 't3']);
    expect(second).toEqual(['t2', 't1']);
    expect(await names('?p=-1&size=0')).toEqual(first);
    expect(await names('?p=NaN&size=abc')).toEqual(first);
    expect(await names('?p=0&size=1000')).toHaveLength(12);
    expect(await names('?p=2&size=5')).toEqual(second);
    expect(await names('?p=3&size=5')).toEqual([]);
  });
  test('searches by part of the name and part of the key', async () => {
    const user = await newcomer();
    const token = await make(user, { name: '50%_off' });
    await make(user, { name: '50 is off' });
    const found = async (query: string) =>
      dataOf<LegacyToken[]>(await user.get(`/api/token/search?${query}`)).map(({ name }) => name);
    expect(await found('keyword=50')).toEqual(['50 is off', '50%_off']);
    expect(await found(`keyword=${encodeURIComponent('0%i_')}`)).toEqual(['50 is off']);
    expect(await found(`keyword=${encodeURIComponent('50__o')}`)).toEqual(['50%_off']);
    expect(await found(`keyword=${encodeURIComponent('50%off')}`)).toEqual(['50 is off', '50%_off']);
    const [begin, end] = [token.key.slice(10, 15), token.key.slice(25, 30)];
    expect(await found(`token=${encodeURIComponent(`${begin}%${end}`)}`)).toEqual(['50%_off']);
    expect(await found(`token=${encodeURIComponent(`${end}%${begin}%${end}%${begin}`)}`)).toEqual([]);
    // Prefix and ends made of s, k and dashes are not part of what is looked for, so the middle is taken.
    expect(await found(`token=sk-${token.key.slice(10, 30)}`)).toEqual(['50%_off']);
    expect(await found(`keyword=is&token=sk-${token.key.slice(10, 30)}`)).toEqual([]);
    expect(await found('')).toHaveLength(2);
  });
  test('omits keys of other users', async () => {
    const [owner, other] = [await newcomer(), await newcomer()];
    const { id } = await make(owner, { name: 'mine' });
    const notFound = refusal('record not found');
    expect(await tokensOf(other)).toEqual([]);
    expect((await other.get(`/api/token/${id}`)).json).toEqual(notFound);
    expect((await other.put('/api/token/', { id, name: 'stolen' })).json).toEqual(notFound);
    expect((await other.put('/api/token/?status_only=true', { id, status: 2 })).json).toEqual(notFound);
    expect((await other.delete(`/api/token/${id}`)).json).toEqual(notFound);
    expect((await stage.root.get(`/api/token/${id}`)).json).toEqual(notFound);
    expect((await owner.get(`/api/token/${id}`)).json.data).toMatchObject({ id, name: 'mine' });
  });
  test('requires an id', async () => {
    for (const answer of [await stage.alice.get('/api/token/0'), await stage.alice.put('/api/token/', { name: 'x' })])
      expect(answer.json).toEqual(refusal('id 或 userId 为空！'));
  });
});

describe('PUT /token/', () => {
  test('writes all terms, with absent ones as empty or 0, and never the status', async () => {
    const user = await newcomer();
    const { id, key } = await make(user, {
      name: 'ci',
      remain_quota: 5,
      model_limits: 'm',
      allow_ips: '1.1.1.1',
      group: 'vip',
    });
    const answer = await user.put('/api/token/', { id, name: 'bare', status: 2 });
    expect(answer.json).toMatchObject({
      success: true,
      message: '',
      data: {
        id,
        key,
        status: 1,
        name: 'bare',
        expired_time: 0,
        remain_quota: 0,
        unlimited_quota: false,
        model_limits: '',
        allow_ips: '',
        group: '',
      },
    });
  });
  test('accepts a whole record back', async () => {
    const user = await newcomer();
    const token = await make(user, { name: 'whole', remain_quota: 77, expired_time: -1, allow_ips: '1.1.1.1' });
    expect((await user.put('/api/token/', token)).json.data).toEqual(token);
  });
  test('with status_only writes the status and nothing else', async () => {
    const user = await newcomer();
    const { id } = await make(user, { name: 'switch', remain_quota: 5 });
    const order = (status: unknown) => user.put('/api/token/?status_only=true', { id, status, name: 'ignored' });
    for (const status of [2, 1, 3, 1, 4, 1])
      expect((await order(status)).json.data).toMatchObject({ status, name: 'switch', remain_quota: 5 });
    for (const status of [0, 5, '1', undefined]) expect((await order(status)).json.success).toBe(false);
  });
  test('does not enable an expired key, whatever else the body contains', async () => {
    const user = await newcomer();
    const { id } = await make(user, { name: 'late', expired_time: 1_000, unlimited_quota: true });
    await user.put('/api/token/?status_only=true', { id, status: 3 });
    const message = '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期';
    expect((await user.put('/api/token/?status_only=true', { id, status: 1 })).json).toEqual(refusal(message));
    expect((await user.put('/api/token/', { id, status: 1, expired_time: -1 })).json).toEqual(refusal(message));
    expect((await user.get(`/api/token/${id}`)).json.data).toMatchObject({ name: 'late', expired_time: 1_000 });
    await user.put('/api/token/', { id, name: 'late', expired_time: -1 });
    expect((await user.put('/api/token/?status_only=true', { id, status: 1 })).json.data).toMatchObject({ status: 1 });
  });
  test('does not enable a spent key, whatever else the body contains', async () => {
    const user = await newcomer();
    const { id } = await make(user, { name: 'empty' });
    await user.put('/api/token/?status_only=true', { id, status: 4 });
    const message = '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度';
    expect((await user.put('/api/token/?status_only=true', { id, status: 1 })).json).toEqual(refusal(message));
    expect((await user.put('/api/token/', { id, status: 1, remain_quota: 5, expired_time: -1 })).json).toEqual(
      refusal(message),
    );
    await user.put('/api/token/', { id, name: 'empty', remain_quota: 5, expired_time: -1 });
    expect((await user.put('/api/token/?status_only=true', { id, status: 1 })).json.data).toMatchObject({ status: 1 });
  });
});

describe('DELETE /token/{id}', () => {
  test('succeeds once, in either form', async () => {
    const user = await newcomer();
    const { id } = await make(user, { name: 'gone' });
    expect((await user.delete(`/api/token/${id}/`)).json).toEqual(done);
    expect((await user.delete(`/api/token/${id}`)).json).toEqual(refusal('record not found'));
    expect(await tokensOf(user)).toEqual([]);
  });
});

describe('GET /user/all_tokens', () => {
  test('returns all keys to administrators with their owners, and without texts', async () => {
    const user = await newcomer();
    const token = await make(user, { name: 'of-somebody', group: 'svip' });
    const all = async (query: string) => (await stage.admin.get(`/api/user/all_tokens?${query}`)).json;
    const expected = { id: token.id, user_id: user.id, name: 'of-somebody', key: '', group: 'svip', status: 1 };
    const found = await all(`user_id=${user.id}`);
    expect(found).toMatchObject({ success: true, message: '', data: [expected] });
    expect(found.usernames).toEqual({ [user.id]: `owner${newcomers}` });
    for (const query of [
      'name=of-some',
      'group=svip',
      `key=sk-${token.key}`,
      `key=${token.key}`,
      'user_id=&status=1&name=of-',
    ])
      expect(await all(query), query).toMatchObject({ data: [expected] });
    for (const query of [`user_id=${stage.bob.id}`, 'name=of-some&status=2', `key=${token.key.slice(0, 20)}`])
      expect(await all(query), query).toMatchObject({ data: [], usernames: {} });
    expect((await all('p=0&size=2')).data).toHaveLength(2);
  });
  test('is refused to ordinary users', async () => {
    expect((await stage.alice.get('/api/user/all_tokens')).json).toEqual(refusal('无权进行此操作，权限不足'));
  });
});
