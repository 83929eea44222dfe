import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/*
 * Whoever has shown a credential is remembered by all of it. CVE-2026-35030 was a cache of identities that was asked by
 * the beginning of a token: another one that began alike was taken for it.
 */

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.addChannel();
});
afterAll(() => gateway?.stop());

/** Each is another credential that differs in one character. */
const neighbours = (secret: string): string[] =>
  Array.from(secret, (letter, at) => secret.slice(0, at) + (letter === 'a' ? 'b' : 'a') + secret.slice(at + 1));

/** The credential's beginning or end is there, and more or less of the rest. */
const pieces = (secret: string): string[] => [
  ...[8, 16, 20, 32].flatMap((length) => [secret.slice(0, length), secret.slice(-length)]),
  ...[secret.slice(0, -1), secret.slice(1), `${secret}a`, `a${secret}`],
];

type Shown = (secret: string) => Promise<boolean>;

/** While the right one is remembered, nothing near it is taken, and it goes on being taken. */
async function countsWhole(secret: string, isTaken: Shown): Promise<void> {
  expect(await isTaken(secret)).toBe(true);
  const others = [...neighbours(secret), ...pieces(secret)].filter((one) => one !== secret);
  expect(others.length).toBeGreaterThan(secret.length);
  for (const other of others) expect([other, await isTaken(other)]).toEqual([other, false]);
  expect(await isTaken(secret)).toBe(true);
}

const asked = async (path: string, headers: Record<string, string>): Promise<boolean> => {
  const answer = await fetch(gateway.url + path, { headers });
  const text = await answer.text();
  return answer.status === 200 && !text.includes('"success":false');
};

describe('every character of a credential counts', () => {
  test('for an API key', async () => {
    const key = (await gateway.addApiKey(await gateway.addUser(1_000_000))).slice('sk-'.length);
    // Wrong keys from one place are refused after a while, whatever they are: each is shown from another.
    let offset = 0;
    await countsWhole(key, (shown) =>
      asked('/v1/models', { authorization: `Bearer sk-${shown}`, 'x-forwarded-for': `203.0.113.${++offset}` }),
    );
  });

  test('for an access token', async () => {
    const user = await gateway.addUser(0);
    const { token, position } = await gateway.application.users.issueAccessToken(
      user.actor,
      await gateway.proven(user, 'access-token'),
    );
    await gateway.application.visible(position);
    const own = { 'new-api-user': String(user.actor.id) };
    await countsWhole(token, (shown) => asked('/api/user/self', { ...own, authorization: `Bearer ${shown}` }));
  });

  test('for a session, by both faces', async () => {
    const { username, password, actor } = await gateway.addUser(0);
    const entered = await fetch(`${gateway.url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const session = /session=([\w-]+)/.exec(entered.headers.getSetCookie().join())?.[1] ?? '';
    expect(session.length).toBeGreaterThan(40);
    await countsWhole(session, (shown) =>
      asked('/api/user/self', { cookie: `session=${shown}`, 'new-api-user': String(actor.id) }),
    );
    await countsWhole(session, async (shown) => {
      const answer = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tallygate-client': 'test', cookie: `session=${shown}` },
        body: JSON.stringify({ query: '{ me { username } }' }),
      });
      return (await answer.text()).includes(username);
    });
  });
});
