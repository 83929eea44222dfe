import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

let newcomers = 0;
async function newcomer(quota = 0): Promise<Client & { username: string; password: string }> {
  const user = await stage.gateway.addUser(quota, `new${++newcomers}`);
  return { ...(await signIn(stage.url, user.username, user.password)), ...user };
}

describe('POST /user/login', () => {
  const login = (body: unknown) => send(stage.url, 'POST', '/api/user/login', { body });

  test('returns the user', async () => {
    const { username, password } = stage.users.alice;
    expect((await login({ username, password })).json).toEqual({
      success: true,
      message: '',
      data: { id: stage.alice.id, username, display_name: 'alice', role: 1, status: 1, group: 'default' },
    });
  });
  test.each([
    [{ username: 'alice', password: 'wrong-password' }, '用户名或密码错误，或用户已被封禁'],
    [{ username: 'nobody', password: 'correct-horse' }, '用户名或密码错误，或用户已被封禁'],
    [{ username: '  ', password: 'correct-horse' }, '用户名或密码为空'],
    [{ username: 'alice', password: '' }, '无效的参数'],
    [{ password: 'correct-horse' }, '无效的参数'],
    [{ username: 'alice', password: 12345678 }, '无效的参数'],
    [undefined, '无效的参数'],
  ])('refuses %j', async (body, message) => {
    const answer = await login(body);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ success: false, message });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
  test('refuses a disabled user and a deleted one like a wrong password', async () => {
    const [banned, deleted] = [await newcomer(), await newcomer()];
    await stage.admin.post('/api/user/manage', { id: banned.id, action: 'disable' });
    await stage.admin.post('/api/user/manage', { id: deleted.id, action: 'delete' });
    for (const { username, password } of [banned, deleted])
      expect((await login({ username, password })).json).toEqual(refusal('用户名或密码错误，或用户已被封禁'));
  });
  test('is refused when the operator has switched it off, whatever is sent', async () => {
    await stage.gateway.setOption('PasswordLoginEnabled', 'false');
    const answer = await login({});
    await stage.gateway.setOption('PasswordLoginEnabled', 'true');
    expect(answer.json).toEqual(refusal('管理员关闭了密码登录'));
  });
});

describe('GET /user/self', () => {
  test('returns the whole record', async () => {
    const user = await newcomer(500_000);
    expect((await user.get('/api/user/self')).json).toEqual({
      success: true,
      message: '',
      data: {
        id: user.id,
        username: user.username,
        password: '',
        display_name: user.username,
        role: 1,
        status: 1,
        email: '',
        github_id: '',
        oidc_id: '',
        wechat_id: '',
        telegram_id: '',
        linux_do_id: '',
        verification_code: '',
        access_token: null,
        quota: 500_000,
        used_quota: 0,
        request_count: 0,
        group: 'default',
        aff_code: '',
        aff_count: 0,
        aff_quota: 0,
        aff_history_quota: 0,
        inviter_id: 0,
        setting: '',
        DeletedAt: null,
      },
    });
  });
});

describe('PUT /user/self', () => {
  test('changes name, display name and password, and nothing else', async () => {
    const user = await newcomer(1_000);
    const body = {
      username: 'renamed',
      display_name: '改名',
      password: 'new-password-1',
      role: 100,
      quota: 9_999_999,
      group: 'vip',
      status: 2,
    };
    expect((await user.put('/api/user/self', body)).json).toEqual(done);
    expect(dataOf<object>(await user.get('/api/user/self'))).toMatchObject({
      username: 'renamed',
      display_name: '改名',
      role: 1,
      quota: 1_000,
      group: 'default',
      status: 1,
    });
    expect((await signIn(stage.url, 'renamed', 'new-password-1')).id).toBe(user.id);
  });
  test('leaves empty and absent members and the placeholder of a form unchanged', async () => {
    const user = await newcomer();
    await user.put('/api/user/self', { username: '', display_name: '', password: '$I_LOVE_U' });
    expect(dataOf<object>(await user.get('/api/user/self'))).toMatchObject({
      username: user.username,
      display_name: user.username,
    });
    expect((await signIn(stage.url, user.username, user.password)).id).toBe(user.id);
  });
  test.each([
    [{ username: 'thirteen-char' }, '输入不合法 用户名最多 12 个字符'],
    [{ display_name: '二'.repeat(21) }, '输入不合法 显示名称最多 20 个字符'],
    [{ password: 'seven77' }, '输入不合法 密码长度须为 8 到 20 个字符'],
    [{ password: 'x'.repeat(21) }, '输入不合法 密码长度须为 8 到 20 个字符'],
    [{ username: 'BOB' }, '用户名已存在，或已注销'],
    [{ username: 7 }, '无效的参数'],
  ])('refuses %j', async (body, message) => {
    expect((await stage.alice.put('/api/user/self', body)).json).toMatchObject({ success: false, message });
  });
});

