import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway/test-gateway.js';
import { startOidcProvider } from './oidc-provider.js';
import { type ProviderSetting, startProviderSetting } from './setting.js';
import { botToken, relayToken, telegramSigned } from './stand-ins.js';
import { Visitor } from './visitor.js';

/* The identity providers as the legacy contract has them: its paths, orders and texts. */

let setting: ProviderSetting;
let gateway: TestGateway;

beforeAll(async () => {
  setting = await startProviderSetting();
  ({ gateway } = setting);
});
afterAll(() => setting?.stop());

const stateOf = async (visitor: Visitor): Promise<string> => String((await visitor.ask('/oauth/state')).data);

const linuxdoReturn = () => `${gateway.url}/api/oauth/linuxdo`;

const signedIn = async (): Promise<Visitor> => {
  const { username, password } = await gateway.addUser(0);
  const visitor = new Visitor(gateway);
  await visitor.signIn(username, password);
  return visitor;
};

const bindingOf = async (visitor: Visitor, member: string): Promise<unknown> =>
  (await visitor.ask('/user/self')).data?.[member as never];

let accounts = 5000;

describe('a legacy OAuth state', () => {
  test('is twelve letters and digits', async () => {
    expect(await stateOf(new Visitor(gateway))).toMatch(/^[0-9a-zA-Z]{12}$/);
  });

  test.each(['github', 'oidc', 'linuxdo'])('is required by %s, with status 403 otherwise', async (provider) => {
    const answer = await new Visitor(gateway).get(`/oauth/${provider}`, { code: 'x', state: 'y' });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ success: false, message: 'state is empty or not same' });
    expect((await new Visitor(gateway).get(`/oauth/${provider}`, { code: 'x' })).status).toBe(403);
  });

  test('is refused to and from pages of another site', async () => {
    const visitor = new Visitor(gateway);
    const foreign = { 'sec-fetch-site': 'cross-site' };
    expect((await visitor.get('/oauth/state', {}, foreign)).status).toBe(403);
    const state = await stateOf(visitor);
    const code = setting.github.agreeToLegacy({ id: ++accounts, login: 'mallory' });
    expect((await visitor.get('/oauth/github', { code, state }, foreign)).status).toBe(403);
    expect(await visitor.ask('/oauth/github', { code, state })).toMatchObject({ success: true });
  });
});

