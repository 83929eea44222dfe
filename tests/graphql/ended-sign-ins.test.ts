import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';
import { Feed, GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

/* What ends with a password, an access token, a user's rights or a session: on every face, and what is already open. */

let server: GraphqlServer;
let users = 0;

beforeAll(async () => {
  // So seldom that what must happen at once does not happen by the way.
  server = await startGraphql({}, { recheckMs: 3_600_000 });
});
afterAll(() => server?.stop());

const whoAmI = '{ me { username } }';

/** One way of being signed in, with a subscription that runs. */
interface SignIn {
  readonly client: GraphqlClient;
  /** Whether requests of both faces are taken for the user's. */
  stands(): Promise<{ graphql: boolean; rest: boolean }>;
  /** The close code of the running subscription's connection, once it is closed. */
  closed(): Promise<number>;
  isOpen(): boolean;
}

async function watched(user: TestUser, client: GraphqlClient, authorization?: string): Promise<SignIn> {
  let code: number | null = null;
  const connection = server.connect(client, {
    ...(authorization === undefined ? {} : { authorization: `Bearer ${authorization}` }),
    onClosed: (event) => {
      code = (event as { code: number }).code;
    },
  });
  const feed = new Feed(connection, 'subscription { balance { available } }');
  await feed.take(1);
  return {
    client,
    async stands() {
      const { data } = await client.send(whoAmI);
      const answer = await fetch(`${server.gateway.url}/api/user/self`, {
        headers: {
          'new-api-user': String(user.actor.id),
          ...(authorization === undefined ? { cookie: client.cookie } : { authorization }),
        },
      });
      const { success } = (await answer.json()) as { success: boolean };
      return { graphql: data?.me?.username === user.username, rest: success };
    },
    closed: () => until(async () => code),
    isOpen: () => code === null,
  };
}

interface Everywhere {
  readonly user: TestUser;
  readonly session: SignIn;
  readonly otherSession: SignIn;
  readonly program: SignIn;
}

/** A user signed in by two sessions and an access token. */
async function signedInEverywhere(): Promise<Everywhere> {
  const user = await server.gateway.addUser(1_000, `everywhere${++users}`);
  const { token } = await server.gateway.application.users.issueAccessToken(
    user.actor,
    await server.gateway.proven(user, 'access-token'),
  );
  await until(async () => ((await server.gateway.application.identity.byAccessToken(token)) === null ? null : true));
  const [session, otherSession] = [await server.as(user), await server.as(user)];
  return {
    user,
    session: await watched(user, session),
    otherSession: await watched(user, otherSession),
    program: await watched(user, new GraphqlClient(server.url, { authorization: `Bearer ${token}` }), token),
  };
}

const standing = { graphql: true, rest: true };
const ended = { graphql: false, rest: false };

const manage = (user: TestUser, action: string) =>
  server.root.ask('mutation ($id: ID!, $action: UserAction!) { manageUser(id: $id, action: $action) { id } }', {
    id: String(user.actor.id),
    action,
  });

async function expectEnded(...signIns: readonly SignIn[]): Promise<void> {
  for (const signIn of signIns) {
    await signIn.closed();
    expect(await signIn.stands()).toEqual(ended);
  }
}

describe('a new password', () => {
  const change =
    'mutation ($password: String!, $stepUp: String) { changeOwnProfile(patch: { password: $password }, stepUp: $stepUp) { id } }';

  test('ends all other sessions, the access token and their connections; the current browser keeps its session', async () => {
    const { user, session, otherSession, program } = await signedInEverywhere();
    const former = session.client.cookie;
    await session.client.ask(change, {
      password: 'new-password-1',
      stepUp: await session.client.proven('PASSWORD'),
    });
    await expectEnded(otherSession, program);
    expect(session.client.cookie).not.toBe(former);
    expect(await session.stands()).toEqual(standing);
    // The cookie it had may have been stolen: it is worth nothing. The page may come back with the new one.
    expect(await session.closed()).toBe(4403);
    const stolen = new GraphqlClient(server.url);
    stolen.cookie = former;
    expect((await stolen.send(whoAmI)).data?.me ?? null).toBeNull();
    expect(await (await watched(user, session.client)).stands()).toEqual(standing);
  });

  test('set over the legacy interface does the same', async () => {
    const { user, session, otherSession, program } = await signedInEverywhere();
    const answer = await fetch(`${server.gateway.url}/api/user/self`, {
      method: 'PUT',
      headers: {
        'content-type': 'application/json',
        'new-api-user': String(user.actor.id),
        cookie: session.client.cookie,
      },
      body: JSON.stringify({ password: 'new-password-2', original_password: user.password }),
    });
    expect(await answer.json()).toMatchObject({ success: true });
    const [renewed = ''] = answer.headers.getSetCookie();
    await expectEnded(session, otherSession, program);
    session.client.cookie = renewed.split(';', 1)[0] ?? '';
    expect(await session.stands()).toEqual(standing);
  });

  test('set by a program ends its own token as well, and creates no session for it', async () => {
    const { user, session, otherSession, program } = await signedInEverywhere();
    const { stepUp } = await program.client.ask(
      'mutation ($password: String!) { stepUp(purpose: PASSWORD, password: $password) }',
      { password: user.password },
    );
    const { setCookie } = await program.client.send(change, { password: 'new-password-3', stepUp });
    expect(setCookie).toBeNull();
    await expectEnded(session, otherSession, program);
  });

  test('set by an administrator ends every session', async () => {
    const { user, session, otherSession, program } = await signedInEverywhere();
    await server.root.ask('mutation ($id: ID!) { editUser(id: $id, patch: { password: "set-by-admin" }) { id } }', {
      id: String(user.actor.id),
    });
    await expectEnded(session, otherSession, program);
    expect(await (await watched(user, await server.as({ ...user, password: 'set-by-admin' }))).stands()).toEqual(
      standing,
    );
  });

  test('does not affect other users, and another change of the user ends nothing', async () => {
    const changed = await signedInEverywhere();
    const other = await signedInEverywhere();
    await other.session.client.ask('mutation { changeOwnProfile(patch: { displayName: "Other" }) { id } }');
    await changed.session.client.ask(change, {
      password: 'new-password-4',
      stepUp: await changed.session.client.proven('PASSWORD'),
    });
    await expectEnded(changed.otherSession, changed.program);
    for (const signIn of [other.session, other.otherSession, other.program]) {
      expect(await signIn.stands()).toEqual(standing);
      expect(signIn.isOpen()).toBe(true);
    }
  });
});

describe('a new access token', () => {
  test('ends the former one and its connections, and no session', async () => {
    const { session, program } = await signedInEverywhere();
    await session.client.accessToken();
    await expectEnded(program);
    expect(await session.stands()).toEqual(standing);
    expect(session.isOpen()).toBe(true);
  });
});

describe('a user of several sessions', () => {
  test('that is disabled is signed out everywhere, and none of it is restored afterwards', async () => {
    const { user, session, otherSession, program } = await signedInEverywhere();
    await manage(user, 'DISABLE');
    await expectEnded(session, otherSession, program);
    await manage(user, 'ENABLE');
    await expectEnded(session, otherSession, program);
    expect(await (await watched(user, await server.as(user))).stands()).toEqual(standing);
  });

  test('that is deleted is signed out everywhere', async () => {
    const { user, session, otherSession, program } = await signedInEverywhere();
    await manage(user, 'DELETE');
    await expectEnded(session, otherSession, program);
  });

  test('that is demoted loses connections opened with the former role', async () => {
    const admin = await server.addAdmin(`demoted${++users}`);
    const signIn = await watched(admin, await server.as(admin));
    await manage(admin, 'DEMOTE');
    expect(await signIn.closed()).toBe(4403);
    expect(await signIn.stands()).toEqual(standing);
    expect(await signIn.client.refusal('{ users { total } }')).toMatchObject({ code: 'role-too-low' });
  });
});

describe('signing out', () => {
  test('ends the connections of that session, and nothing else', async () => {
    const { session, otherSession, program } = await signedInEverywhere();
    await session.client.ask('mutation { logout }');
    await expectEnded(session);
    for (const signIn of [otherSession, program]) {
      expect(await signIn.stands()).toEqual(standing);
      expect(signIn.isOpen()).toBe(true);
    }
  });

  test('over the legacy interface does the same', async () => {
    const { session, otherSession } = await signedInEverywhere();
    await fetch(`${server.gateway.url}/api/user/logout`, { headers: { cookie: session.client.cookie } });
    await expectEnded(session);
    expect(await otherSession.stands()).toEqual(standing);
  });
});

describe('a connection during its handshake', () => {
  test('is closed if its session ends', async () => {
    const user = await server.gateway.addUser(0, `racing${++users}`);
    const client = await server.as(user);
    const { identity } = server.gateway.application;
    const { bySession } = identity;
    const token = client.cookie.slice('session='.length);
    let asked = 0;
    // The session was good when it was looked at; right after that it is signed out of.
    Object.assign(identity, {
      async bySession(presented: string) {
        const found = await bySession(presented);
        if (presented === token && asked++ === 0) await identity.logout(token);
        return found;
      },
    });
    const connection = server.connect(client);
    const feed = new Feed(connection, 'subscription { balance { available } }');
    await feed.until(({ ended: over }) => over);
    Object.assign(identity, { bySession });
    expect(feed.results).toEqual([]);
    expect(feed.errors).toMatchObject([{ code: 4401 }]);
  });
});
