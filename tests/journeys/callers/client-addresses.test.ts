import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';

/* What is compared, counted and shown of a client is its address, however a proxy writes it. */

const client = '203.0.113.7';
let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  gateway = await startTestGateway({
    TRUSTED_PROXIES: '127.0.0.1',
    CRITICAL_RATE_LIMIT_ENABLE: 'true',
    CRITICAL_RATE_LIMIT: '4',
  });
  await gateway.addChannel();
  user = await gateway.addUser(1_000_000);
});
afterAll(() => gateway?.stop());

const from = (forwarded: string) => ({ 'content-type': 'application/json', 'x-forwarded-for': forwarded });

const call = async (key: string, forwarded: string): Promise<number> => {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...from(forwarded), authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.arrayBuffer();
  return answer.status;
};

const signIn = (forwarded: string, password: string) =>
  fetch(`${gateway.url}/api/user/login`, {
    method: 'POST',
    headers: from(forwarded),
    body: JSON.stringify({ username: user.username, password }),
  });

describe('a client behind a proxy that writes ports', () => {
  test('is admitted by an allow list with its address, and others are refused', async () => {
    const key = await gateway.addApiKey(user, { allowIps: [client, '2001:db8::/32'] });
    for (const forwarded of [`${client}:51234`, '[2001:db8::7]:51234', `::ffff:${client}`, `${client}:1, 127.0.0.1:80`])
      expect([forwarded, await call(key, forwarded)]).toEqual([forwarded, 200]);
    for (const forwarded of [
      '198.51.100.9:51234',
      '[2001:db9::7]:1',
      `${client}, 198.51.100.9:1`,
      `${client}, unknown`,
    ])
      expect([forwarded, await call(key, forwarded)]).toEqual([forwarded, 403]);
  });

  test('is one client, with any ports: the fifth of five sign-ins is refused', async () => {
    const statuses: number[] = [];
    for (let port = 1; port <= 8; port++) statuses.push((await signIn(`${client}:${port}`, 'wrong')).status);
    expect(statuses.slice(4)).toEqual([429, 429, 429, 429]);
    expect(statuses.slice(0, 4)).not.toContain(429);
    // In its other spellings as well, over both faces.
    for (const forwarded of [client, `::ffff:${client}`, `"${client}:9"`])
      expect((await signIn(forwarded, 'wrong')).status).toBe(429);
    const login = `mutation { login(username: "${user.username}", password: "wrong") { user { id } } }`;
    const answer = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { ...from(`[::ffff:${client}]:77`), 'x-tallygate-client': 'test' },
      body: JSON.stringify({ query: login }),
    });
    expect(JSON.stringify(await answer.json())).toContain('too-many-attempts');
  });

  test('is listed by its address among the sessions of its user', async () => {
    const answer = await signIn('198.51.100.77:40001', user.password);
    const cookie =
      answer.headers
        .getSetCookie()
        .find((line) => line.startsWith('session='))
        ?.split(';', 1)[0] ?? '';
    const asked = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { ...from('198.51.100.77:40002'), cookie, 'x-tallygate-client': 'test' },
      body: JSON.stringify({ query: '{ security { sessions { place } } }' }),
    });
    const { data } = (await asked.json()) as { data: { security: { sessions: { place: string }[] } } };
    expect(new Set(data.security.sessions.map(({ place }) => place))).toEqual(new Set(['198.51.100.77']));
  });

  test('is missed in a log line when the proxy sends a request without naming it', async () => {
    await fetch(`${gateway.url}/v1/models`);
    const warned = gateway.logged.filter((line) => line.includes('TRUSTED_PROXIES'));
    expect(warned).toHaveLength(1);
    expect(JSON.parse(warned[0] ?? '')).toMatchObject({ proxy: '127.0.0.1', doubt: 'no-address', level: 40 });
  });
});

describe('a warning about a trusted proxy that forwards a client’s own header', () => {
  const asked = '{ doubtedProxies { proxy doubt seenAt } }';

  test('is shown to root only', async () => {
    const before = Math.floor(Date.now() / 60_000) * 60;
    await (await fetch(`${gateway.url}/v1/models`)).arrayBuffer();
    const root = await new GraphqlClient(gateway.url).signIn('root', gateway.rootPassword);
    const { doubtedProxies } = await root.ask(asked);
    expect(doubtedProxies).toEqual([
      { proxy: '127.0.0.1', doubt: expect.stringMatching(/^NO_(HEADER|ADDRESS)$/), seenAt: expect.any(Number) },
    ]);
    expect(doubtedProxies[0].seenAt).toBeGreaterThanOrEqual(before - 60);
    const admin = await gateway.addUser(0, 'beside');
    await gateway.application.visible(await gateway.application.users.manage(gateway.root, admin.actor.id, 'promote'));
    const client = await new GraphqlClient(gateway.url).signIn('beside', admin.password);
    expect(await client.refusal(asked)).toMatchObject({ kind: 'forbidden' });
  });
});
