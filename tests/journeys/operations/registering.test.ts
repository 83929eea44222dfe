import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { type Answered, dataOf, send, signIn } from '../../rest-compat/rest-server.js';
import { type MailServer, startMailServer } from '../../support/gateway/mail-server.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { startTurnstile, type TurnstileServer, turnstileSecret } from '../../support/gateway/turnstile-server.js';
import { until } from '../../support/until.js';

/* Registering, addresses and forgotten passwords over both faces, with a real mail server. */

let gateway: TestGateway;
let mail: MailServer;
let turnstile: TurnstileServer;
/** Asked for while the mail server said nothing; looked at later, as they take as long as anybody waits. */
let kept: Promise<readonly [Answered, Record<string, unknown>]>;
let silent: Server;
let made = 0;
const newName = () => `new${++made}`;

beforeAll(async () => {
  [mail, turnstile] = await Promise.all([startMailServer({ plainOnly: true }), startTurnstile()]);
  gateway = await startTestGateway({ TURNSTILE_URL: turnstile.url, MAIL_TIMEOUT: '5' });
  await gateway.setOption('SMTPServer', mail.host);
  await gateway.setOption('SMTPFrom', 'gate@mail.example');
  let connections = 0;
  silent = createServer(() => void connections++).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  await gateway.setOption('SMTPPort', String((silent.address() as AddressInfo).port));
  const { actor } = await gateway.addUser(0, newName());
  await gateway.application.users.bindings.changeEmail(actor.id, 'kept@mail.example');
  kept = Promise.all([
    get('/api/verification?email=waits@mail.example'),
    client().refusal(askForLink, { email: 'kept@mail.example' }),
  ]);
  await until(async () => (connections === 2 ? true : null));
  await gateway.setOption('SMTPPort', String(mail.port));
});
afterAll(async () => {
  await gateway?.stop();
  await mail?.stop();
  await turnstile?.stop();
  silent?.close();
});

const get = (path: string, headers: Record<string, string> = {}) => send(gateway.url, 'GET', path, { headers });
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(gateway.url, 'POST', path, { body, headers });
const refused = (message: string) => ({ success: false, message, data: null });
const done = { success: true, message: '', data: null };
const client = () => new GraphqlClient(gateway.url);

const askForLink = 'mutation ($email: String!) { requestPasswordReset(email: $email) }';

const codeIn = (text: string): string => /验证码为：([0-9a-f]{6})/.exec(text)?.[1] ?? '';
async function codeFor(address: string): Promise<string> {
  expect((await get(`/api/verification?email=${encodeURIComponent(address)}`)).json).toEqual(done);
  return codeIn((await mail.mailTo(address)).text);
}