describe('a legacy sign-in', () => {
  test('by GitHub returns the user, and creates a session', async () => {
    const visitor = new Visitor(gateway);
    visitor.userId = -1;
    setting.github.emails = [
      { email: 'old@example.org', primary: false, verified: true },
      { email: 'Octo@example.org', primary: true, verified: true },
    ];
    const state = await stateOf(visitor);
    const code = setting.github.agreeToLegacy({ id: ++accounts, login: 'octocat', name: null });
    const { success, message, data } = await visitor.ask('/oauth/github', { code, state });
    setting.github.emails = [];
    const { id } = data as { id: number };
    expect({ success, message }).toEqual({ success: true, message: '' });
    expect(data).toEqual({
      id,
      username: `github_${id}`,
      display_name: 'GitHub User',
      role: 1,
      status: 1,
      group: 'default',
    });
    visitor.userId = id;
    expect((await visitor.ask('/user/self')).data).toMatchObject({ github_id: 'octocat', email: 'Octo@example.org' });
  });

  test('omits an address that GitHub has not verified', async () => {
    const visitor = new Visitor(gateway);
    setting.github.emails = [{ email: 'unsure@example.org', primary: true, verified: false }];
    const code = setting.github.agreeToLegacy({ id: ++accounts, login: 'octocat', email: 'unsure@example.org' });
    const { data } = await visitor.ask('/oauth/github', { code, state: await stateOf(visitor) });
    setting.github.emails = [];
    visitor.userId = (data as { id: number }).id;
    expect(await bindingOf(visitor, 'email')).toBe('');
  });

  test('identifies a GitHub account by its number, even if another account has its former name', async () => {
    const come = async (id: number, login: string): Promise<unknown> => {
      const visitor = new Visitor(gateway);
      const code = setting.github.agreeToLegacy({ id, login });
      const { data } = await visitor.ask('/oauth/github', { code, state: await stateOf(visitor) });
      return (data as { id: number }).id;
    };
    const [first, second] = [++accounts, ++accounts];
    const user = await come(first, 'a-name');
    expect(await come(first, 'renamed')).toBe(user);
    expect(await come(second, 'a-name')).not.toBe(user);
  });

  test('by LinuxDO sends the documented redirect address', async () => {
    const visitor = new Visitor(gateway);
    const id = ++accounts;
    const code = setting.linuxdo.agreeToLegacy({ id, name: 'Neo' }, linuxdoReturn());
    const { data } = await visitor.ask('/oauth/linuxdo', { code, state: await stateOf(visitor) });
    visitor.userId = (data as { id: number }).id;
    expect(data).toMatchObject({ username: `linuxdo_${visitor.userId}`, display_name: 'Neo' });
    expect(await bindingOf(visitor, 'linux_do_id')).toBe(String(id));
  });

  test('by LinuxDO passes on why it was denied, before any other check', async () => {
    const denied = { error: 'access_denied', error_description: 'The user said no' };
    expect(await new Visitor(gateway).ask('/oauth/linuxdo', denied)).toMatchObject({
      success: false,
      message: 'The user said no',
    });
  });

  test.each([
    ['github', '管理员未开启通过 GitHub 登录以及注册', 'GitHubOAuthEnabled'],
    ['oidc', '管理员未开启通过 OIDC 登录以及注册', 'oidc.enabled'],
    ['linuxdo', '管理员未开启通过 Linux DO 登录以及注册', 'LinuxDOOAuthEnabled'],
  ])('by %s is refused while it is off', async (provider, message, option) => {
    const visitor = new Visitor(gateway);
    await gateway.setOption(option, 'false');
    const refused = await visitor.ask(`/oauth/${provider}`, { code: 'x', state: await stateOf(visitor) });
    await gateway.setOption(option, 'true');
    expect(refused).toMatchObject({ success: false, message });
  });

  test.each([
    ['github', '无效的参数'],
    ['oidc', '无效的参数'],
    ['linuxdo', 'invalid code'],
  ])('by %s requires a code', async (provider, message) => {
    const visitor = new Visitor(gateway);
    expect(await visitor.ask(`/oauth/${provider}`, { state: await stateOf(visitor) })).toMatchObject({ message });
  });

  test.each([
    ['github', '返回值非法，用户字段为空，请稍后重试！'],
    ['oidc', 'OIDC 获取 Token 失败，请检查设置！'],
    ['linuxdo', 'failed to get access token: the code was refused'],
  ])('by %s reports a refused code', async (provider, message) => {
    const visitor = new Visitor(gateway);
    const refused = await visitor.ask(`/oauth/${provider}`, { code: 'made-up', state: await stateOf(visitor) });
    expect(refused).toMatchObject({ success: false, message });
  });

  test.each([
    ['GitHub', () => setting.github.agreeToLegacy({ login: 'no-number' }), '返回值非法，用户字段为空，请稍后重试！'],
    ['LinuxDO', () => setting.linuxdo.agreeToLegacy({ id: 0 }, linuxdoReturn()), 'invalid user info returned'],
  ])('by %s requires the identity of the account', async (name, agree, message) => {
    const visitor = new Visitor(gateway);
    const refused = await visitor.ask(`/oauth/${name.toLowerCase()}`, { code: agree(), state: await stateOf(visitor) });
    expect(refused).toMatchObject({ success: false, message });
  });

  test('is refused while registration is off, and to disabled and deleted users', async () => {
    const id = ++accounts;
    const come = async (visitor = new Visitor(gateway)) =>
      visitor.ask('/oauth/github', {
        code: setting.github.agreeToLegacy({ id, login: 'someone' }),
        state: await stateOf(visitor),
      });
    await gateway.setOption('RegisterEnabled', 'false');
    expect(await come()).toMatchObject({ success: false, message: '管理员关闭了新用户注册' });
    await gateway.setOption('RegisterEnabled', 'true');
    const user = ((await come()).data as { id: number }).id;
    const { users, visible } = gateway.application;
    await visible(await users.manage(gateway.root, user as never, 'disable'));
    expect(await come()).toMatchObject({ success: false, message: '用户已被封禁' });
    await visible(await users.manage(gateway.root, user as never, 'delete'));
    expect(await come()).toMatchObject({ success: false, message: '用户已注销' });
  });
});

