import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Data, GraphqlClient } from '../../graphql/graphql-server.js';
import { Visitor } from '../../identity-providers/visitor.js';
import { type Client, dataOf, send, signIn } from '../../rest-compat/rest-server.js';
import { type MailServer, startMailServer } from '../../support/gateway/mail-server.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/* What the status shows as on leads somewhere: every flag of both faces, with everything switched on and filled in. */

const options: Readonly<Record<string, string>> = {
  SMTPFrom: 'gate@mail.example',
  EmailVerificationEnabled: 'true',
  DataExportEnabled: 'true',
  ServerAddress: 'https://gate.example',
  PayAddress: 'https://pay.example',
  EpayId: '17',
  EpayKey: 'secret',
};

/** What opens each identity provider, its switch last. */
const conditions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  github_oauth: { GitHubClientId: 'client', GitHubClientSecret: 'secret', GitHubOAuthEnabled: 'true' },
  oidc_enabled: {
    'oidc.client_id': 'client',
    'oidc.client_secret': 'secret',
    'oidc.authorization_endpoint': 'https://id.example/authorize',
    'oidc.token_endpoint': 'https://id.example/token',
    'oidc.user_info_endpoint': 'https://id.example/user',
    'oidc.enabled': 'true',
  },
  linuxdo_oauth: { LinuxDOClientId: 'client', LinuxDOClientSecret: 'secret', LinuxDOOAuthEnabled: 'true' },
  wechat_login: {
    WeChatServerAddress: 'https://wechat.example',
    WeChatServerToken: 'token',
    WeChatAuthEnabled: 'true',
  },
  telegram_oauth: { TelegramBotName: 'gate_bot', TelegramBotToken: 'token', TelegramOAuthEnabled: 'true' },
};
/** Of each, what it is shut without. */
const requirements = Object.entries(conditions).map(([flag, needed]) => [flag, Object.keys(needed)[0] ?? ''] as const);

let gateway: TestGateway;
let mail: MailServer;
let user: Client;

