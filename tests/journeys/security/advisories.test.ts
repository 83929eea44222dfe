import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { epaySignature } from '../../../src/payments/epay.js';
import { type Callers, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/*
 * What has been published against gateways of this kind, tried on this one: one test for each advisory that applies to
 * what is built. What is not built yet answers 404, and the last table says with which feature its test is due.
 */

let gateway: TestGateway;
let callers: Callers;
let alice: TestUser;
let apiKey: string;
let session: Readonly<Record<string, string>>;

interface Envelope {
  readonly success: boolean;
  readonly message: string;
  readonly data: unknown;
}

const ask = async (
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body?: unknown } = {},
) => {
  const answer = await fetch(gateway.url + path, {
    method,
    redirect: 'manual',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Partial<Envelope>;
  return { status: answer.status, headers: answer.headers, text, json };
};

const login = (username: string, password: string, headers: Readonly<Record<string, string>> = {}) =>
  ask('POST', '/api/user/login', { headers, body: { username, password } });

const sessionIn = ({ headers }: { headers: Headers }): string => headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';

async function signIn(username: string, password: string): Promise<Readonly<Record<string, string>>> {
  const answer = await login(username, password);
  const { id } = answer.json.data as { id: number };
  return { cookie: sessionIn(answer), 'new-api-user': String(id) };
}

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.addChannel();
  alice = await gateway.addUser(10_000_000, 'alice');
  apiKey = await gateway.addApiKey(alice);
  session = await signIn('root', gateway.rootPassword);
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});

/** A server nobody may be led to; counts who came. */
async function trap(): Promise<Upstream & { readonly visits: () => number }> {
  let visits = 0;
  const server = await startUpstream((_call, response) => {
    visits++;
    response.end('{}');
  });
  return { ...server, visits: () => visits };
}

describe('a hijack by the preset password (one-api #516, #1804)', () => {
  test('is impossible: no default account exists, and the usual password is refused', async () => {
    for (const username of ['root', 'admin'])
      expect((await login(username, '123456')).json).toMatchObject({ success: false });
  });
});

describe('SQL in the credential (LiteLLM, CVE-2026-42208)', () => {
  test.each(["sk-' OR '1'='1", "sk-x'; DROP TABLE events; --", `sk-${"'".repeat(48)}`, 'sk-\\x27%00'])(
    'such as %s is an unknown key and nothing else',
    async (key) => {
      expect(await callers.with(key).chat({})).toMatchObject({ status: 401 });
      expect(await callers.with(apiKey).chat({ model: 'gpt-4o-mini' })).toMatchObject({ status: 200 });
    },
  );
});

describe('administration without a sign-in (LiteLLM, CVE-2026-12773)', () => {
  /** What the contract has for everybody; the last three ask for an API key instead. */
  const open = [
    ...['setup', 'status', 'notice', 'about', 'home_page_content', 'pricing', 'user/groups', 'user/login'],
    ...['user/register', 'verification', 'reset_password', 'user/reset'],
    // Who calls these shows a signature; without one it is refused below.
    ...['user/epay/notify', 'user/stripe/webhook'],
    ...['user/login/2fa', 'user/logout', 'log/token', 'user/self/groups'],
    ...['state', 'github', 'oidc', 'linuxdo', 'wechat', 'telegram/login'].map((provider) => `oauth/${provider}`),
  ].map((path) => `/api/${path}`);

  test('is refused: every path of the interface except the public ones authenticates', async () => {
    const guarded = gatewayRoutes().filter(({ url }) => !open.includes(url.replace(/\/$/, '')));
    expect(guarded.length).toBeGreaterThan(50);
    const body = { id: 1, username: 'x', password: 'correct-horse' };
    for (const { method, url } of guarded) {
      const path = url.replace(':id', '1');
      const { status } = await ask(method, path, method === 'GET' ? {} : { body });
      // What is not served yet is found by nobody, signed in or not.
      expect(`${method} ${path} ${status}`).toMatch(/ (401|404)$/);
    }
  });

  const gatewayRoutes = (): readonly { method: string; url: string }[] =>
    gateway.routes.filter(
      ({ method, url }) => url.startsWith('/api/') && !url.includes('*') && /^(GET|POST|PUT|DELETE)$/.test(method),
    );
});

