import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cast, type Client, dataOf, openStage, send } from './rest-server.js';

let stage: Cast;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.stop());

const refusal = (message: string, data: unknown = null) => ({ success: false, message, data });
const done = { success: true, message: '', data: null };

interface LegacyCode {
  id: number;
  key: string;
  name: string;
  status: number;
}

interface Listed {
  items: LegacyCode[];
  total: number;
  page: number;
  page_size: number;
}

const make = async (body: object): Promise<string[]> => dataOf(await stage.admin.post('/api/redemption/', body));
const list = async (query = ''): Promise<Listed> => dataOf(await stage.admin.get(`/api/redemption/${query}`));
const newest = async (): Promise<LegacyCode> => {
  const [code] = (await list()).items;
  if (code === undefined) throw new Error('there is no code');
  return code;
};
const balanceOf = async (user: Client): Promise<number> =>
  dataOf<{ quota: number }>(await user.get('/api/user/self')).quota;

describe('POST /redemption/', () => {
  test('returns the keys, which the list contains with the members of the contract', async () => {
    const keys = await make({ name: 'promo', quota: 100_000, count: 2 });
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)]);
    const { items, ...paging } = await list('?p=1&page_size=2');
    expect(paging).toEqual({ total: 2, page: 1, page_size: 2 });
    expect(items.map(({ key }) => key)).toEqual([...keys].reverse());
    const { created_time } = items[0] as LegacyCode & { created_time: number };
    expect(created_time).toBeGreaterThan(1_700_000_000);
    expect(items[0]).toEqual({
      id: items[0]?.id,
      user_id: stage.admin.id,
      key: keys[1],
      status: 1,
      name: 'promo',
      quota: 100_000,
      created_time,
      redeemed_time: 0,
      count: 0,
      used_user_id: 0,
      DeletedAt: null,
    });
  });
  test.each([
    [{}, '兑换码名称长度必须在1-20之间'],
    [{ name: '十'.repeat(7), count: 1 }, '兑换码名称长度必须在1-20之间'],
    [{ name: 'x', quota: -1 }, '兑换码个数必须大于0'],
    [{ name: 'x', quota: -1, count: 101 }, '一次兑换码批量生成的个数不能大于 100'],
    [{ name: 'x', quota: -1, count: 1 }, '兑换码额度必须大于0'],
  ])('%j is refused: %s', async (body, message) => {
    const { total } = await list();
    expect((await stage.admin.post('/api/redemption/', body)).json).toMatchObject({ success: false, message });
    expect((await list()).total).toBe(total);
  });
  test('without a quota issues codes worth 100', async () => {
    await make({ name: 'bare', count: 1 });
    expect(await newest()).toMatchObject({ name: 'bare', quota: 100 });
  });
  test('with an Idempotency-Key issues them once', async () => {
    const order = () =>
      send(stage.url, 'POST', '/api/redemption/', {
        headers: { ...stage.admin.headers, 'idempotency-key': 'batch-1' },
        body: { name: 'once', quota: 5, count: 3 },
      });
    const first = (await order()).json;
    expect(first.data).toHaveLength(3);
    expect((await order()).json).toEqual(first);
  });
});

describe('GET /redemption/', () => {
  test('searches by the beginning of the name, and by id', async () => {
    await make({ name: '50%_off', count: 1 });
    const { id } = await newest();
    const found = async (keyword: string) =>
      dataOf<Listed>(await stage.admin.get(`/api/redemption/search?keyword=${encodeURIComponent(keyword)}`)).items.map(
        ({ name }) => name,
      );
    expect(await found('50')).toEqual(['50%_off']);
    expect(await found('5_%o')).toEqual(['50%_off']);
    expect(await found('off')).toEqual([]);
    expect(await found(String(id))).toContain('50%_off');
  });
  test('returns one by its id, or the error of a missing one', async () => {
    const { id } = await newest();
    expect((await stage.admin.get(`/api/redemption/${id}`)).json.data).toMatchObject({ id, name: '50%_off' });
    expect((await stage.admin.get('/api/redemption/0')).json).toEqual(refusal('id 为空！'));
    for (const missing of [-1, 999_999])
      expect((await stage.admin.get(`/api/redemption/${missing}`)).json).toEqual(refusal('record not found'));
  });
  test('is for administrators', async () => {
    for (const answer of [
      await stage.alice.get('/api/redemption/'),
      await stage.alice.get('/api/redemption/search'),
      await stage.alice.get('/api/redemption/1'),
      await stage.alice.post('/api/redemption/', { name: 'x', count: 1 }),
      await stage.alice.put('/api/redemption/', { id: 1 }),
      await stage.alice.delete('/api/redemption/1'),
    ])
      expect(answer.json).toEqual(refusal('无权进行此操作，权限不足'));
  });
});