describe('legacy linking', () => {
  test('returns `bind`, and refuses a linked account', async () => {
    const visitor = await signedIn();
    const id = ++accounts;
    const agree = () => setting.github.agreeToLegacy({ id, login: 'hubber' });
    expect(await visitor.askProven('/oauth/github', { code: agree(), state: await stateOf(visitor) })).toEqual({
      success: true,
      message: 'bind',
      data: null,
    });
    expect(await bindingOf(visitor, 'github_id')).toBe('hubber');
    const other = await signedIn();
    expect(await other.askProven('/oauth/github', { code: agree(), state: await stateOf(other) })).toMatchObject({
      success: false,
      message: '该 GitHub 账户已被绑定',
    });
  });

  test('requires the header with the own id', async () => {
    const visitor = await signedIn();
    const [id, state] = [visitor.userId, await stateOf(visitor)];
    const code = setting.github.agreeToLegacy({ id: ++accounts, login: 'hubber' });
    for (const claimed of [null, (id ?? 0) + 1]) {
      visitor.userId = claimed;
      expect((await visitor.get('/oauth/github', { code, state })).status).toBe(401);
    }
    visitor.userId = id;
    expect(await bindingOf(visitor, 'github_id')).toBe('');
    expect(await visitor.askProven('/oauth/github', { code, state })).toMatchObject({ message: 'bind' });
  });

  test('refuses a state from before the sign-in', async () => {
    const visitor = await signedIn();
    const { userId } = visitor;
    const other = await signedIn();
    const state = await stateOf(visitor);
    visitor.cookies.set('session', other.cookies.get('session') ?? '');
    visitor.userId = other.userId;
    const code = setting.github.agreeToLegacy({ id: ++accounts, login: 'hubber' });
    expect((await visitor.get('/oauth/github', { code, state })).status).toBe(403);
    expect(userId).not.toBe(other.userId);
  });

  test('works for an OpenID Connect provider over three addresses without PKCE', async () => {
    const back = `${gateway.url}/oauth/oidc`;
    const lenient = await startOidcProvider([back], false);
    const urls = {
      'oidc.well_known': '',
      'oidc.authorization_endpoint': `${lenient.url}/auth`,
      'oidc.token_endpoint': `${lenient.url}/token`,
      'oidc.user_info_endpoint': `${lenient.url}/me`,
    };
    for (const [key, value] of Object.entries(urls)) await gateway.setOption(key, value);
    lenient.accounts.set('ada', {
      email: 'ada@example.org',
      email_verified: true,
      preferred_username: 'ada',
      name: 'Ada',
    });
    const visitor = new Visitor(gateway);
    const status = (await visitor.ask('/status')).data as unknown as Record<string, string>;
    expect(status).toMatchObject({ oidc_enabled: true, oidc_authorization_endpoint: `${lenient.url}/auth` });
    const query = new URLSearchParams({
      client_id: status.oidc_client_id ?? '',
      redirect_uri: back,
      response_type: 'code',
      scope: 'openid profile email',
      state: await stateOf(visitor),
    });
    const returned = await lenient.agree(`${status.oidc_authorization_endpoint}?${query}`, 'ada');
    const { data } = await visitor.ask('/oauth/oidc', Object.fromEntries(returned.searchParams));
    visitor.userId = (data as { id: number }).id;
    expect(data).toMatchObject({ username: 'ada', display_name: 'Ada' });
    expect((await visitor.ask('/user/self')).data).toMatchObject({ oidc_id: 'ada', email: 'ada@example.org' });
    await gateway.setOption('oidc.well_known', setting.oidc.wellKnown);
    await lenient.stop();
  });
});