describe('a list with secrets of others (new-api, GHSA-6x2c-phff-wx57)', () => {
  test('is impossible: no list contains an access token or a password', async () => {
    const { token } = await gateway.application.users.issueAccessToken(
      alice.actor,
      await gateway.proven(alice, 'access-token'),
    );
    for (const path of ['/api/user/?page_size=100', '/api/user/search?keyword=alice', `/api/user/${alice.actor.id}`]) {
      const { text } = await ask('GET', path, { headers: session });
      expect(text).toContain('"access_token":null');
      expect(text).toContain('"password":""');
      expect(text).not.toContain(token);
    }
  });
});

describe('wildcards in a search (new-api, CVE-2026-25591)', () => {
  test('find only the user’s own data, and too many of them are refused', async () => {
    const own = await signIn('alice', alice.password);
    const bob = await gateway.addUser(1_000_000, 'bob');
    await gateway.addApiKey(bob);
    const search = async (keyword: string) =>
      (await ask('GET', `/api/token/search?keyword=${encodeURIComponent(keyword)}`, { headers: own })).json;
    for (const text of ['%', '_', '_%_%_%_%_%', '%'.repeat(24)])
      expect((await search(text)).data).toEqual([expect.objectContaining({ user_id: alice.actor.id })]);
    const costly = await ask('GET', `/api/user/search?keyword=${encodeURIComponent('%a'.repeat(6))}`, {
      headers: session,
    });
    expect(costly.json).toMatchObject({ success: false, message: expect.stringContaining('5 wildcards') });
  });
});

