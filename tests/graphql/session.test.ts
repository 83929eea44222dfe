import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Feed, GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;
/** Addresses are all the same here: attempts are counted, and refused when a test says so. */
let attempts = 0;
let attemptsAllowed = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  server = await startGraphql({ allowAttempt: () => ++attempts <= attemptsAllowed });
});
afterAll(() => server?.stop());

const login =
  'mutation ($password: String!) { login(username: "root", password: $password) { user { id username role } } }';

describe('signing in', () => {
  test('returns the user and a cookie that scripts cannot read', async () => {
    const client = server.anonymous();
    const { data, setCookie } = await client.send(login, { password: server.gateway.rootPassword });
    expect(data?.login).toEqual({ user: { id: String(server.gateway.root.id), username: 'root', role: 'ROOT' } });
    expect(setCookie).toMatch(/^session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(await client.ask('{ me { username } }')).toEqual({ me: { username: 'root' } });
  });
  test('has one answer for a wrong password and an unknown name', async () => {
    const client = server.anonymous();
    const unknown = 'mutation { login(username: "nobody", password: "some-password") { user { id } } }';
    for (const refused of [await client.refusal(login, { password: 'a-wrong-one' }), await client.refusal(unknown)])
      expect(refused).toEqual({ code: 'wrong-credentials', kind: 'unauthenticated', details: {} });
    expect(client.cookie).toBe('');
  });
  test('closes the previous session of the browser', async () => {
    const client = await server.anonymous().signIn('root', server.gateway.rootPassword);
    const former = server.anonymous();
    former.cookie = client.cookie;
    await client.signIn('root', server.gateway.rootPassword);
    expect(await former.ask('{ me { id } }')).toEqual({ me: null });
  });
  test('lets the same operation read the user’s own fields', async () => {
    const own = `mutation ($password: String!) {
      login(username: "root", password: $password) { user { settings { notifyType quotaWarningThreshold hasWebhookSecret } } }
    }`;
    expect((await server.anonymous().ask(own, { password: server.gateway.rootPassword })).login.user.settings).toEqual({
      notifyType: 'EMAIL',
      quotaWarningThreshold: null,
      hasWebhookSecret: false,
    });
  });
  test('is refused with 429 once an address has exceeded its rate limit', async () => {
    attemptsAllowed = attempts;
    const { status, errors } = await server.anonymous().send(login, { password: server.gateway.rootPassword });
    attemptsAllowed = Number.POSITIVE_INFINITY;
    expect(status).toBe(429);
    expect(errors[0]?.extensions).toMatchObject({ code: 'too-many-attempts', kind: 'exhausted' });
  });
  test('counts every guess, and an operation cannot contain many', async () => {
    const before = attempts;
    const guess = (name: string) => `${name}: login(username: "root", password: "wrong-password") { user { id } }`;
    await server.anonymous().send(`mutation { ${guess('a')} }`);
    await server.anonymous().send(`mutation { ${guess('b')} }`);
    expect(attempts - before).toBe(2);
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map(guess).join(' ');
    expect(await server.anonymous().refusal(`mutation { ${many} }`)).toMatchObject({ code: 'too-costly' });
    expect(attempts - before).toBe(2);
  });
});

describe('signing out', () => {
  test('ends the session and clears the cookie', async () => {
    const client = await server.anonymous().signIn('root', server.gateway.rootPassword);
    const copy = server.anonymous();
    copy.cookie = client.cookie;
    const { data, setCookie } = await client.send('mutation { logout }');
    expect(data).toEqual({ logout: true });
    expect(setCookie).toBe('session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict');
    expect(await copy.ask('{ me { id } }')).toEqual({ me: null });
  });
  test('reports that there was no session', async () => {
    expect(await server.anonymous().ask('mutation { logout }')).toEqual({ logout: false });
  });
});

describe('a personal access token', () => {
  const bearer = (token: string) => server.anonymous({ authorization: `Bearer ${token}` });

  test('authenticates its user, and requires neither cookie nor header', async () => {
    const user = await server.as(await server.gateway.addUser(0, 'tokenuser'));
    const program = bearer(await user.accessToken());
    expect(await program.ask('{ me { username } }')).toEqual({ me: { username: 'tokenuser' } });
    expect(await program.ask('mutation { changeOwnProfile(patch: { displayName: "Robot" }) { displayName } }')).toEqual(
      {
        changeOwnProfile: { displayName: 'Robot' },
      },
    );
  });
  test('stops working when the next one is issued', async () => {
    const user = await server.as(await server.gateway.addUser(0, 'twotokens'));
    const first = await user.accessToken();
    await user.accessToken();
    expect(await bearer(first).refusal('{ balance { available } }')).toMatchObject({
      code: 'access-token-unknown',
    });
  });
  test('that is unknown is distinguished from a missing token', async () => {
    expect(await bearer('bm9ib2R5').refusal('{ balance { available } }')).toMatchObject({
      code: 'access-token-unknown',
      kind: 'unauthenticated',
    });
    expect(await server.anonymous().refusal('{ balance { available } }')).toMatchObject({ code: 'not-signed-in' });
  });
  test('of a disabled user is refused as such', async () => {
    const user = await server.gateway.addUser(0, 'disabledone');
    const token = await (await server.as(user)).accessToken();
    const manage = 'mutation ($id: ID!) { manageUser(id: $id, action: DISABLE) { status } }';
    await server.root.ask(manage, { id: user.actor.id });
    const program = bearer(token);
    for (const query of ['{ balance { available } }', '{ me { id } }'])
      expect(await program.refusal(query)).toEqual({ code: 'user-disabled', kind: 'forbidden', details: {} });
  });
});

describe('a page of another site', () => {
  const mutation = 'mutation { issueAccessToken { token } }';

  test('cannot use the cookie for a mutation, lacking our header', async () => {
    const forged = server.anonymous({});
    forged.cookie = server.root.cookie;
    const { status, errors } = await forged.send(mutation);
    expect(status).toBe(403);
    expect(errors[0]?.extensions).toEqual({
      code: 'client-header-missing',
      kind: 'forbidden',
      details: { header: 'x-tallygate-client' },
    });
  });
  test('cannot sign its visitor in as another user', async () => {
    const forged = server.anonymous({});
    expect(await forged.refusal(login, { password: server.gateway.rootPassword })).toMatchObject({
      code: 'client-header-missing',
    });
  });
  test('cannot send what a form can send, not even a query', async () => {
    const forged = server.anonymous({});
    forged.cookie = server.root.cookie;
    const asForm = { headers: { 'content-type': 'text/plain' } };
    expect((await forged.send('{ me { id } }', {}, asForm)).status).toBe(400);
    const response = await fetch(`${server.url}/graphql?query={me{id}}`, { headers: { cookie: server.root.cookie } });
    expect(response.status).toBe(400);
  });
  test('cannot trigger a mutation by a link', async () => {
    const query = encodeURIComponent(mutation);
    const response = await fetch(`${server.url}/graphql?query=${query}`, {
      headers: { cookie: server.root.cookie, 'x-tallygate-client': 'test' },
    });
    expect(response.status).toBe(405);
  });
});

describe('on the port of the gateway', () => {
  test('one session serves every face, and subscriptions too', async () => {
    const { url, rootPassword, root } = server.gateway;
    const response = await fetch(`${url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'root', password: rootPassword }),
    });
    const client = new GraphqlClient(url);
    client.cookie = response.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    expect(await client.ask('{ me { username } }')).toEqual({ me: { username: 'root' } });

    const feed = new Feed(server.connect(client, { url }), 'subscription { balance { userId } }');
    expect(await feed.take(1)).toEqual([{ balance: { userId: String(root.id) } }]);
    feed.stop();

    await client.ask('mutation { logout }');
    const self = await fetch(`${url}/api/user/self`, {
      headers: { cookie: client.cookie, 'new-api-user': String(root.id) },
    });
    expect(self.status).toBe(401);
  });
});

test('a refused request is not logged', () => {
  expect(server.logged).toEqual([]);
});