describe('registration over the legacy interface', () => {
  test('accepts a name and a password, and then a sign-in', async () => {
    await gateway.setOption('QuotaForNewUser', '2500');
    const username = newName();
    const form = { username, password: 'correct-horse', password2: 'correct-horse', email: '', aff_code: 'none' };
    const answer = await post('/api/user/register', form);
    expect(answer.json).toEqual(done);
    expect(answer.headers.getSetCookie()).toEqual([]);
    const user = await signIn(gateway.url, username, 'correct-horse');
    expect(dataOf<object>(await user.get('/api/user/self'))).toMatchObject({
      username,
      display_name: username,
      role: 1,
      status: 1,
      group: 'default',
      quota: 2500,
      email: '',
    });
    expect((await post('/api/user/register', form)).json).toEqual(refused('用户名已存在，或已注销'));
  });

  test('accepts an invitation', async () => {
    await gateway.setOption('QuotaForNewUser', '0');
    await gateway.setOption('QuotaForInvitee', '300');
    const inviting = await gateway.addUser(0, newName());
    const inviter = await signIn(gateway.url, inviting.username, inviting.password);
    const code = dataOf<string>(await inviter.get('/api/user/aff'));
    expect(code).toMatch(/^[0-9a-zA-Z]{4}$/);
    expect(dataOf<string>(await inviter.get('/api/user/aff'))).toBe(code);
    expect(dataOf<object>(await inviter.get('/api/user/self'))).toMatchObject({ aff_code: code });
    const username = newName();
    const form = { username, password: 'correct-horse', aff_code: code };
    expect((await post('/api/user/register', form)).json).toEqual(done);
    const invited = await signIn(gateway.url, username, 'correct-horse');
    expect(dataOf<object>(await invited.get('/api/user/self'))).toMatchObject({
      inviter_id: inviting.actor.id,
      quota: 300,
    });
    const asked = await client().signIn(inviting.username, inviting.password);
    expect(await asked.ask('mutation { issueInviteCode }')).toEqual({ issueInviteCode: code });
  });

  test('reports errors in the order and with the texts of the contract', async () => {
    const register = async (body: unknown) => (await post('/api/user/register', body)).json;
    const form = { username: newName(), password: 'correct-horse' };
    expect(await register('no object')).toEqual(refused('无效的参数'));
    expect(await register({ ...form, username: '' })).toMatchObject({
      success: false,
      message: '输入不合法 用户名不能为空',
    });
    expect(await register({ ...form, password: 'short' })).toMatchObject({
      message: '输入不合法 密码长度须为 8 到 20 个字符',
    });
    await gateway.setOption('PasswordRegisterEnabled', 'false');
    expect(await register('no object')).toEqual(
      refused('管理员关闭了通过密码进行注册，请使用第三方账户验证的形式进行注册'),
    );
    await gateway.setOption('RegisterEnabled', 'false');
    expect(await register('no object')).toEqual(refused('管理员关闭了新用户注册'));
    await gateway.setOption('PasswordRegisterEnabled', 'true');
    await gateway.setOption('RegisterEnabled', 'true');
  });

  test('with verification on, requires a code from the mail', async () => {
    await gateway.setOption('EmailVerificationEnabled', 'true');
    try {
      const [username, email] = [newName(), 'carol@mail.example'];
      const form = { username, password: 'correct-horse', email };
      const needed = refused('管理员开启了邮箱验证，请输入邮箱地址和验证码');
      expect((await post('/api/user/register', form)).json).toMatchObject({ ...needed, data: expect.anything() });
      const verification_code = await codeFor(email);
      expect((await post('/api/user/register', { ...form, verification_code: 'ffffffff' })).json).toEqual(
        refused('验证码错误或已过期'),
      );
      expect((await post('/api/user/register', { ...form, verification_code })).json).toEqual(done);
      const user = await signIn(gateway.url, email, 'correct-horse');
      expect(dataOf<object>(await user.get('/api/user/self'))).toMatchObject({ username, email });
      expect((await post('/api/user/register', { ...form, username: newName(), verification_code })).json).toEqual(
        refused('验证码错误或已过期'),
      );
    } finally {
      await gateway.setOption('EmailVerificationEnabled', 'false');
    }
    const received = await mail.mailTo('carol@mail.example');
    expect(received).toMatchObject({ subject: 'Tallygate邮箱验证邮件', from: 'gate@mail.example' });
    expect(codeIn(received.text)).toBe(/<strong>([0-9a-f]{6})<\/strong>/.exec(received.html)?.[1]);
  });

  test('links an address with a code, for its user and for no page of another site', async () => {
    const user = await gateway.addUser(0, newName());
    const signedIn = await signIn(gateway.url, user.username, user.password);
    const email = 'dave@mail.example';
    const bind = (code: string) => `/api/oauth/email/bind?${new URLSearchParams({ email, code })}`;
    const code = await codeFor(email);
    const { cookie = '' } = signedIn.headers;
    expect((await get(bind(code))).status).toBe(401);
    // What a page of another site can make the browser send: the cookie, and no header.
    expect((await get(bind(code), { cookie })).status).toBe(401);
    expect((await get(bind(code), { ...signedIn.headers, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await signedIn.get(bind('ffffffff'))).json).toEqual(refused('验证码错误或已过期'));
    expect((await signedIn.get(bind(code))).json).toEqual(done);
    expect(dataOf<object>(await signedIn.get('/api/user/self'))).toMatchObject({ email });
    expect((await signedIn.get(bind(code))).json).toEqual(refused('验证码错误或已过期'));
    expect((await get(`/api/verification?email=eve@mail.example`, { 'sec-fetch-site': 'cross-site' })).status).toBe(
      403,
    );
  });

  test('replaces a forgotten password by the link in the mail, which ends sessions and access token', async () => {
    const { actor, username, password } = await gateway.addUser(0, newName());
    const email = 'erin+1@mail.example';
    await gateway.application.visible(await gateway.application.users.bindings.changeEmail(actor.id, email));
    const before = await signIn(gateway.url, username, password);
    const accessToken = dataOf<string>(await before.get('/api/user/token'));
    expect((await get(`/api/reset_password?email=${encodeURIComponent(email)}`)).json).toEqual(done);
    const { subject, html } = await mail.mailTo(email);
    expect(subject).toBe('Tallygate密码重置');
    const link = new URL((/href="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&'));
    expect(link.origin + link.pathname).toBe('http://localhost:3000/user/reset');
    const sent = { email: link.searchParams.get('email'), token: link.searchParams.get('token') };
    expect(sent.email).toBe(email);
    const invalid = refused('重置链接非法或已过期');
    expect((await post('/api/user/reset', { ...sent, token: '0'.repeat(32) })).json).toEqual(invalid);
    expect((await post('/api/user/reset', { email })).json).toMatchObject({ success: false, message: '无效的参数' });
    const reset = await post('/api/user/reset', sent);
    expect(reset.json).toMatchObject({ success: true, data: expect.stringMatching(/^[0-9a-f]{12}$/) });
    expect((await before.get('/api/user/self')).status).toBe(401);
    const byToken = { authorization: accessToken, 'new-api-user': String(actor.id) };
    expect((await get('/api/user/self', byToken)).json).toMatchObject({ success: false });
    await signIn(gateway.url, username, dataOf<string>(reset));
    expect((await post('/api/user/reset', sent)).json).toEqual(invalid);
  });

  test('sends links to ServerAddress only, whatever Host the request named', async () => {
    const { actor } = await gateway.addUser(0, newName());
    await gateway.setOption('ServerAddress', 'https://gate.example/');
    const forged = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      'x-original-host': 'evil.example',
      forwarded: 'for=1.2.3.4;host=evil.example;proto=http',
      referer: 'https://evil.example/reset',
    };
    const asked = [
      (email: string) =>
        send(gateway.url, 'GET', `/api/reset_password?email=${encodeURIComponent(email)}`, { headers: forged }),
      (email: string) =>
        send(gateway.url, 'POST', '/graphql', {
          headers: { ...forged, 'x-tallygate-client': 'test' },
          body: { query: askForLink, variables: { email } },
        }),
    ];
    for (const [index, ask] of asked.entries()) {
      const email = `host${index}@mail.example`;
      await gateway.application.visible(await gateway.application.users.bindings.changeEmail(actor.id, email));
      expect((await ask(email)).status).toBe(200);
      const { html } = await mail.mailTo(email);
      expect(html).toContain('href="https://gate.example/user/reset?');
      expect(html).not.toContain('evil.example');
    }
    await gateway.setOption('ServerAddress', '');
  });

  test('refuses an unmailable address with the texts of the contract', async () => {
    const verification = async (email: string) =>
      (await get(`/api/verification?email=${encodeURIComponent(email)}`)).json.message;
    expect(await verification('nobody')).toBe('无效的参数');
    expect(await verification('a@b@mail.example')).toBe('无效的邮箱地址');
    const { actor } = await gateway.addUser(0, newName());
    await gateway.application.users.bindings.changeEmail(actor.id, 'taken@mail.example');
    expect(await verification('Taken@mail.example')).toBe('邮箱地址已被占用');
    expect((await get('/api/reset_password?email=nobody@mail.example')).json).toMatchObject({
      message: '该邮箱地址未注册',
    });
    await gateway.setOption('EmailDomainRestrictionEnabled', 'true');
    expect(await verification('x@mail.example')).toMatch(/whitelist/);
    await gateway.setOption('EmailDomainRestrictionEnabled', 'false');
    await gateway.setOption('EmailAliasRestrictionEnabled', 'true');
    expect(await verification('x.y@mail.example')).toBe(
      '管理员已启用邮箱地址别名限制，您的邮箱地址由于包含特殊符号而被拒绝。',
    );
    await gateway.setOption('EmailAliasRestrictionEnabled', 'false');
  });

  test('limits mails to one in half a minute, with the time to wait in the error', async () => {
    const path = '/api/verification?email=often@mail.example';
    expect((await get(path)).json).toEqual(done);
    const again = await get(path);
    expect([again.status, again.text]).toEqual([429, '']);
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('reports a mail server that is down, or not configured, and permits a repeated request', async () => {
    const path = '/api/verification?email=later@mail.example';
    await mail.stop();
    expect((await get(path)).json).toMatchObject({ success: false });
    await mail.start();
    await gateway.setOption('SMTPServer', '');
    expect((await get(path)).json).toEqual(refused('SMTP 服务器未配置'));
    await gateway.setOption('SMTPServer', mail.host);
    expect((await get(path)).json).toEqual(done);
  });
});

describe('registration over GraphQL', () => {
  const register =
    'mutation ($input: RegistrationInput!, $key: String) { register(input: $input, idempotencyKey: $key) }';
  const sendCode = 'mutation ($email: String!) { sendEmailCode(email: $email) }';

  test('creates one user per idempotency key, and permits a sign-in', async () => {
    const input = { username: newName(), password: 'correct-horse' };
    for (let time = 0; time < 2; time++)
      expect(await client().ask(register, { input, key: 'graphql-1' })).toEqual({ register: true });
    expect(await client().refusal(register, { input })).toMatchObject({ code: 'username-taken', kind: 'conflict' });
    await client().signIn(input.username, input.password);
  });

  test('links, changes and removes an address', async () => {
    const user = await gateway.addUser(0, newName());
    const signedIn = await client().signIn(user.username, user.password);
    const bind =
      'mutation ($email: String!, $code: String!, $stepUp: String) { bindEmail(email: $email, code: $code, stepUp: $stepUp) { email } }';
    for (const email of ['frank@mail.example', 'frank@other.example']) {
      await signedIn.ask(sendCode, { email });
      const code = codeIn((await mail.mailTo(email)).text);
      expect(
        await signedIn.refusal(bind, { email, code: 'ffffffff', stepUp: await signedIn.proven('EMAIL') }),
      ).toMatchObject({ code: 'email-code-wrong' });
      expect(await signedIn.ask(bind, { email, code, stepUp: await signedIn.proven('EMAIL') })).toEqual({
        bindEmail: { email },
      });
    }
    expect(await client().refusal(bind, { email: 'x@mail.example', code: 'x' })).toMatchObject({
      code: 'not-signed-in',
    });
    const remove = `mutation { removeEmail(stepUp: "${await signedIn.proven('EMAIL')}") { email } }`;
    expect(await signedIn.ask(remove)).toEqual({ removeEmail: { email: '' } });
  });

  test('replaces a forgotten password', async () => {
    const { actor, username } = await gateway.addUser(0, newName());
    const email = 'grace@mail.example';
    await gateway.application.visible(await gateway.application.users.bindings.changeEmail(actor.id, email));
    await client().ask(askForLink, { email });
    const [, token] = /token=([0-9a-f]{32})/.exec((await mail.mailTo(email)).text) ?? [];
    const reset = 'mutation ($email: String!, $token: String!) { resetPassword(email: $email, token: $token) }';
    const { resetPassword } = await client().ask(reset, { email, token });
    await client().signIn(username, resetPassword);
    expect(await client().refusal(reset, { email, token })).toMatchObject({ code: 'reset-link-invalid' });
  });
});

test('a mail server that accepts and then hangs is abandoned with an error, and the mail can be requested again', async () => {
  const [byRest, byGraphql] = await kept;
  const reason = 'the mail server does not answer in time';
  expect([byRest.status, byRest.json]).toEqual([200, refused(`邮件发送失败：${reason}`)]);
  expect(byGraphql).toMatchObject({ code: 'mail-failed', details: { reason } });
  expect((await get('/api/verification?email=waits@mail.example')).json).toEqual(done);
  await client().ask(askForLink, { email: 'kept@mail.example' });
  for (const address of ['waits@mail.example', 'kept@mail.example']) await mail.mailTo(address);
}, 60_000);

describe('the human check', () => {
  beforeAll(async () => {
    await gateway.setOption('TurnstileSiteKey', 'site-key');
    await gateway.setOption('TurnstileSecretKey', turnstileSecret);
    await gateway.setOption('TurnstileCheckEnabled', 'true');
  });
  afterAll(() => gateway.setOption('TurnstileCheckEnabled', 'false'));
  beforeEach(() => {
    turnstile.behaviour = 'sound';
  });

  const visitorIn = ({ headers }: Answered): string | undefined =>
    headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith('visitor=') && !cookie.startsWith('visitor=;'))
      ?.split(';', 1)[0];
  const operations: readonly (readonly [string, (query: string, cookie?: string) => Promise<Answered>])[] = [
    ['POST', '/api/user/login'],
    ['POST', '/api/user/register'],
    ['GET', '/api/verification'],
    ['GET', '/api/reset_password'],
  ].map(([method = '', path = '']) => [
    path,
    (query, cookie) =>
      send(gateway.url, method, `${path}?${query}`, {
        ...(method === 'POST' ? { body: {} } : {}),
        headers: cookie === undefined ? {} : { cookie },
      }),
  ]);

  test.each(operations)('is required before all else at %s, and passed once for all of them', async (_, ask) => {
    const missing = await ask('');
    expect([missing.status, missing.json]).toEqual([200, refused('Turnstile token 为空')]);
    expect((await ask('turnstile=made-up')).json).toEqual(refused('Turnstile 校验失败，请刷新重试！'));
    const answer = turnstile.answer();
    const passed = await ask(`turnstile=${answer}`);
    expect(passed.json.message).not.toMatch(/Turnstile/);
    expect(turnstile.requests.at(-1)).toEqual({ response: answer, remoteip: '127.0.0.1', sound: true });
    expect((await ask(`turnstile=${answer}`)).json).toEqual(refused('Turnstile 校验失败，请刷新重试！'));
    const cookie = visitorIn(passed);
    expect(cookie).toBeDefined();
    for (const [, other] of operations) expect((await other('', cookie)).json.message).not.toMatch(/Turnstile/);
    await get('/api/user/logout', { cookie: cookie ?? '' });
    expect((await ask('', cookie)).json).toEqual(refused('Turnstile token 为空'));
  });

  test('is required by no other endpoint, and not replaced by an invented cookie', async () => {
    expect((await post('/api/user/reset', { email: 'x@mail.example', token: 'x' })).json.message).not.toMatch(
      /Turnstile/,
    );
    const [, ask] = operations[0] ?? [];
    expect((await ask?.('', `visitor=${'a'.repeat(32)}`))?.json).toEqual(refused('Turnstile token 为空'));
  });

  test('that the service cannot perform admits no visitor, and the error says so', async () => {
    const [, ask] = operations[0] ?? [];
    turnstile.behaviour = 'broken';
    expect((await ask?.(`turnstile=${turnstile.answer()}`))?.json).toEqual(
      refused('无法连接 Turnstile 校验服务，请稍后重试'),
    );
  });

  test('is required over GraphQL as well', async () => {
    const { username, password } = await gateway.addUser(0, newName());
    const login =
      'mutation ($u: String!, $p: String!, $h: String) { login(username: $u, password: $p, humanCheck: $h) { user { username } } }';
    const asked = client();
    const variables = { u: username, p: password };
    expect(await asked.refusal(login, variables)).toMatchObject({ code: 'human-check-missing' });
    expect(await asked.refusal(login, { ...variables, h: 'made-up' })).toMatchObject({ code: 'human-check-failed' });
    expect(await asked.ask(login, { ...variables, h: turnstile.answer() })).toEqual({ login: { user: { username } } });
    expect(await client().refusal('mutation { sendEmailCode(email: "x@mail.example") }')).toMatchObject({
      code: 'human-check-missing',
    });
    expect(await client().refusal('mutation { requestPasswordReset(email: "x@mail.example") }')).toMatchObject({
      code: 'human-check-missing',
    });
    const input = { username: newName(), password: 'correct-horse' };
    expect(
      await client().refusal('mutation ($input: RegistrationInput!) { register(input: $input) }', { input }),
    ).toMatchObject({ code: 'human-check-missing' });
  });
});

test('the log of the gateway contains no address and no link', () => {
  const log = gateway.logged.join('\n');
  for (const { to, text } of mail.received) {
    for (const address of to) expect(log).not.toContain(address);
    for (const [, secret] of text.matchAll(/token=([0-9a-f]+)/g)) expect(log).not.toContain(secret);
  }
  expect(mail.received.length).toBeGreaterThan(3);
});