describe('an upstream chosen by the caller (LiteLLM, CVE-2024-6587; custom hosts of Portkey)', () => {
  test('is impossible: neither body nor headers nor query change the address of a call', async () => {
    const elsewhere = await trap();
    const answer = await callers
      .with(apiKey)
      .send(`/v1/chat/completions?api_base=${encodeURIComponent(elsewhere.url)}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-portkey-custom-host': elsewhere.url,
          'x-forwarded-host': new URL(elsewhere.url).host,
          'x-base-url': elsewhere.url,
        },
        body: {
          model: 'gpt-4o-mini',
          messages: [{ role: 'user', content: 'Hello.' }],
          api_base: elsewhere.url,
          base_url: elsewhere.url,
        },
      });
    expect(answer.status).toBe(200);
    expect(elsewhere.visits()).toBe(0);
    await elsewhere.stop();
  });
});

describe('a request by the gateway for a caller (new-api, CVE-2025-59146, CVE-2025-62155, CVE-2026-42339)', () => {
  test('is not sent for an image by its address', async () => {
    const inside = await trap();
    const answer = await callers.with(apiKey).chat({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `${inside.url}/image.png` } }] }],
    });
    expect(answer.status).toBe(200);
    expect(inside.visits()).toBe(0);
    await inside.stop();
  });

  test('for a list of models follows no redirect of an upstream, nor does its key', async () => {
    const inside = await trap();
    const leading = await startUpstream((_call, response) =>
      response.writeHead(302, { location: `${inside.url}/v1/models` }).end(),
    );
    const body = { type: 1, base_url: leading.url, key: 'sk-typed' };
    const { status, json } = await ask('POST', '/api/channel/fetch_models', { headers: session, body });
    expect([status, json.message]).toEqual([500, 'status code: 302']);
    expect(inside.visits()).toBe(0);
    await leading.stop();
    await inside.stop();
  });
});

describe('answers and files of others by their ids (LiteLLM, PR 39559)', () => {
  const asked = { model: 'gpt-4o-mini', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
  const contents = [{ parts: [{ text: 'x' }] }];
  const gemini = '/v1beta/models/gpt-4o-mini';
  test.each([
    ['/v1/chat/completions', { ...asked, previous_response_id: 'resp_1' }, 'previous_response_id'],
    ['/v1/completions', { model: 'gpt-4o-mini', prompt: 'x', thread_id: 'thread_1' }, 'thread_id'],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'x', file_ids: ['file-1'] }, 'file_ids'],
    ['/v1/audio/speech', { model: 'gpt-4o-mini', input: 'x', conversation: 'conv_1' }, 'conversation'],
    [`${gemini}:generateContent`, { contents, cachedContent: 'cachedContents/1' }, 'cachedContent'],
    [`${gemini}:streamGenerateContent`, { contents, cached_content: 'cachedContents/1' }, 'cachedContent'],
    [`${gemini}:countTokens`, { generateContentRequest: { contents, cachedContent: 'c' } }, 'cachedContent'],
    [`${gemini}:predict`, { instances: [{ prompt: 'x', image: { gcsUri: 'gs://b/f' } }] }, 'gcsUri'],
  ])('are refused by name as %s, and no upstream is called', async (path, body, name) => {
    const before = gateway.provider.tally().requests.length;
    const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
    const answer = await callers.with(apiKey).send(path, { method: 'POST', headers, body });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(name);
    expect(answer.text).toContain('cannot be used through the gateway');
    expect(gateway.provider.tally().requests).toHaveLength(before);
  });
});

describe('containers of others by their ids (LiteLLM, PR 39559)', () => {
  const asked = { model: 'gpt-4o-mini', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
  test.each([
    ['/v1/messages', 'container_1'],
    ['/v1/messages', { id: 'container_011CPR5CNjB747bTd36fQLFk', skills: [{ type: 'anthropic', skill_id: 'pdf' }] }],
    ['/v1/messages/count_tokens', 'container_1'],
    ['/v1/chat/completions', 'container_011CPR5CNjB747bTd36fQLFk'],
  ])('are not found at %s, and no upstream is called', async (path, container) => {
    const before = gateway.provider.tally().requests.length;
    const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
    const body = { ...asked, container };
    const answer = await callers.with(apiKey).send(path, { method: 'POST', headers, body });
    expect(answer.status).toBe(404);
    expect(answer.text).toMatch(/Container with id 'container_\w+' not found/);
    expect(gateway.provider.tally().requests).toHaveLength(before);
  });
});

describe('script in the output of a model (new-api, GHSA-299v-8pq9-5gjq)', () => {
  test('is sent as JSON that no browser treats as a page', async () => {
    gateway.provider.script('gpt-4o-mini', { text: '<script>alert(1)</script>' });
    const { headers, text } = await callers.with(apiKey).chat({ model: 'gpt-4o-mini' });
    expect(text).toContain('<script>');
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    gateway.provider.reset();
  });
});

describe('script in the texts of an operator (one-api, CVE-2025-3801)', () => {
  test('cannot run on the console: its policy allows no inline script, no eval, no other origin', async () => {
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    for (const key of ['HomePageContent', 'Notice', 'About', 'Footer']) await gateway.setOption(key, hostile);
    const { headers } = await ask('GET', '/');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).toMatch(/object-src 'none'|default-src 'none'/);
    for (const path of ['/api/status', '/api/notice', '/api/home_page_content', '/api/about'])
      expect((await ask('GET', path)).headers.get('content-type')).toMatch(/^application\/json/);
  });
});

describe('a state change by GET (new-api, GHSA-26v7-h57m-gh9m)', () => {
  test('needs more than the session of a user: the header with the own id is required', async () => {
    const { cookie = '' } = session;
    const changing = gateway.routes.filter(({ url }) => /^\/api\/(user\/token|channel\/test\/:id)$/.test(url));
    // HEAD changes nothing, whoever asks.
    for (const { method, url } of changing.filter((route) => route.method !== 'HEAD'))
      expect((await ask(method, url.replace(':id', '1'), { headers: { cookie } })).status).toBe(401);
  });
});

describe('a session fixed before the sign-in', () => {
  test('never becomes a signed-in one', async () => {
    const planted = 'session=0123456789abcdef0123456789abcdef0123456789ab';
    const answer = await login('alice', alice.password, { cookie: planted });
    expect(answer.json.success).toBe(true);
    expect(sessionIn(answer)).not.toBe(planted);
    const headers = { cookie: planted, 'new-api-user': String(alice.actor.id) };
    expect((await ask('GET', '/api/user/self', { headers })).status).toBe(401);
  });
});

describe('API keys in the log (AIClient2API #704)', () => {
  test('are absent, whether refused or accepted', async () => {
    const wrong = `sk-${'Q'.repeat(48)}`;
    await callers.with(wrong).chat({});
    await callers.with(apiKey).chat({ model: 'gpt-4o-mini' });
    const log = gateway.logged.join('\n');
    expect(log).not.toContain(wrong.slice(3));
    expect(log).not.toContain(apiKey.slice(3));
    expect(log).not.toContain('sk-upstream-key');
  });
});

describe('a poisoned package (LiteLLM 1.82.7)', () => {
  test('is impossible: every package is pinned by the hash of its content', () => {
    const lock = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
      packages: Record<string, { integrity?: string; link?: boolean; inBundle?: boolean }>;
    };
    const unpinned = Object.entries(lock.packages).filter(
      ([path, { integrity, link, inBundle }]) => path !== '' && !link && !inBundle && integrity === undefined,
    );
    expect(unpinned.map(([path]) => path)).toEqual([]);
  });
});

describe('linking by GET (GHSA-26v7-h57m-gh9m)', () => {
  const paths = [
    ['/api/oauth/email/bind?email=eve@mail.example&code=a1b2c3', expect.stringContaining('请先完成安全验证')],
    ['/api/oauth/wechat/bind?code=a1b2c3', '管理员未开启通过微信登录以及注册'],
    ['/api/oauth/telegram/bind?id=666&auth_date=1&hash=a1b2c3', '管理员未开启通过 Telegram 登录以及注册'],
  ] as const;
  test.each(paths)(
    'is refused to a page that has the cookie only, and to a page of another site: %s',
    async (path, answered) => {
      const { cookie = '' } = session;
      expect((await ask('GET', path, { headers: { cookie } })).status).toBe(401);
      const foreignPages: Record<string, string>[] = [
        { 'sec-fetch-site': 'cross-site' },
        { origin: 'https://evil.example' },
      ];
      for (const foreign of foreignPages)
        expect((await ask('GET', path, { headers: { ...session, ...foreign } })).status).toBe(403);
      expect((await ask('GET', path, { headers: session })).json).toMatchObject({ message: answered });
    },
  );
  test.each(['github', 'oidc', 'linuxdo'])('from %s requires a state of this browser', async (provider) => {
    const path = `/api/oauth/${provider}?code=stolen&state=ofAnother123`;
    expect((await ask('GET', path, { headers: session })).status).toBe(403);
  });
});

describe('webhooks to internal names (GHSA-6qcr-qxgr-m7fv)', () => {
  test('are refused before any connection', async () => {
    const internal = await trap();
    const webhook = {
      notify_type: 'webhook',
      webhook_url: internal.url.replace('http:', 'https:'),
      webhook_secret: '',
    };
    const setting = { ...webhook, quota_warning_threshold: 5, accept_unset_model_ratio_model: false };
    const { json } = await ask('PUT', '/api/user/setting', { headers: session, body: setting });
    expect(json).toMatchObject({ success: false });
    expect(internal.visits()).toBe(0);
    await internal.stop();
  });
});

describe('step-up authentication without an assertion (GHSA-5353-f8fq-65vc)', () => {
  test('is refused, whether the assertion is invented or empty', async () => {
    const stepper = await gateway.addUser(0, 'stepper');
    const headers = await signIn('stepper', stepper.password);
    const operation = async (query: string) =>
      (await ask('POST', '/graphql', { headers: { ...headers, 'x-tallygate-client': 'test' }, body: { query } })).text;
    const proof = `mutation { stepUp(purpose: SECOND_FACTOR, password: "${stepper.password}") }`;
    const proven = /"stepUp":"([\w-]+)"/.exec(await operation(proof))?.[1] ?? '';
    const begun = await operation(`mutation { beginTotp(stepUp: "${proven}") { secret } }`);
    const secret = /"secret":"(\w+)"/.exec(begun)?.[1] ?? '';
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expect(await operation(`mutation { enrolTotp(code: "${code}") }`)).toContain('"enrolTotp":["');

    for (const empty of [{ purpose: 'access-token' }, { purpose: 'access-token', code: '' }])
      expect((await ask('POST', '/api/user/step_up', { headers, body: empty })).json).toMatchObject({ success: false });
    for (const guess of [undefined, '', 'true', 'access-token'])
      expect(
        (
          await ask('GET', '/api/user/token', {
            headers: guess === undefined ? headers : { ...headers, 'x-step-up': guess },
          })
        ).json,
      ).toMatchObject({ success: false });
  });
});

describe('a code redeemed twice (CVE-2026-11465)', () => {
  test('credits once, with any number of concurrent requests on any face', async () => {
    const issued = await ask('POST', '/api/redemption/', {
      ...{ headers: session, body: { name: 'twice', quota: 700, count: 1 } },
    });
    const [key] = issued.json.data as string[];
    const users = [alice, await gateway.addUser(0, 'racer')];
    const before = await Promise.all(users.map((user) => gateway.available(user)));
    const sessions = await Promise.all(users.map(({ username, password }) => signIn(username, password)));
    const query = 'mutation ($code: String!) { redeem(code: $code) }';
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const headers = { ...sessions[index % 2], 'x-tallygate-client': 'test' };
        if (index % 4 < 2) return (await ask('POST', '/api/user/topup', { headers, body: { key } })).text;
        return (await ask('POST', '/graphql', { headers, body: { query, variables: { code: key } } })).text;
      }),
    );
    expect(answers.filter((text) => text.includes('"data":700') || text.includes('"redeem":700'))).toHaveLength(1);
    const after = await Promise.all(users.map((user) => gateway.available(user)));
    expect(after.reduce((sum, balance) => sum + balance, 0)).toBe(before.reduce((sum, balance) => sum + balance, 700));
  });
});

describe('a forged payment webhook (CVE-2026-41432)', () => {
  const order = 'USR1NOabcdef1234567890';

  test('signed with the empty key of a missing configuration is refused', async () => {
    const members: [string, string][] = [
      ['money', '1.00'],
      ['out_trade_no', order],
      ['pid', ''],
      ['trade_no', '1'],
      ['trade_status', 'TRADE_SUCCESS'],
      ['type', 'alipay'],
    ];
    const notice = new URLSearchParams([...members, ['sign', epaySignature(members, '')], ['sign_type', 'MD5']]);
    expect((await ask('GET', `/api/user/epay/notify?${notice}`)).text).toBe('fail');

    const paid = { id: 'evt_1', type: 'checkout.session.completed', data: { object: { client_reference_id: order } } };
    const body = JSON.stringify(paid);
    const at = Math.floor(Date.now() / 1000);
    const v1 = createHmac('sha256', '').update(`${at}.${body}`).digest('hex');
    const { status } = await fetch(`${gateway.url}/api/user/stripe/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${v1}` },
      body,
    });
    expect(status).toBe(400);
  });
});

describe('a feature that does not exist yet is closed, and its test is due with it', () => {
  test.each([
    ['commands in test routes (CVE-2026-42271)', 'tools; none are planned', 'POST', '/mcp-rest/test/tools/list'],
  ])('for %s, with %s', async (_advisory, _feature, method, path) => {
    const { status } = await ask(method, path, { headers: session, body: method === 'GET' ? undefined : {} });
    expect(status).toBe(404);
  });
});
