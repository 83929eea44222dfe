import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/gateway/webhook-receiver.js';
import { type Cast, type Client, dataOf, openStage, send, signIn } from './rest-server.js';

let stage: Cast;
let hooks: WebhookReceiver;

beforeAll(async () => {
  hooks = await startWebhookReceiver();
  stage = await openStage();
});
afterAll(async () => {
  await stage.stop();
  await hooks?.stop();
});

const refusal = (message: string, data: unknown = null) => ({ success: false, message, data });
const done = { success: true, message: '', data: null };

interface LegacyUser {
  id: number;
  username: string;
  role: number;
  status: number;
  quota: number;
  DeletedAt: string | null;
}

let newcomers = 0;
const newcomer = (quota = 0): Promise<TestUser> => stage.gateway.addUser(quota, `person${++newcomers}`);
const found = async (keyword: string, by: Client = stage.root): Promise<LegacyUser[]> =>
  dataOf<{ items: LegacyUser[] }>(await by.get(`/api/user/search?keyword=${keyword}&page_size=100`)).items;
const recordOf = async (id: number): Promise<LegacyUser | undefined> =>
  (await found(String(id))).find((user) => user.id === id);

describe('the lists of users', () => {
  test('are sorted newest first, or as requested, deleted ones included', async () => {
    const rich = await newcomer(9_000_000);
    const gone = await newcomer(7);
    await stage.root.post('/api/user/manage', { id: gone.actor.id, action: 'delete' });
    const ids = async (query: string) =>
      dataOf<{ items: LegacyUser[] }>(await stage.admin.get(`/api/user/?page_size=100${query}`)).items.map(
        ({ id }) => id,
      );
    const newestFirst = await ids('');
    expect(newestFirst.slice(0, 2)).toEqual([gone.actor.id, rich.actor.id]);
    expect(newestFirst).toEqual([...newestFirst].sort((a, b) => b - a));
    expect((await ids('&sort=quota_desc')).slice(0, 2)).toEqual([1, rich.actor.id]);
    expect((await ids('&sort=quota_asc')).at(-1)).toBe(1);
    expect(await ids('&sort=whatever')).toEqual(newestFirst);
    const deleted = await recordOf(gone.actor.id);
    expect(deleted?.DeletedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
  test('are searched by name, display name and id', async () => {
    const user = await newcomer();
    await stage.root.put('/api/user/', { id: user.actor.id, display_name: '100%_sure', group: 'vip' });
    const names = async (query: string) => (await found(query)).map(({ username }) => username);
    expect(await names(encodeURIComponent('100%_'))).toEqual([user.username]);
    expect(await names(encodeURIComponent('1%sure'))).toEqual([]);
    const { username } = user;
    expect(await names(encodeURIComponent(`${username.slice(0, 3)}%${username.slice(-1)}`))).toContain(username);
    expect(await names(encodeURIComponent(username.replace(/.$/, '_')))).toContain(username);
    expect(await names(encodeURIComponent(`${username.slice(0, -1)}\\_`))).toEqual([]);
    expect(await names(String(user.actor.id))).toContain(user.username);
    expect(await names('&group=vip')).toEqual([user.username]);
    expect(await names('alice&group=vip')).toEqual([]);
  });
});

describe('GET /user/{id}', () => {
  test('returns lower roles to an administrator, all users to root', async () => {
    const peers = refusal('无权获取同级或更高等级用户的信息');
    expect(dataOf<LegacyUser>(await stage.admin.get(`/api/user/${stage.alice.id}`)).username).toBe('alice');
    for (const id of [stage.peer.id, stage.admin.id, stage.root.id])
      expect((await stage.admin.get(`/api/user/${id}`)).json).toEqual(peers);
    expect(dataOf<LegacyUser>(await stage.root.get(`/api/user/${stage.root.id}`)).role).toBe(100);
  });
  test('omits the notification address of another user', async () => {
    await stage.alice.put('/api/user/setting', {
      notify_type: 'webhook',
      quota_warning_threshold: 5,
      webhook_url: `${hooks.url}/planted-address`,
    });
    expect((await stage.alice.get('/api/user/self')).text).toContain('planted-address');
    for (const client of [stage.admin, stage.root])
      for (const path of [`/api/user/${stage.alice.id}`, '/api/user/', '/api/user/search?keyword=alice'])
        expect((await client.get(path)).text, path).not.toContain('planted-address');
  });
  test('refuses a deleted user', async () => {
    const user = await newcomer();
    await stage.root.post('/api/user/manage', { id: user.actor.id, action: 'delete' });
    expect((await stage.root.get(`/api/user/${user.actor.id}`)).json).toEqual(refusal('record not found'));
  });
});

describe('POST /user/', () => {
  test('creates an ordinary user with the initial quota', async () => {
    await stage.gateway.setOption('QuotaForNewUser', '250');
    const body = { username: 'made', password: 'made-password', role: 1, quota: 999, group: 'svip' };
    expect((await stage.admin.post('/api/user/', body)).json).toEqual(done);
    await stage.gateway.setOption('QuotaForNewUser', '0');
    expect((await found('made'))[0]).toMatchObject({
      username: 'made',
      display_name: 'made',
      role: 1,
      status: 1,
      quota: 250,
      group: 'default',
    });
    expect((await signIn(stage.url, 'made', 'made-password')).id).toBeGreaterThan(0);
  });
  test('cannot create an administrator at once, even for root', async () => {
    expect(
      (await stage.root.post('/api/user/', { username: 'hopeful', password: 'hope-hope', role: 10 })).json,
    ).toEqual(done);
    expect((await found('hopeful'))[0]?.role).toBe(1);
  });
  test.each([
    [{ username: ' ', password: 'good-password' }, '无效的参数'],
    [{ username: 'x', password: '' }, '无效的参数'],
    [{ username: 'x', password: 'good-password', role: '1' }, '无效的参数'],
    [{ username: 'thirteen-char', password: 'good-password' }, '输入不合法 用户名最多 12 个字符'],
    [{ username: 'x', password: 'seven77' }, '输入不合法 密码长度须为 8 到 20 个字符'],
    [{ username: 'x', password: 'seven77', role: 100 }, '输入不合法 密码长度须为 8 到 20 个字符'],
    [{ username: 'x', password: 'good-password', role: 10 }, '无法创建权限大于等于自己的用户'],
    [{ username: 'x', password: 'good-password', role: 100 }, '无法创建权限大于等于自己的用户'],
    [{ username: 'ALICE', password: 'good-password' }, '用户名已存在，或已注销'],
  ])('refuses %j', async (body, message) => {
    expect((await stage.admin.post('/api/user/', body)).json).toMatchObject({ success: false, message });
  });
});

describe('PUT /user/', () => {
  test('writes given members and leaves the rest unchanged', async () => {
    const user = await newcomer(1_000);
    const { id } = user.actor;
    expect((await stage.admin.put('/api/user/', { id, group: 'vip' })).json).toEqual(done);
    expect(await recordOf(id)).toMatchObject({ username: user.username, group: 'vip', quota: 1_000 });
    await stage.admin.get(`/api/user/${id}`);
    await stage.admin.put('/api/user/', {
      id,
      username: 'retitled',
      display_name: '',
      quota: 0,
      password: 'other-pass-1',
    });
    expect(await recordOf(id)).toMatchObject({ username: 'retitled', display_name: '', group: 'vip', quota: 0 });
    expect((await signIn(stage.url, 'retitled', 'other-pass-1')).id).toBe(id);
  });
  test('never writes role, status and identities, and accepts a whole record back', async () => {
    const { actor } = await newcomer(5);
    const before = dataOf<object>(await stage.admin.get(`/api/user/${actor.id}`));
    const answer = await stage.admin.put('/api/user/', { ...before, status: 2, email: 'a@b.example', inviter_id: 3 });
    expect(answer.json).toEqual(done);
    expect(dataOf<object>(await stage.admin.get(`/api/user/${actor.id}`))).toEqual(before);
  });
  test('does not restore quota that was spent while the form was open', async () => {
    const { actor, username } = await newcomer(1_000);
    const form = dataOf<{ quota: number }>(await stage.admin.get(`/api/user/${actor.id}`));
    const { application, root } = stage.gateway;
    const spend = async (quota: number) =>
      application.visible(await application.users.adjustQuota(root, actor.id, { delta: -quota }));
    await spend(300);
    expect((await stage.admin.put('/api/user/', { ...form, display_name: 'Renamed' })).json).toEqual(done);
    expect(await recordOf(actor.id)).toMatchObject({ username, display_name: 'Renamed', quota: 700 });
    // The form is still open, and a hundred is added to what it shows.
    expect((await stage.admin.put('/api/user/', { ...form, quota: 1_100 })).json).toEqual(done);
    expect(await recordOf(actor.id)).toMatchObject({ quota: 800 });
    await spend(50);
    const shown = { id: actor.id, quota: 900, shown_quota: 800 };
    expect((await stage.peer.put('/api/user/', shown)).json).toEqual(done);
    expect(await recordOf(actor.id)).toMatchObject({ quota: 850 });
  });
  test('with one form sent twice at once adds its difference once', async () => {
    const { actor } = await newcomer(1_000);
    await stage.admin.get(`/api/user/${actor.id}`);
    const form = { id: actor.id, quota: 1_100 };
    const answers = await Promise.all([stage.admin.put('/api/user/', form), stage.admin.put('/api/user/', form)]);
    expect(answers.map(({ json }) => json)).toEqual([done, done]);
    expect(await recordOf(actor.id)).toMatchObject({ quota: 1_100 });
    // What was read after it is another form.
    expect((await stage.admin.put('/api/user/', { ...form, quota: 1_200 })).json).toEqual(done);
    expect((await stage.admin.put('/api/user/', { ...form, quota: 1_100 })).json).toEqual(done);
    expect(await recordOf(actor.id)).toMatchObject({ quota: 1_100 });
  });
  test("is refused to a browser's form from before the gateway started", async () => {
    const { actor } = await newcomer(1_000);
    const stale = await signIn(stage.url, 'admin', stage.users.admin.password);
    expect((await stale.put('/api/user/', { id: actor.id, quota: 2_000 })).json).toEqual(
      refusal('页面数据已过期，请刷新后重试'),
    );
    expect((await stale.put('/api/user/', { id: actor.id, group: 'vip' })).json).toEqual(done);
    expect(await recordOf(actor.id)).toMatchObject({ quota: 1_000, group: 'vip' });
  });
  test('treats the amount of a program without a read as the new balance', async () => {
    const { actor } = await newcomer(1_000);
    const { token, position } = await stage.gateway.application.users.issueAccessToken(
      stage.users.peer.actor,
      await stage.gateway.proven(stage.users.peer, 'access-token'),
    );
    await stage.gateway.application.visible(position);
    const headers = { authorization: token, 'new-api-user': String(stage.peer.id) };
    const body = { id: actor.id, quota: 400 };
    expect((await send(stage.url, 'PUT', '/api/user/', { headers, body })).json).toEqual(done);
    expect(await recordOf(actor.id)).toMatchObject({ quota: 400 });
  });
  test('logs a changed quota with the old and the requested balance', async () => {
    const user = await newcomer(1_000_000);
    await stage.admin.get(`/api/user/${user.actor.id}`);
    await stage.admin.put('/api/user/', { id: user.actor.id, quota: 250_000 });
    const lines = dataOf<{ items: { type: number; content: string }[] }>(
      await stage.admin.get(`/api/log/?type=3&username=${user.username}`),
    );
    expect(lines.items[0]).toMatchObject({
      type: 3,
      content: '管理员将用户额度从 ＄2.000000 额度修改为 ＄0.500000 额度',
    });
  });
  test.each([
    [{}, '无效的参数'],
    [{ id: 0 }, '无效的参数'],
    [{ id: 4, quota: 1.5 }, '无效的参数'],
    [{ id: 4, password: 'short' }, '输入不合法 密码长度须为 8 到 20 个字符'],
    [{ id: 4711 }, 'record not found'],
    [{ id: 4, role: 10 }, '无权将其他用户权限等级提升到大于等于自己的权限等级'],
  ])('refuses %j', async (body, message) => {
    expect((await stage.admin.put('/api/user/', body)).json).toMatchObject({ success: false, message });
  });
});

describe('a request with an Idempotency-Key', () => {
  const ordering = (key: string, method: string, path: string, body: object) =>
    send(stage.url, method, path, { headers: { ...stage.root.headers, 'idempotency-key': key }, body });

  test('is carried out once, for everything that moves money', async () => {
    const { actor } = await newcomer(100);
    const { id } = actor;
    const twice = async (key: string, method: string, path: string, body: object) => {
      expect((await ordering(key, method, path, body)).json).toMatchObject({ success: true });
      expect((await ordering(key, method, path, body)).json).toMatchObject({ success: true });
    };
    await twice('adjust', 'POST', '/api/user/adjust_quota', { user_id: id, quota_delta: 40 });
    expect(await recordOf(id)).toMatchObject({ quota: 140 });
    await twice('edit', 'PUT', '/api/user/', { id, quota: 150, shown_quota: 140 });
    expect(await recordOf(id)).toMatchObject({ quota: 150 });
    await twice('create', 'POST', '/api/user/', { username: 'once', password: 'once-only-1' });
    expect(await found('once')).toHaveLength(1);
    await twice('issue', 'POST', '/api/token/', { name: 'single', remain_quota: 7, expired_time: -1 });
    const tokens = dataOf<{ id: number; remain_quota: number }[]>(await stage.root.get('/api/token/?size=100'));
    expect(tokens).toMatchObject([{ remain_quota: 7 }]);
    const [token] = tokens;
    const raised = { ...token, remain_quota: 17, shown_quota: 7 };
    await twice('raise', 'PUT', '/api/token/', raised);
    expect(dataOf<object>(await stage.root.get(`/api/token/${token?.id}`))).toMatchObject({ remain_quota: 17 });
  });
  test('is recognised after its session has read the result', async () => {
    const { id } = (await newcomer(100)).actor;
    await stage.root.get(`/api/user/${id}`);
    const edit = () => ordering('edit-read', 'PUT', '/api/user/', { id, quota: 150 });
    expect((await edit()).json).toEqual(done);
    expect((await edit()).json).toEqual(done);
    await ordering('issue-read', 'POST', '/api/token/', { name: 'read', remain_quota: 7, expired_time: -1 });
    const tokens = dataOf<{ id: number; name: string }[]>(await stage.root.get('/api/token/?size=100'));
    const token = tokens.find(({ name }) => name === 'read');
    const raise = () => ordering('raise-read', 'PUT', '/api/token/', { ...token, remain_quota: 17 });
    expect((await raise()).json).toMatchObject({ success: true });
    expect((await raise()).json).toMatchObject({ success: true, data: { remain_quota: 17 } });
    expect(await recordOf(id)).toMatchObject({ quota: 150 });
  });
  test('is refused when the key was used for something else, or is not valid', async () => {
    const { id } = (await newcomer(100)).actor;
    const adjust = (key: string, delta: number) =>
      ordering(key, 'POST', '/api/user/adjust_quota', { user_id: id, quota_delta: delta });
    await adjust('reused', 5);
    expect((await adjust('reused', 6)).json).toEqual(refusal('该幂等键已用于另一个请求，请刷新后重试'));
    expect((await adjust('x'.repeat(101), 6)).json).toMatchObject({
      success: false,
      data: { field: 'Idempotency-Key' },
    });
    expect(await recordOf(id)).toMatchObject({ quota: 105 });
  });
});

describe('POST /user/manage', () => {
  test('returns the resulting role and status', async () => {
    const { id } = (await newcomer()).actor;
    const order = async (action: string) => (await stage.root.post('/api/user/manage', { id, action })).json;
    expect(await order('disable')).toEqual({ success: true, message: '', data: { role: 1, status: 2 } });
    expect(await order('enable')).toMatchObject({ data: { role: 1, status: 1 } });
    expect(await order('promote')).toMatchObject({ data: { role: 10, status: 1 } });
    expect(await order('promote')).toEqual(refusal('该用户已经是管理员'));
    expect(await order('demote')).toMatchObject({ data: { role: 1, status: 1 } });
    expect(await order('demote')).toEqual(refusal('该用户已经是普通用户'));
    expect(await order('delete')).toMatchObject({ success: true, data: { role: 1 } });
    expect(await order('delete')).toMatchObject({ success: true });
  });
  test.each([
    [{ id: 0, action: 'disable' }, '无效的参数'],
    [{ action: 'disable' }, '无效的参数'],
    [{ id: 4, action: 'obliterate' }, '无效的参数'],
    [{ id: '4', action: 'disable' }, '无效的参数'],
    [{ id: 4711, action: 'disable' }, '用户不存在'],
  ])('refuses %j', async (body, message) => {
    expect((await stage.root.post('/api/user/manage', body)).json).toMatchObject({ success: false, message });
  });
});

describe('the permissions among roles', () => {
  const peerUpdate = '无权更新同权限等级或更高权限等级的用户信息';
  const who = (name: string): Client => {
    const { root, admin, peer, alice } = stage;
    const client = { root, admin, peer, alice }[name];
    if (client === undefined) throw new Error(`nobody is called ${name}`);
    return client;
  };

  test.each([
    ['alice', 'disable', 'peer', '无权进行此操作，权限不足'],
    ['admin', 'disable', 'peer', peerUpdate],
    ['admin', 'disable', 'admin', peerUpdate],
    ['admin', 'disable', 'root', peerUpdate],
    ['admin', 'delete', 'root', peerUpdate],
    ['admin', 'demote', 'peer', peerUpdate],
    ['admin', 'promote', 'alice', '普通管理员用户无法提升其他用户为管理员'],
    ['root', 'disable', 'root', '无法禁用超级管理员用户'],
    ['root', 'delete', 'root', '无法删除超级管理员用户'],
    ['root', 'demote', 'root', '无法降级超级管理员用户'],
    ['root', 'promote', 'peer', '该用户已经是管理员'],
    ['admin', 'disable', 'alice', ''],
    ['admin', 'enable', 'alice', ''],
    ['root', 'disable', 'peer', ''],
    ['root', 'enable', 'peer', ''],
  ])('for %s: %s %s → %j', async (by, action, target, message) => {
    const answer = await who(by).post('/api/user/manage', { id: who(target).id, action });
    expect(answer.json).toMatchObject({ success: message === '', message });
  });
  test.each([
    ['admin', 'peer', peerUpdate],
    ['admin', 'admin', peerUpdate],
    ['admin', 'root', peerUpdate],
    ['admin', 'alice', ''],
    ['root', 'peer', ''],
    ['root', 'root', ''],
  ])('for %s who edits %s → %j, and adjusts its quota likewise', async (by, target, message) => {
    const { id } = who(target);
    const outcome = { success: message === '', message };
    expect((await who(by).put('/api/user/', { id, display_name: 'Edited' })).json).toMatchObject(outcome);
    const adjustment = { user_id: id, adjust_type: 'quota', quota_delta: 5 };
    expect((await who(by).post('/api/user/adjust_quota', adjustment)).json).toMatchObject(outcome);
  });
});

describe('POST /user/adjust_quota', () => {
  const adjusted = async (start: number, order: object): Promise<number | undefined> => {
    const { id } = (await newcomer(start)).actor;
    const answer = await stage.admin.post('/api/user/adjust_quota', { user_id: id, ...order });
    expect(answer.json).toEqual(done);
    return (await recordOf(id))?.quota;
  };

  test('adds units and a gift', async () => {
    const order = {
      adjust_type: 'money',
      original_delta: 10,
      quota_delta: 5_000_000,
      original_gift_delta: 1,
      gift_quota_delta: 500_000,
    };
    expect(await adjusted(100, order)).toBe(5_500_100);
  });
  test('subtracts units, even below zero', async () => {
    expect(await adjusted(100, { adjust_type: 'quota', original_delta: -300, quota_delta: -300 })).toBe(-200);
  });
  test.each([
    ['quota', 42, 42],
    ['money', 2, 1_000_000],
    ['money', 0.000_001, 1],
    ['rmb', 73, 5_000_000],
    ['rmb', 1, 68_493],
    ['money', -1, -500_000],
  ])('converts %s %d to %d units where units are missing', async (kind, amount, units) => {
    expect(await adjusted(1_000_000, { adjust_type: kind, original_delta: amount })).toBe(1_000_000 + units);
  });
  test('logs the balances before and after', async () => {
    const user = await newcomer(500_000);
    await stage.admin.post('/api/user/adjust_quota', {
      user_id: user.actor.id,
      quota_delta: 500_000,
      gift_quota_delta: 500_000,
    });
    const lines = await stage.root.get(`/api/log/?type=3&username=${user.username}`);
    expect(dataOf<{ items: { content: string }[] }>(lines).items[0]?.content).toBe(
      '管理员将用户额度从 ＄1.000000 额度修改为 ＄3.000000 额度',
    );
  });
  test.each([
    [{ quota_delta: 5 }, '无效的参数'],
    [{ user_id: 4, quota_delta: 0 }, '无效的参数'],
    [{ user_id: 4 }, '无效的参数'],
    [{ user_id: 4, original_delta: 5, adjust_type: 'shells' }, '无效的参数'],
    [{ user_id: 4, quota_delta: 5, gift_quota_delta: -5 }, '无效的参数'],
    [{ user_id: 4, quota_delta: -5, gift_quota_delta: 5 }, '无效的参数'],
    [{ user_id: 4, quota_delta: 2 ** 53 }, '无效的参数'],
    [{ user_id: 4, quota_delta: Number.MAX_SAFE_INTEGER }, '无效的参数：额度超出允许范围'],
    [{ user_id: 4, adjust_type: 'money', original_delta: 1e300 }, '无效的参数：额度超出允许范围'],
    [{ user_id: 4711, quota_delta: 5 }, 'record not found'],
  ])('refuses %j', async (body, message) => {
    expect((await stage.admin.post('/api/user/adjust_quota', body)).json).toMatchObject({ success: false, message });
  });
  test('uses the rate that GET /user/usd_ratio returns', async () => {
    expect((await stage.bob.get('/api/user/usd_ratio')).json).toEqual({ success: true, message: '', data: 7.3 });
  });
});