describe('the legacy WeChat sign-in', () => {
  test('accepts a code of the relay, once, and links by another', async () => {
    setting.relay.codes.set('111111', 'wx-ada').set('222222', 'wx-ada').set('333333', 'wx-bob');
    const visitor = new Visitor(gateway);
    const { data } = await visitor.ask('/oauth/wechat', { code: '111111' });
    visitor.userId = (data as { id: number }).id;
    expect(data).toMatchObject({ username: `wechat_${visitor.userId}`, display_name: 'WeChat User' });
    expect(await bindingOf(visitor, 'wechat_id')).toBe('wx-ada');

    const other = await signedIn();
    expect(await other.askProven('/oauth/wechat/bind', { code: '222222' })).toMatchObject({
      message: '该微信账号已被绑定',
    });
    expect(await other.askProven('/oauth/wechat/bind', { code: '333333' })).toEqual({
      success: true,
      message: '',
      data: null,
    });
    expect(await bindingOf(other, 'wechat_id')).toBe('wx-bob');
    expect(await new Visitor(gateway).ask('/oauth/wechat', { code: '333333' })).toMatchObject({
      success: false,
      message: '验证码错误或已过期',
    });
  });

  test('passes on the relay’s error, never its token', async () => {
    expect(await new Visitor(gateway).ask('/oauth/wechat', { code: 'refused' })).toMatchObject({
      message: '验证码已被使用',
    });
    await gateway.setOption('WeChatServerToken', 'another-token');
    const refused = await new Visitor(gateway).ask('/oauth/wechat', { code: 'any' });
    await gateway.setOption('WeChatServerToken', relayToken);
    expect(refused.success).toBe(false);
    expect(refused.message).not.toContain('another-token');
  });

  test('links nothing without the header, nor for a page of another site', async () => {
    const visitor = await signedIn();
    setting.relay.codes.set('444444', 'wx-eve');
    const { userId } = visitor;
    visitor.userId = null;
    expect((await visitor.get('/oauth/wechat/bind', { code: '444444' })).status).toBe(401);
    visitor.userId = userId;
    const foreign = await visitor.get('/oauth/wechat/bind', { code: '444444' }, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    expect(await bindingOf(visitor, 'wechat_id')).toBe('');
  });

  test('requires a code, and is refused while it is off', async () => {
    expect(await new Visitor(gateway).ask('/oauth/wechat')).toMatchObject({ message: '无效的参数' });
    await gateway.setOption('WeChatAuthEnabled', 'false');
    const off = await new Visitor(gateway).ask('/oauth/wechat', { code: '1' });
    await gateway.setOption('WeChatAuthEnabled', 'true');
    expect(off).toMatchObject({ success: false, message: '管理员未开启通过微信登录以及注册' });
  });
});

describe('the legacy Telegram sign-in', () => {
  const now = (): string => String(Math.floor(Date.now() / 1000));
  const widget = (id: number, more: Record<string, string> = {}) =>
    telegramSigned({ id: String(id), first_name: 'Tele', username: 'gram', auth_date: now(), ...more });

  test('signs in a user with a linked account, and registers no user', async () => {
    const id = ++accounts;
    expect(await new Visitor(gateway).ask('/oauth/telegram/login', widget(id))).toMatchObject({
      success: false,
      message: '该 Telegram 账户未绑定',
    });
    const visitor = await signedIn();
    expect(await visitor.askProven('/oauth/telegram/bind', widget(id, { last_name: 'a' }))).toMatchObject({
      success: true,
    });
    expect(await bindingOf(visitor, 'telegram_id')).toBe(String(id));
    // Clients add the language they show, which nobody has signed.
    const back = await new Visitor(gateway).ask('/oauth/telegram/login', {
      ...widget(id, { last_name: 'b' }),
      lang: 'en',
    });
    expect(back).toMatchObject({ success: true, data: { id: visitor.userId } });
    const other = await signedIn();
    expect(await other.askProven('/oauth/telegram/bind', widget(id, { last_name: 'c' }))).toMatchObject({
      success: false,
      message: '该 Telegram 账户已被绑定',
    });
  });

  test('accepts a signature once, on either endpoint', async () => {
    const visitor = await signedIn();
    const shown = widget(++accounts);
    expect(await visitor.askProven('/oauth/telegram/bind', shown)).toMatchObject({ success: true });
    expect(await new Visitor(gateway).ask('/oauth/telegram/login', shown)).toMatchObject({
      success: false,
      message: '无效的请求',
    });
  });

  test('redirects a browser from its own page, and from no other page', async () => {
    setting.relay.codes.set('555555', 'wx-led');
    const visitor = new Visitor(gateway);
    const { data } = await visitor.ask('/oauth/wechat', { code: '555555' });
    const id = ++accounts;
    const lead = (site: string) => visitor.navigate('/oauth/telegram/bind', widget(id), site);
    expect((await lead('cross-site')).statusCode).toBe(403);
    expect((await lead('none')).statusCode).toBe(401);
    const bound = await lead('same-origin');
    expect([bound.statusCode, bound.headers.location]).toEqual([302, '/setting']);
    visitor.userId = (data as { id: number }).id;
    expect(await bindingOf(visitor, 'telegram_id')).toBe(String(id));
  });

  test('links nothing for a redirected browser while its user has a password, until the address contains a proof', async () => {
    const visitor = await signedIn();
    const led = await visitor.navigate('/oauth/telegram/bind', widget(++accounts), 'same-origin');
    expect(led.headers.location).toBeUndefined();
    expect(await bindingOf(visitor, 'telegram_id')).toBe('');
    const proof = (await visitor.proven('BINDINGS')) ?? '';
    const id = ++accounts;
    const bound = await visitor.navigate('/oauth/telegram/bind', { ...widget(id), step_up: proof }, 'same-origin');
    expect([bound.statusCode, bound.headers.location]).toEqual([302, '/setting']);
    expect(await bindingOf(visitor, 'telegram_id')).toBe(String(id));
  });

  test('refuses other signatures, and is refused while it is off', async () => {
    const forged = telegramSigned({ id: '1', auth_date: now() }, `${botToken}x`);
    expect(await new Visitor(gateway).ask('/oauth/telegram/login', forged)).toMatchObject({ message: '无效的请求' });
    const late = widget(1, { auth_date: String(Number(now()) - 601) });
    expect(await new Visitor(gateway).ask('/oauth/telegram/login', late)).toMatchObject({ message: '无效的请求' });
    await gateway.setOption('TelegramOAuthEnabled', 'false');
    const off = await new Visitor(gateway).ask('/oauth/telegram/login', widget(1));
    await gateway.setOption('TelegramOAuthEnabled', 'true');
    expect(off).toMatchObject({ message: '管理员未开启通过 Telegram 登录以及注册' });
  });
});

describe('an identity provider', () => {
  const texts = {
    github: '无法连接至 GitHub 服务器，请稍后重试！',
    oidc: '无法连接至 OIDC 服务器，请稍后重试！',
    linuxdo: 'failed to connect to Linux DO server',
    wechat: '无法连接至微信服务器，请稍后重试！',
  };
  type Name = keyof typeof texts;
  const moody = () => ({ github: setting.github, oidc: setting.oidc, linuxdo: setting.linuxdo, wechat: setting.relay });

  const come = async (name: Name) => {
    const visitor = new Visitor(gateway);
    const state = await stateOf(visitor);
    return visitor.ask(`/oauth/${name}`, { code: '1', state });
  };

  test.each(['down', 'slow'] as const)('that is %s is abandoned at its timeout', async (mood) => {
    const names = Object.keys(texts) as Name[];
    for (const standIn of Object.values(moody())) standIn.mood = mood;
    const answers = await Promise.all(names.map(come));
    for (const standIn of Object.values(moody())) standIn.mood = 'up';
    expect(answers.map(({ message }) => message)).toEqual(names.map((name) => texts[name]));
  });

  test('that sends something else is not quoted, not even in the log', async () => {
    for (const standIn of Object.values(moody())) standIn.mood = 'senseless';
    const answers = await Promise.all((Object.keys(texts) as Name[]).map(come));
    for (const standIn of Object.values(moody())) standIn.mood = 'up';
    for (const { success, message } of answers) {
      expect(success).toBe(false);
      expect(message).not.toContain('secret page');
    }
    expect(gateway.logged.join()).not.toContain('secret page');
    expect(gateway.logged.join()).not.toContain('secret-of-ours');
    expect(gateway.logged.some((line) => line.includes('a provider has not vouched'))).toBe(true);
  });

  test('of OpenID Connect whose discovery failed is queried again at the next sign-in', async () => {
    await gateway.setOption('oidc.well_known', 'http://127.0.0.1:1/.well-known/openid-configuration');
    const visitor = new Visitor(gateway);
    expect(await visitor.refusal('mutation { visitProvider(provider: OIDC) }')).toBe('provider-unreachable');
    const late = await startOidcProvider([`${gateway.url}/oauth/oidc`]);
    await gateway.setOption('oidc.well_known', late.wellKnown);
    expect(await visitor.visit('OIDC')).toContain(late.url);
    await gateway.setOption('oidc.well_known', setting.oidc.wellKnown);
    await late.stop();
  });
});

describe('a user from an OpenID Connect provider', () => {
  const come = async (account: string, profile: object) => {
    setting.oidc.accounts.set(account, profile);
    const visitor = new Visitor(gateway);
    const back = await setting.oidc.agree(await visitor.visit('OIDC'), account);
    const { code, state } = Object.fromEntries(back.searchParams);
    return visitor.end('OIDC', { code: code ?? '', state: state ?? '' });
  };
  const userIn = ({ data }: Awaited<ReturnType<typeof come>>) =>
    (data as { endVisit: { signIn: { user: { id: string; username: string; displayName: string; email: string } } } })
      .endVisit.signIn.user;

  test('gets the preferred name, if it is valid and free', async () => {
    const email = 'grace@example.org';
    expect(userIn(await come('grace', { email, preferred_username: 'grace', name: 'Grace Hopper' }))).toMatchObject({
      username: 'grace',
      displayName: 'Grace Hopper',
    });
    const taken = userIn(await come('grace-2', { email, preferred_username: 'grace' }));
    expect(taken).toMatchObject({ username: `oidc_${taken.id}`, displayName: 'OIDC User' });
    const unfit = userIn(await come('grace-3', { email, preferred_username: 'a name that is far too long' }));
    expect(unfit.username).toBe(`oidc_${unfit.id}`);
  });

  test('gets another name where the one derived from its id is taken', async () => {
    const { id } = userIn(await come('pioneer', { email: 'p@example.org' }));
    await gateway.addUser(0, `oidc_${Number(id) + 2}`);
    const squatted = userIn(await come('settler', { email: 's@example.org' }));
    expect(squatted.username).toMatch(new RegExp(`^oidc_${squatted.id}_[0-9a-zA-Z]{4}$`));
  });

  test('gets an address only where it is verified and free', async () => {
    const email = 'one@example.org';
    expect(userIn(await come('unsure', { email, email_verified: false })).email).toBe('');
    expect(userIn(await come('said', { email, email_verified: 'true' })).email).toBe('');
    expect(userIn(await come('sure', { email, email_verified: true })).email).toBe(email);
    expect(userIn(await come('late', { email: 'ONE@example.org', email_verified: true })).email).toBe('');
  });

  test('is registered without an address', async () => {
    const { errors } = await come('nobody', { name: 'No Body' });
    expect(errors?.[0]?.extensions.code).toBe('provider-profile-empty');
  });

  test('has a display name cut to the limit', async () => {
    const name = `\u0000 Ada\u0007 ${'x'.repeat(100)}`;
    expect(userIn(await come('long', { email: 'l@example.org', name })).displayName).toBe(`Ada ${'x'.repeat(16)}`);
  });
});
