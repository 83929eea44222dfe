import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Authenticator } from '../support/gateway/authenticator.js';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { type Data, GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;

beforeAll(async () => {
  server = await startGraphql();
});
afterAll(() => server?.stop());

/** A browser whose page is the gateway's own. */
const browser = () => new GraphqlClient(server.url, { 'x-tallygate-client': 'test', origin: server.url });

const login = `mutation ($username: String!, $password: String!) {
  login(username: $username, password: $password) { user { username } secondFactor }
}`;
const finish = `mutation ($method: SecondFactorMethod!, $value: String!) {
  finishLogin(proof: { method: $method, value: $value }) { user { username } secondFactor }
}`;
const stepUp = `mutation ($purpose: StepUpPurpose!, $method: SecondFactorMethod!, $value: String!) {
  stepUp(purpose: $purpose, proof: { method: $method, value: $value })
}`;

interface Enrolled {
  readonly user: TestUser;
  readonly client: GraphqlClient;
  readonly recoveryCodes: string[];
}

async function enrolled(username: string): Promise<Enrolled> {
  const user = await server.gateway.addUser(0, username);
  const client = await browser().signIn(username, user.password);
  const begin = 'mutation ($stepUp: String) { beginTotp(stepUp: $stepUp) { secret address } }';
  const { beginTotp } = await client.ask(begin, { stepUp: await client.proven('SECOND_FACTOR') });
  expect(beginTotp.address).toContain(`secret=${beginTotp.secret}`);
  const code = new TOTP({ secret: Secret.fromBase32(beginTotp.secret) }).generate();
  const { enrolTotp } = await client.ask('mutation ($code: String!) { enrolTotp(code: $code) }', { code });
  return { user, client, recoveryCodes: enrolTotp };
}

const recovery = (codes: string[]) => ({ method: 'RECOVERY_CODE', value: codes.pop() });

describe('a second factor', () => {
  test('is required after the password, with a cookie that scripts cannot read, and completes the sign-in', async () => {
    const { user, recoveryCodes } = await enrolled('twosteps');
    const client = browser();
    const asked = await client.send(login, { username: 'twosteps', password: user.password });
    expect(asked.data?.login).toEqual({ user: null, secondFactor: ['TOTP', 'RECOVERY_CODE'] });
    expect(asked.setCookie).toMatch(/^half-sign-in=[\w-]{43}; Max-Age=300; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(await client.ask('{ me { id } }')).toEqual({ me: null });
    expect(await client.refusal(finish, { method: 'TOTP', value: '12345' })).toMatchObject({
      code: 'second-factor-wrong',
    });
    const given = await client.ask(finish, recovery(recoveryCodes));
    expect(given.finishLogin).toEqual({ user: { username: 'twosteps' }, secondFactor: [] });
    expect(await client.ask('{ me { username } security { secondFactor recoveryCodes } }')).toEqual({
      me: { username: 'twosteps' },
      security: { secondFactor: true, recoveryCodes: 9 },
    });
  });

  test('is not requested without a pending sign-in', async () => {
    expect(await browser().refusal(finish, { method: 'TOTP', value: '123456' })).toMatchObject({
      code: 'half-sign-in-over',
    });
  });

  test('is required again for an access token, in that session only', async () => {
    const { user, client, recoveryCodes } = await enrolled('stepper');
    const issue = 'mutation ($stepUp: String) { issueAccessToken(stepUp: $stepUp) { token } }';
    expect(await client.refusal(issue)).toMatchObject({ code: 'step-up-needed', details: { purpose: 'access-token' } });
    const other = browser();
    await other.ask(login, { username: 'stepper', password: user.password });
    await other.ask(finish, recovery(recoveryCodes));
    const proven = await client.ask(stepUp, { purpose: 'ACCESS_TOKEN', ...recovery(recoveryCodes) });
    expect(await other.refusal(issue, proven)).toMatchObject({ code: 'step-up-needed' });
    const { issueAccessToken } = await client.ask(issue, proven);
    expect(await client.refusal(issue, proven)).toMatchObject({ code: 'step-up-needed' });
    const program = new GraphqlClient(server.url, { authorization: `Bearer ${issueAccessToken.token}` });
    expect(await program.ask('{ me { username } }')).toEqual({ me: { username: 'stepper' } });
  });

  test('that was lost is removed by root, which ends the user’s sessions', async () => {
    const { user, client } = await enrolled('loser');
    await server.root.ask('mutation ($id: ID!) { resetSecondFactor(userId: $id) }', { id: user.actor.id });
    expect(await client.ask('{ me { id } }')).toEqual({ me: null });
    const { login: entered } = await browser().ask(login, { username: 'loser', password: user.password });
    expect(entered).toEqual({ user: { username: 'loser' }, secondFactor: [] });
  });
});

describe('a passkey', () => {
  const begin = 'mutation ($stepUp: String) { beginPasskey(stepUp: $stepUp) }';
  const add = `mutation ($name: String!, $response: String!) {
    addPasskey(name: $name, response: $response) { passkeys { id name } }
  }`;
  const enter = 'mutation ($response: String!) { loginByPasskey(response: $response) { user { username } } }';

  async function withPasskey(
    username: string,
  ): Promise<{ client: GraphqlClient; authenticator: Authenticator; added: Data }> {
    const user = await server.gateway.addUser(0, username);
    const client = await browser().signIn(username, user.password);
    const authenticator = new Authenticator(server.url);
    const { beginPasskey } = await client.ask(begin, { stepUp: await client.proven('PASSKEYS') });
    const added = await client.ask(add, { name: ' my phone ', response: authenticator.create(beginPasskey) });
    return { client, authenticator, added };
  }

  test('is added, named, renamed, used to sign in, and removed', async () => {
    const { client, authenticator, added } = await withPasskey('keyholder');
    const [passkey] = added.addPasskey.passkeys;
    expect(passkey.name).toBe('my phone');
    const rename = 'mutation ($id: ID!) { renamePasskey(id: $id, name: "old phone") { passkeys { name } } }';
    expect((await client.ask(rename, passkey)).renamePasskey.passkeys).toEqual([{ name: 'old phone' }]);

    const other = browser();
    const { askPasskey } = await other.ask('mutation { askPasskey }');
    const { loginByPasskey } = await other.ask(enter, { response: authenticator.get(askPasskey) });
    expect(loginByPasskey).toEqual({ user: { username: 'keyholder' } });
    expect(await other.ask('{ me { username } }')).toEqual({ me: { username: 'keyholder' } });

    const remove =
      'mutation ($id: ID!, $stepUp: String) { removePasskey(id: $id, stepUp: $stepUp) { passkeys { name } } }';
    expect(
      (await client.ask(remove, { id: passkey.id, stepUp: await client.proven('PASSKEYS') })).removePasskey.passkeys,
    ).toEqual([]);
    const { askPasskey: again } = await browser().ask('mutation { askPasskey }');
    expect(await browser().refusal(enter, { response: authenticator.get(again) })).toMatchObject({
      code: 'passkey-refused',
    });
  });

  test('is not requested for a page of another site, or of an unknown one', async () => {
    const silent = new GraphqlClient(server.url, { 'x-tallygate-client': 'test' });
    expect(await silent.refusal('mutation { askPasskey }')).toMatchObject({ code: 'site-unknown' });
    const foreign = new GraphqlClient(server.url, { 'x-tallygate-client': 'test', origin: 'https://evil.example' });
    expect((await foreign.send('mutation { askPasskey }')).status).toBe(403);
  });
});

describe('a user’s own sessions', () => {
  const list = '{ security { sessions { id current device place } } }';
  const chrome =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

  test('are listed with their client, and can be ended from another one', async () => {
    const user = await server.gateway.addUser(0, 'manyplaces');
    const here = await browser().signIn('manyplaces', user.password);
    const there = await new GraphqlClient(server.url, { 'x-tallygate-client': 'test', 'user-agent': chrome }).signIn(
      'manyplaces',
      user.password,
    );
    const { security } = await here.ask(list);
    expect(security.sessions).toMatchObject([
      { current: false, device: 'Chrome 140, Windows', place: '127.0.0.1' },
      { current: true },
    ]);
    const [other] = security.sessions;
    const end = 'mutation ($id: ID!) { endSession(id: $id) { sessions { current } } }';
    expect((await here.ask(end, other)).endSession.sessions).toEqual([{ current: true }]);
    expect(await there.ask('{ me { id } }')).toEqual({ me: null });
    expect(await here.refusal(end, other)).toMatchObject({ code: 'session-not-found' });
    const third = await browser().signIn('manyplaces', user.password);
    await here.ask('mutation { endOtherSessions { sessions { current } } }');
    expect(await third.ask('{ me { id } }')).toEqual({ me: null });
    expect(await here.ask('{ me { username } }')).toEqual({ me: { username: 'manyplaces' } });
  });
});

describe('the legacy interface with a second factor', () => {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${server.gateway.url}/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const cookieIn = (response: Response) => response.headers.get('set-cookie')?.split(';', 1)[0] ?? '';

  test('requires the second factor too, and step-up authentication', async () => {
    const { user, recoveryCodes } = await enrolled('legacytwo');
    const first = await post('/user/login', { username: 'legacytwo', password: user.password });
    expect(await first.json()).toEqual({
      success: true,
      message: '请输入两步验证码',
      data: { require_2fa: true, methods: ['totp', 'recovery-code'] },
    });
    const wrong = await post('/user/login/2fa', { code: '12345' }, { cookie: cookieIn(first) });
    expect(await wrong.json()).toMatchObject({ success: false, message: '验证码或备用码错误，请重试' });
    const second = await post('/user/login/2fa', { code: recoveryCodes.pop() }, { cookie: cookieIn(first) });
    expect(await second.json()).toMatchObject({ success: true, data: { username: 'legacytwo' } });

    const signedIn = { cookie: cookieIn(second), 'new-api-user': String(user.actor.id) };
    const issue = (headers: Record<string, string>) =>
      fetch(`${server.gateway.url}/api/user/token`, { headers: { ...signedIn, ...headers } }).then((answer) =>
        answer.json(),
      );
    expect(await issue({})).toMatchObject({ success: false, message: '请先完成安全验证' });
    const proving = { purpose: 'access-token', code: recoveryCodes.pop() };
    const proven = (await (await post('/user/step_up', proving, signedIn)).json()) as { data: string };
    expect(await issue({ 'x-step-up': proven.data })).toMatchObject({ success: true });
    expect(await issue({ 'x-step-up': proven.data })).toMatchObject({ success: false });
    expect(await (await post('/user/step_up', { ...proving, purpose: 'anything' }, signedIn)).json()).toMatchObject({
      success: false,
      data: { field: 'purpose' },
    });
  });
});

test('an administrator without the required second factor has no administrator’s rights', async () => {
  const admin = await server.gateway.addUser(0, 'careless');
  const manage = 'mutation ($id: ID!, $action: UserAction!) { manageUser(id: $id, action: $action) { role } }';
  await server.root.ask(manage, { id: admin.actor.id, action: 'PROMOTE' });
  const option = (value: string) =>
    server.gateway.application.options.change(server.gateway.root, 'general_setting.admin_second_factor', value);
  await server.gateway.application.visible(await option('true'));
  const client = await browser().signIn('careless', admin.password);
  expect(await client.refusal('{ users { total } }')).toEqual({
    code: 'second-factor-needed',
    kind: 'forbidden',
    details: {},
  });
  expect(await client.ask('{ security { demanded } }')).toEqual({ security: { demanded: true } });
  const listed = await fetch(`${server.gateway.url}/api/user/`, {
    headers: { cookie: client.cookie, 'new-api-user': String(admin.actor.id) },
  });
  expect(await listed.json()).toMatchObject({ success: false, message: '管理员须先启用两步验证' });
  await server.gateway.application.visible(await option('false'));
  expect(await client.ask('{ users { total } }')).toBeDefined();
});
