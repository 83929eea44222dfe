import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MailServer, startMailServer } from '../support/gateway/mail-server.js';
import { type AnsweredError, GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

/* What a stolen session of a user without a second factor must not do by itself. */

let server: GraphqlServer;
let mail: MailServer;

beforeAll(async () => {
  server = await startGraphql();
});
afterAll(async () => {
  await server?.stop();
});

const browser = () => new GraphqlClient(server.url, { 'x-tallygate-client': 'test', origin: server.url });

const orders: readonly (readonly [purpose: string, operation: string])[] = [
  ['PASSWORD', 'changeOwnProfile(patch: { password: "another-password" }, stepUp: $stepUp) { id }'],
  ['PASSWORD', 'changeOwnProfile(patch: { username: "renamed" }, stepUp: $stepUp) { id }'],
  ['EMAIL', 'bindEmail(email: "thief@mail.example", code: "abcdef", stepUp: $stepUp) { id }'],
  ['EMAIL', 'removeEmail(stepUp: $stepUp) { id }'],
  ['SECOND_FACTOR', 'beginTotp(stepUp: $stepUp) { secret }'],
  ['PASSKEYS', 'beginPasskey(stepUp: $stepUp)'],
  ['BINDINGS', 'unbind(provider: GITHUB, stepUp: $stepUp) { id }'],
  ['ACCESS_TOKEN', 'issueAccessToken(stepUp: $stepUp) { token }'],
  ['DELETE_ACCOUNT', 'deleteOwnAccount(username: "USER", stepUp: $stepUp)'],
];

const refusedBy = async (client: GraphqlClient, operation: string, stepUp: string | null): Promise<string | null> => {
  const { errors } = await client.send(`mutation ($stepUp: String) { ${operation} }`, { stepUp });
  return (errors[0] as AnsweredError | undefined)?.extensions.code ?? null;
};

describe('step-up authentication without a second factor', () => {
  test.each(orders)('requires the password before %s is changed: %s', async (purpose, operation) => {
    const user = await server.gateway.addUser(0);
    const client = await browser().signIn(user.username, user.password);
    const order = operation.replace('USER', user.username).replace('renamed', `r${user.actor.id}`);
    expect(await refusedBy(client, order, null)).toBe('step-up-needed');
    expect(await refusedBy(client, order, 'made-up')).toBe('step-up-needed');
    const forAnother = await client.proven(purpose === 'PAYMENTS' ? 'EMAIL' : 'PAYMENTS');
    expect(await refusedBy(client, order, forAnother)).toBe('step-up-needed');
    const stepUp = await client.proven(purpose);
    expect([null, 'email-code-wrong']).toContain(await refusedBy(client, order, stepUp));
  });

  test('is refused for a wrong password, with delays as at the sign-in', async () => {
    const user = await server.gateway.addUser(0);
    const client = await browser().signIn(user.username, user.password);
    const prove = 'mutation ($password: String!) { stepUp(purpose: PASSWORD, password: $password) }';
    const codes: string[] = [];
    for (let n = 0; n < 7; n++) codes.push((await client.refusal(prove, { password: 'wrong horse' })).code);
    expect(codes).toEqual([...Array<string>(6).fill('password-wrong'), 'too-many-attempts']);
    const login = 'mutation ($u: String!, $p: String!) { login(username: $u, password: $p) { user { id } } }';
    expect(await browser().refusal(login, { u: user.username, p: 'wrong horse' })).toMatchObject({
      code: 'too-many-attempts',
    });
  });

  test('accepts exactly one proof, and a code by mail does not count for a user with a password', async () => {
    const user = await server.gateway.addUser(0);
    const client = await browser().signIn(user.username, user.password);
    for (const given of ['', ', password: "a", mailCode: "b"'])
      expect(await client.refusal(`mutation { stepUp(purpose: EMAIL${given}) }`)).toMatchObject({
        code: 'invalid-field',
      });
    expect(await client.refusal('mutation { stepUp(purpose: EMAIL, mailCode: "123456") }')).toMatchObject({
      code: 'proof-not-fit',
    });
    expect(await client.refusal('mutation { sendStepUpCode(purpose: EMAIL) }')).toMatchObject({
      code: 'proof-not-fit',
    });
    expect(await client.ask('{ security { stepUpMethods } }')).toEqual({ security: { stepUpMethods: ['PASSWORD'] } });
  });

  test('cannot be circumvented by root through an administrator’s form for its own password or second factor', async () => {
    const { root } = server.gateway;
    const edit = `editUser(id: ${root.id}, patch: { password: "another-password" }, stepUp: $stepUp) { id }`;
    expect(await refusedBy(server.root, edit, null)).toBe('step-up-needed');
    const reset = `resetSecondFactor(userId: ${root.id}, stepUp: $stepUp)`;
    expect(await refusedBy(server.root, reset, null)).toBe('step-up-needed');
  });
});

describe('step-up authentication over the legacy interface', () => {
  const put = async (client: GraphqlClient, id: number, body: object) => {
    const answer = await fetch(`${server.gateway.url}/api/user/self`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'new-api-user': String(id), cookie: client.cookie },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { success: boolean; message: string };
  };

  test('requires the former password as `original_password` for a new one, and nothing for a request without changes', async () => {
    const { actor, username, password } = await server.gateway.addUser(0);
    const client = await browser().signIn(username, password);
    const changed = { password: 'another-password' };
    expect(await put(client, actor.id, changed)).toMatchObject({ success: false });
    expect(await put(client, actor.id, { ...changed, original_password: 'wrong horse' })).toMatchObject({
      success: false,
      message: '密码错误',
    });
    expect(await put(client, actor.id, { username, display_name: 'Me', password: '' })).toMatchObject({
      success: true,
    });
    expect(await put(client, actor.id, { ...changed, original_password: password })).toMatchObject({ success: true });
    await browser().signIn(username, 'another-password');
  });
});

describe('step-up authentication with mail', () => {
  beforeAll(async () => {
    mail = await startMailServer();
    await server.gateway.setOption('SMTPServer', mail.host);
    await server.gateway.setOption('SMTPFrom', 'gate@mail.example');
    await server.gateway.setOption('SMTPPort', String(mail.port));
  });
  afterAll(() => mail?.stop());

  const codeMailedTo = async (address: string): Promise<string> => {
    await fetch(`${server.gateway.url}/api/verification?email=${address}`);
    const { text } = await mail.mailTo(address);
    return /\b[0-9a-f]{6}\b/.exec(text)?.[0] ?? '';
  };

  test('keeps its proof for a retry after a mistyped code of an address, over GraphQL', async () => {
    const user = await server.gateway.addUser(0);
    const client = await browser().signIn(user.username, user.password);
    const code = await codeMailedTo('graphql@mail.example');
    const stepUp = await client.proven('EMAIL');
    const bind = (typed: string) =>
      refusedBy(client, `bindEmail(email: "graphql@mail.example", code: "${typed}", stepUp: $stepUp) { id }`, stepUp);
    expect(await bind('ffffffff')).toBe('email-code-wrong');
    expect(await bind(code)).toBeNull();
    expect(await bind(code)).toBe('step-up-needed');
  });

  test('keeps its proof for a retry after a mistyped code of an address, over the legacy interface', async () => {
    const user = await server.gateway.addUser(0);
    const client = await browser().signIn(user.username, user.password);
    const email = 'older@mail.example';
    const code = await codeMailedTo(email);
    const headers = { cookie: client.cookie, 'new-api-user': String(user.actor.id) };
    const proving = await fetch(`${server.gateway.url}/api/user/step_up`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ purpose: 'email', password: user.password }),
    });
    const shown = { ...headers, 'x-step-up': ((await proving.json()) as { data: string }).data };
    const bind = async (typed: string) => {
      const query = new URLSearchParams({ email, code: typed });
      return (await fetch(`${server.gateway.url}/api/oauth/email/bind?${query}`, { headers: shown })).json();
    };
    expect(await bind('ffffffff')).toMatchObject({ success: false, message: '验证码错误或已过期' });
    expect(await bind(code)).toMatchObject({ success: true });
    expect(await bind(code)).toMatchObject({ success: false, message: '请先完成安全验证' });
  });

  test('keeps its proof for another name after a taken one', async () => {
    const [user, other] = [await server.gateway.addUser(0), await server.gateway.addUser(0)];
    const client = await browser().signIn(user.username, user.password);
    const stepUp = await client.proven('PASSWORD');
    const rename = (username: string) =>
      refusedBy(client, `changeOwnProfile(patch: { username: "${username}" }, stepUp: $stepUp) { id }`, stepUp);
    expect(await rename(other.username)).toBe('username-taken');
    expect(await rename(`r${user.actor.id}`)).toBeNull();
    expect(await rename('another')).toBe('step-up-needed');
  });

  test('notifies the owner by mail of a new password, and of a replaced address at the former one', async () => {
    const { actor, username, password } = await server.gateway.addUser(0);
    const { application } = server.gateway;
    const client = await browser().signIn(username, password);
    const bind = async (email: string): Promise<void> => {
      await application.visible(await application.users.bindings.changeEmail(actor.id, email));
    };
    await bind('owner@mail.example');
    // The thief chooses where notifications go: these do not go there.
    await application.users.changeSettings(actor, {
      notifyType: 'email',
      quotaWarningThreshold: 1,
      webhookUrl: '',
      webhookSecret: '',
      notificationEmail: 'thief@mail.example',
      acceptUnpricedModels: false,
    });
    const change =
      'mutation ($stepUp: String) { changeOwnProfile(patch: { password: "another-password" }, stepUp: $stepUp) { id } }';
    await client.ask(change, { stepUp: await client.proven('PASSWORD') });
    await mail.mailTo('owner@mail.example', ({ text }) => text.includes('密码已更改'));
    await bind('thief@mail.example');
    await mail.mailTo('owner@mail.example', ({ text }) => text.includes('邮箱已改为其他地址'));
    expect(mail.received.flatMap(({ to }) => to)).not.toContain('thief@mail.example');
  });
});