describe('PUT /user/setting', () => {
  const setting = async (user: Client) =>
    JSON.parse(dataOf<{ setting: string }>(await user.get('/api/user/self')).setting) as object;

  test('stores the members of webhooks, secret included, for the user only', async () => {
    const user = await newcomer();
    const answer = await user.put('/api/user/setting', {
      notify_type: 'webhook',
      quota_warning_threshold: 500_000,
      webhook_url: `${hooks.url}/q`,
      webhook_secret: 's3cret-of-hook',
      notification_email: 'ignored@example.org',
      accept_unset_model_ratio_model: true,
    });
    expect(answer.json).toEqual({ success: true, message: '设置已更新', data: null });
    expect(await setting(user)).toEqual({
      notify_type: 'webhook',
      quota_warning_threshold: 500_000,
      accept_unset_model_ratio_model: true,
      webhook_url: `${hooks.url}/q`,
      webhook_secret: 's3cret-of-hook',
    });
    expect((await stage.root.get(`/api/user/${user.id}`)).text).not.toContain('s3cret-of-hook');
  });
  test('replaces the whole: an empty secret removes the previous one', async () => {
    const user = await newcomer();
    const hook = { notify_type: 'webhook', quota_warning_threshold: 1, webhook_url: `${hooks.url}/q` };
    await user.put('/api/user/setting', { ...hook, webhook_secret: 'first' });
    await user.put('/api/user/setting', { ...hook, webhook_secret: '' });
    expect(await setting(user)).toEqual({ ...hook, accept_unset_model_ratio_model: false });
    await user.put('/api/user/setting', {
      notify_type: 'email',
      quota_warning_threshold: 0.5,
      notification_email: 'me@example.org',
    });
    expect(await setting(user)).toEqual({
      notify_type: 'email',
      quota_warning_threshold: 0.5,
      accept_unset_model_ratio_model: false,
      notification_email: 'me@example.org',
    });
  });
  test('stores nothing of a webhook that fails its test, with the reason', async () => {
    const user = await newcomer();
    hooks.answer = 410;
    const hook = { notify_type: 'webhook', quota_warning_threshold: 1, webhook_url: hooks.url };
    const answer = await user.put('/api/user/setting', hook);
    hooks.answer = 200;
    expect(answer.json).toMatchObject({
      success: false,
      message: '更新设置失败: it was answered with status 410',
    });
    expect(dataOf<{ setting: string }>(await user.get('/api/user/self')).setting).toBe('');
  });
  test.each([
    [{}, '无效的预警类型'],
    [{ notify_type: 'pigeon', quota_warning_threshold: 1 }, '无效的预警类型'],
    [{ notify_type: 'email' }, '预警阈值必须大于0'],
    [{ notify_type: 'email', quota_warning_threshold: -1 }, '预警阈值必须大于0'],
    [{ notify_type: 'webhook', quota_warning_threshold: 1 }, 'Webhook地址不能为空'],
    [{ notify_type: 'webhook', quota_warning_threshold: 1, webhook_url: 'ftp://x.example' }, '无效的Webhook地址'],
    [{ notify_type: 'webhook', quota_warning_threshold: 1, webhook_url: 'nowhere' }, '无效的Webhook地址'],
    [{ notify_type: 'email', quota_warning_threshold: 1, notification_email: 'me' }, '无效的邮箱地址'],
    [{ notify_type: 'email', quota_warning_threshold: '1' }, '无效的参数'],
    [[], '无效的参数'],
  ])('refuses %j', async (body, message) => {
    expect((await stage.alice.put('/api/user/setting', body)).json).toMatchObject({ success: false, message });
  });
});

describe('the resources of a user', () => {
  test('include an access token of 32 characters, new each time', async () => {
    const tokens = [await stage.bob.get('/api/user/token'), await stage.bob.get('/api/user/token')];
    const [first, second] = tokens.map((answer) => dataOf<string>(answer));
    expect(first).toMatch(/^[\w+/]{32}$/);
    expect(second).not.toBe(first);
  });
  test('include the models of every usable group, and an empty list without such groups', async () => {
    const user = await newcomer();
    expect((await user.get('/api/user/models')).json).toEqual({ success: true, message: '', data: [] });
    await stage.gateway.addChannel({ models: ['m-default'], groups: ['default'] });
    await stage.gateway.addChannel({ models: ['m-vip', 'm-default'], groups: ['vip'] });
    await stage.gateway.addChannel({ models: ['m-svip'], groups: ['svip'] });
    expect(dataOf<string[]>(await user.get('/api/user/models'))).toEqual(['m-default', 'm-vip']);
  });
  test('include the groups, with ratio and description', async () => {
    await stage.gateway.setOption('GroupRatio', '{"default":1,"vip":0.8,"svip":0.5}');
    const user = await newcomer();
    expect((await user.get('/api/user/self/groups')).json.data).toEqual({
      default: { ratio: 1, desc: '默认分组' },
      vip: { ratio: 0.8, desc: 'vip分组' },
    });
    await stage.root.put('/api/user/', { id: user.id, group: 'svip' });
    expect((await user.get('/api/user/self/groups')).json.data).toMatchObject({
      svip: { ratio: 0.5, desc: '用户分组' },
    });
  });
  test('include the public groups without a session', async () => {
    expect((await send(stage.url, 'GET', '/api/user/groups')).json).toEqual({
      success: true,
      message: '',
      data: { default: { ratio: 1, desc: '默认分组' }, vip: { ratio: 0.8, desc: 'vip分组' } },
    });
  });
});