beforeAll(async () => {
  mail = await startMailServer({ plainOnly: true });
  gateway = await startTestGateway({ OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' });
  await gateway.setOption('SMTPServer', mail.host);
  await gateway.setOption('SMTPPort', String(mail.port));
  for (const needed of [options, ...Object.values(conditions)])
    for (const [key, value] of Object.entries(needed)) await gateway.setOption(key, value);
  const { username, password } = await gateway.addUser(0);
  user = await signIn(gateway.url, username, password);
  // Last: from here on nobody signs in without it.
  await gateway.setOption('TurnstileSiteKey', 'site-key');
  await gateway.setOption('TurnstileSecretKey', 'secret');
});
afterAll(async () => {
  await gateway?.stop();
  await mail?.stop();
});

/** What somebody is answered by a sign-in method that is off, or does not exist. */
const shut = /管理员未开启|管理员关闭|未配置|Invalid URL/;

describe('the legacy status', () => {
  /** How the system is, which offers nothing. */
  const facts = [
    ...['setup', 'display_in_currency', 'default_collapse_sidebar', 'enable_batch_update'],
    ...['demo_site_enabled', 'self_use_mode_enabled'],
  ];
  /** Where each flag leads. */
  const paths: Readonly<Record<string, string>> = {
    enable_online_topup: '/api/user/epay/notify',
    enable_drawing: '/api/mj/self',
    mj_notify_enabled: '/api/mj/self',
    enable_task: '/api/task/self',
    enable_data_export: '/api/data/self?start_timestamp=0&end_timestamp=1',
    email_verification: '/api/verification?email=new@mail.example',
    github_oauth: '/api/oauth/github?code=',
    oidc_enabled: '/api/oauth/oidc?code=',
    linuxdo_oauth: '/api/oauth/linuxdo?code=',
    wechat_login: '/api/oauth/wechat?code=',
    telegram_oauth: '/api/oauth/telegram/login?id=1',
    turnstile_check: '/api/reset_password?email=new@mail.example',
  };

  const status = async () => dataOf<Readonly<Record<string, unknown>>>(await send(gateway.url, 'GET', '/api/status'));
  const flagsOn = async () =>
    Object.entries(await status()).flatMap(([flag, on]) => (on === true && !facts.includes(flag) ? [flag] : []));

  /**
   * What whoever goes there is answered. Identity providers are for who is not signed in, and look at nothing before
   * the state.
   */
  const at = async (flag: string): Promise<{ readonly status: number; readonly text: string }> => {
    const path = paths[flag] ?? '';
    if (conditions[flag] === undefined) return user.get(path);
    const visitor = new Visitor(gateway);
    const { data: state } = await visitor.ask('/oauth/state');
    const answer = await visitor.get(`${path.replace('/api', '')}&state=${state}`);
    return { status: answer.status, text: await answer.text() };
  };

  test('has no flag of unknown meaning', async () => {
    const flags = Object.entries(await status()).flatMap(([flag, value]) => (typeof value === 'boolean' ? [flag] : []));
    expect(flags.sort()).toEqual([...facts, ...Object.keys(paths)].sort());
  });

  test('shows as on what exists, and what is shown as on is available', async () => {
    const on = await flagsOn();
    expect(on.sort()).toEqual(
      [
        ...[...Object.keys(conditions), 'email_verification', 'enable_data_export', 'enable_online_topup'],
        ...['enable_drawing', 'enable_task'],
      ].sort(),
    );
    for (const flag of on) {
      const { status: code, text } = await at(flag);
      expect([403, 404], flag).not.toContain(code);
      expect(text, flag).not.toMatch(shut);
    }
  });

  test.each(requirements)('shows %s as off without %s, and then it is unavailable', async (flag, requirement) => {
    await gateway.setOption(requirement, '');
    expect(await flagsOn()).not.toContain(flag);
    expect((await at(flag)).text).toMatch(shut);
    await gateway.setOption(requirement, conditions[flag]?.[requirement] ?? '');
    expect(await flagsOn()).toContain(flag);
  });

  test('shows the human check while it is required', async () => {
    await gateway.setOption('TurnstileCheckEnabled', 'true');
    expect(await flagsOn()).toContain('turnstile_check');
    const { json } = await send(gateway.url, 'GET', paths.turnstile_check ?? '');
    expect(json.message).toBe('Turnstile token 为空');
    await gateway.setOption('TurnstileCheckEnabled', 'false');
  });
});

describe('the status over GraphQL', () => {
  /** How the system is, which offers nothing. */
  const facts = [
    ...['displayInCurrency', 'collapseSidebar', 'demoSite', 'selfUse', 'setUp', 'setUpCodeNeeded'],
    ...['version', 'startedAt', 'systemName', 'logo', 'footer', 'notice', 'about', 'homePage', 'serverAddress'],
    ...['docsLink', 'topUpLink', 'price', 'minTopUp', 'quotaPerUnit', 'dashboardInterval', 'chats'],
    ...['oidcAuthorizationEndpoint', 'wechatQrCode'],
  ];
  /** What each leads to; null: nothing there is. */
  const operations: Readonly<Record<string, string | null>> = {
    onlineTopUp: 'mutation { beginTopUp(amount: 10, method: "alipay") { url } }',
    drawing: '{ tasks(filter: { platforms: [MIDJOURNEY] }) { pageInfo { hasNextPage } } }',
    tasks: '{ tasks(filter: { platforms: [SUNO, VIDEO] }) { pageInfo { hasNextPage } } }',
    // Initially off.
    drawingCallback: null,
    dashboard: '{ usageStatistics(from: 0, to: 1) { quota } }',
    passwordLogin: 'mutation { login(username: "nobody", password: "some-password") { user { id } } }',
    registration: 'mutation { register(input: { username: "", password: "" }) }',
    registrationElsewhere: 'mutation { visitProvider(provider: GITHUB) }',
    emailVerification: 'mutation { sendEmailCode(email: "newer@mail.example") }',
    passwordReset: 'mutation { requestPasswordReset(email: "nobody@mail.example") }',
    turnstileSiteKey: 'mutation { login(username: "nobody", password: "some-password") { user { id } } }',
    githubClientId: 'mutation { visitProvider(provider: GITHUB) }',
    oidcClientId: 'mutation { visitProvider(provider: OIDC) }',
    linuxdoClientId: 'mutation { visitProvider(provider: LINUXDO) }',
    wechatLogin: 'mutation { signInByWeChat(code: "") { __typename } }',
    telegramBotName: `mutation {
      signInByTelegram(input: { id: "1", auth_date: "1", hash: "x" }) { __typename }
    }`,
  };
  const asked = Object.keys(operations);
  const client = () => new GraphqlClient(gateway.url);

  test('has no field of unknown meaning', async () => {
    const { __type } = await new GraphqlClient(gateway.url, user.headers).ask(
      '{ __type(name: "Status") { fields { name } } }',
    );
    expect(__type.fields.map(({ name }: Data) => name).sort()).toEqual([...facts, ...asked].sort());
  });

  test('shows as on what exists, and what is shown as on is available', async () => {
    const { status } = await client().ask(`{ status { ${asked.join(' ')} } }`);
    const on = asked.filter((field) => status[field] !== false && status[field] !== null);
    expect(on.sort()).toEqual(
      asked.filter((field) => operations[field] !== null && field !== 'turnstileSiteKey').sort(),
    );
    for (const field of on) {
      const { errors, text } = await client().send(operations[field] ?? '');
      expect(errors[0]?.extensions.code ?? '', `${field}: ${text}`).not.toMatch(
        /closed|configured|provider-off|VALIDATION|internal/,
      );
    }
  });

  test('shows the human check while it is required', async () => {
    await gateway.setOption('TurnstileCheckEnabled', 'true');
    expect(await client().ask('{ status { turnstileSiteKey } }')).toEqual({ status: { turnstileSiteKey: 'site-key' } });
    expect(await client().refusal(operations.turnstileSiteKey ?? '')).toMatchObject({ code: 'human-check-missing' });
    await gateway.setOption('TurnstileCheckEnabled', 'false');
  });
});