describe('PUT /redemption/', () => {
  const put = (body: object, query = '') => stage.admin.put(`/api/redemption/${query}`, body);

  test('writes name and quota, or the status alone', async () => {
    await make({ name: 'before', quota: 5, count: 1 });
    const before = await newest();
    const { id } = before;
    expect((await put({ ...before, name: 'after', quota: 7, status: 2 })).json).toEqual({
      success: true,
      message: '',
      data: { ...before, name: 'after', quota: 7 },
    });
    expect((await put({ id, name: 'ignored', status: 2 }, '?status_only=true')).json.data).toMatchObject({
      status: 2,
      name: 'after',
    });
    expect((await put({ id, name: 'x', quota: 1 })).json).toEqual(refusal('只能修改未使用的兑换码'));
    expect((await put({ id, status: 1 }, '?status_only=true')).json.data).toMatchObject({ status: 1 });
    for (const status of [0, 3, 4])
      expect((await put({ id, status }, '?status_only=true')).json).toMatchObject({ data: { field: 'status' } });
    expect((await put({ name: 'x' })).json).toEqual(refusal('id 为空！'));
  });
  test('leaves used codes unchanged', async () => {
    const [key] = await make({ name: 'used', quota: 5, count: 1 });
    await stage.alice.post('/api/user/topup', { key });
    const { id } = await newest();
    for (const status of [1, 2])
      expect((await put({ id, status }, '?status_only=true')).json).toEqual(refusal('该兑换码已被使用'));
    expect((await put({ id, name: 'x', quota: 1 })).json).toEqual(refusal('只能修改未使用的兑换码'));
    expect(await newest()).toMatchObject({ id, status: 3, used_user_id: stage.alice.id });
  });
});

describe('POST /user/topup', () => {
  const topUp = (user: Client, body: unknown) => user.post('/api/user/topup', body);

  test('adds the code’s quota to the balance, with a line in the log, once', async () => {
    const [key] = await make({ name: 'gift', quota: 100_000, count: 1 });
    const { id } = await newest();
    const before = await balanceOf(stage.bob);
    expect((await topUp(stage.bob, { key })).json).toEqual({ success: true, message: '', data: 100_000 });
    expect(await balanceOf(stage.bob)).toBe(before + 100_000);
    const used = refusal('兑换失败，该兑换码已被使用');
    for (const user of [stage.bob, stage.alice]) expect((await topUp(user, { key })).json).toEqual(used);
    const [line] = dataOf<{ items: object[] }>(await stage.bob.get('/api/log/self?type=1')).items;
    const content = `通过兑换码充值 ＄0.200000 额度，兑换码ID ${id}`;
    expect(line).toMatchObject({ type: 1, content, quota: 0, user_id: stage.bob.id, other: 'null' });
    const found = await stage.admin.get(`/api/log/search?keyword=${encodeURIComponent('通过兑换码充值')}`);
    expect(dataOf<object[]>(found)).toContainEqual(expect.objectContaining({ content }));
  });
  test('refuses an unknown code, a deleted one, and a disabled one', async () => {
    const unknown = { success: false, message: '兑换失败，无效的兑换码' };
    expect((await topUp(stage.bob, { key: '' })).json).toMatchObject({ message: '未提供兑换码' });
    for (const key of ['nonsense', '0'.repeat(32)])
      expect((await topUp(stage.bob, { key })).json).toMatchObject(unknown);
    const [key] = await make({ name: 'gone', quota: 5, count: 1 });
    const { id } = await newest();
    await stage.admin.put('/api/redemption/?status_only=true', { id, status: 2 });
    expect((await topUp(stage.bob, { key })).json).toEqual(refusal('兑换失败，该兑换码已被使用'));
    expect((await stage.admin.delete(`/api/redemption/${id}/`)).json).toEqual(done);
    expect((await topUp(stage.bob, { key })).json).toMatchObject(unknown);
    expect((await stage.admin.delete(`/api/redemption/${id}`)).json).toEqual(refusal('record not found'));
  });
  test('answers guesses with 429 after a limit', async () => {
    const { username, password } = await stage.gateway.addUser(0, 'guesser');
    const login = await send(stage.url, 'POST', '/api/user/login', { body: { username, password } });
    const cookie = login.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const headers = { cookie, 'new-api-user': String(dataOf<{ id: number }>(login).id) };
    const guess = () => send(stage.url, 'POST', '/api/user/topup', { headers, body: { key: 'f'.repeat(32) } });
    for (let n = 0; n < 10; n++) expect((await guess()).status).toBe(200);
    const refused = await guess();
    expect([refused.status, refused.text]).toEqual([429, '']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
