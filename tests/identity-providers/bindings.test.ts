import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserId } from '../../src/domain/kernel/ids.js';
import { Authenticator } from '../support/gateway/authenticator.js';
import type { TestGateway } from '../support/gateway/test-gateway.js';
import { type ProviderSetting, startProviderSetting } from './setting.js';
import { telegramSigned } from './stand-ins.js';
import { Visitor } from './visitor.js';

/* What binding and unbinding asks of an account, and what it has after: a second factor, a last door, a welcome. */

let setting: ProviderSetting;
let gateway: TestGateway;

beforeAll(async () => {
  setting = await startProviderSetting();
  ({ gateway } = setting);
});
afterAll(() => setting?.stop());

let accounts = 9000;

const signedIn = async (): Promise<Visitor> => {
  const { username, password } = await gateway.addUser(0);
  const visitor = new Visitor(gateway);
  await visitor.signIn(username, password);
  return visitor;
};

const dataOf = async <Data>(visitor: Visitor, query: string, variables: object = {}): Promise<Data> => {
  const { data, errors } = await visitor.graphql(query, variables);
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data as Data;
};

/** Turns the second factor on; what it answers proves it anew, ten times. */
async function enrolled(visitor: Visitor): Promise<(purpose: string) => Promise<string>> {
  const stepUp = await visitor.proven('SECOND_FACTOR');
  const begin = 'mutation ($stepUp: String) { beginTotp(stepUp: $stepUp) { secret } }';
  const { beginTotp } = await dataOf<{ beginTotp: { secret: string } }>(visitor, begin, { stepUp });
  const code = new TOTP({ secret: Secret.fromBase32(beginTotp.secret) }).generate();
  const enrol = 'mutation ($code: String!) { enrolTotp(code: $code) }';
  const { enrolTotp } = await dataOf<{ enrolTotp: string[] }>(visitor, enrol, { code });
  const prove = `mutation ($purpose: StepUpPurpose!, $value: String!) {
    stepUp(purpose: $purpose, proof: { method: RECOVERY_CODE, value: $value })
  }`;
  return async (purpose) =>
    (await dataOf<{ stepUp: string }>(visitor, prove, { purpose, value: enrolTotp.pop() })).stepUp;
}

const byGithub = (address: string, id: number) => setting.github.agree(address, { id, login: `hub-${id}` });

/** Somebody new, who has come by GitHub and has no password. */
async function newcomer(inviteCode = ''): Promise<{ visitor: Visitor; id: number; account: number }> {
  const visitor = new Visitor(gateway);
  const account = ++accounts;
  const { data } = await visitor.end('GITHUB', byGithub(await visitor.visit('GITHUB', false, inviteCode), account));
  const { user } = (data as { endVisit: { signIn: { user: { id: string } } } }).endVisit.signIn;
  return { visitor, id: Number(user.id), account };
}

const unbind = 'mutation ($stepUp: String) { unbind(provider: GITHUB, stepUp: $stepUp) { identities { provider } } }';

describe('a link to an identity provider with a second factor', () => {
  const telegramSignIn = () =>
    telegramSigned({ id: String(++accounts), auth_date: String(Math.floor(Date.now() / 1000)) });
  const weChatCode = () => {
    const code = String(++accounts);
    setting.relay.codes.set(code, `wx-${code}`);
    return { code };
  };
  const visitTo = (provider: string) =>
    `mutation ($stepUp: String) { visitProvider(provider: ${provider}, bind: true, stepUp: $stepUp) }`;

  interface Order {
    readonly name: string;
    readonly order: string;
    readonly given?: () => object;
    /** Left out: bindings. */
    readonly purpose?: string;
    /** What it is refused with once it is proven; left out: nothing. */
    readonly then?: string;
  }

  const orders: readonly Order[] = [
    { name: 'leaving for GitHub to bind', order: visitTo('GITHUB') },
    { name: 'leaving for LinuxDO to bind', order: visitTo('LINUXDO') },
    { name: 'leaving for a provider of OpenID Connect to bind', order: visitTo('OIDC') },
    {
      name: 'binding a WeChat account',
      order: 'mutation ($code: String!, $stepUp: String) { bindWeChat(code: $code, stepUp: $stepUp) { id } }',
      given: weChatCode,
    },
    {
      name: 'binding a Telegram account',
      order: `mutation ($input: TelegramSignInInput!, $stepUp: String) {
        bindTelegram(input: $input, stepUp: $stepUp) { id }
      }`,
      given: () => ({ input: telegramSignIn() }),
    },
    { name: 'unbinding', order: unbind },
    {
      name: 'binding an e-mail address',
      order:
        'mutation ($stepUp: String) { bindEmail(email: "a@mail.example", code: "a1b2c3", stepUp: $stepUp) { id } }',
      purpose: 'EMAIL',
      then: 'email-code-wrong',
    },
    {
      name: 'removing the e-mail address',
      order: 'mutation ($stepUp: String) { removeEmail(stepUp: $stepUp) { id } }',
      purpose: 'EMAIL',
    },
  ];

  test.each(orders)(
    'at $name requires a proof made for it, once',
    async ({ order, given = () => ({}), purpose = 'BINDINGS', then }) => {
      const visitor = await signedIn();
      const prove = await enrolled(visitor);
      const variables = given();
      expect(await visitor.refusal(order, variables)).toBe('step-up-needed');
      expect(await visitor.refusal(order, { ...variables, stepUp: 'made-up' })).toBe('step-up-needed');
      const forAnother = await prove('PASSWORD');
      expect(await visitor.refusal(order, { ...variables, stepUp: forAnother })).toBe('step-up-needed');
      const stepUp = await prove(purpose);
      const stranger = await signedIn();
      await enrolled(stranger);
      expect(await stranger.refusal(order, { ...variables, stepUp })).toBe('step-up-needed');
      // What is good once was not used up by what was refused.
      expect(await visitor.refusal(order, { ...variables, stepUp })).toBe(then);
      // Nor was the proof by an order that it did not help.
      expect(await visitor.refusal(order, { ...variables, stepUp })).toBe(then ?? 'step-up-needed');
    },
  );

  test('is not proven by a state for clients that build the address themselves, on either face', async () => {
    const visitor = await signedIn();
    const prove = await enrolled(visitor);
    const begun = async () => ({
      code: setting.github.agreeToLegacy({ id: ++accounts, login: 'thief' }),
      state: String((await visitor.ask('/oauth/state')).data),
    });
    expect((await visitor.end('GITHUB', await begun())).errors?.[0]?.extensions.code).toBe('step-up-needed');
    expect(await visitor.ask('/oauth/github', await begun())).toMatchObject({
      success: false,
      message: '请先完成安全验证',
    });
    const shown = { 'x-step-up': await prove('BINDINGS') };
    const bound = await visitor.get('/oauth/github', await begun(), shown);
    expect(await bound.json()).toMatchObject({ success: true, message: 'bind' });
    const again = await visitor.get('/oauth/github', await begun(), shown);
    expect(await again.json()).toMatchObject({ success: false, message: '请先完成安全验证' });
  });

  test.each<[string, string, () => Record<string, string>]>([
    ['WeChat', '/oauth/wechat/bind', weChatCode],
    ['Telegram', '/oauth/telegram/bind', telegramSignIn],
  ])('is proven for %s by a header from a legacy client', async (_, path, given) => {
    const visitor = await signedIn();
    const prove = await enrolled(visitor);
    const query = given();
    expect(await visitor.ask(path, query)).toMatchObject({ success: false, message: '请先完成安全验证' });
    const bound = await visitor.get(path, query, { 'x-step-up': await prove('BINDINGS') });
    expect(await bound.json()).toMatchObject({ success: true });
  });

  test('does not skip the second factor at sign-in', async () => {
    const { visitor, account, id } = await newcomer();
    await enrolled(visitor);
    const other = new Visitor(gateway);
    const { data } = await other.end('GITHUB', byGithub(await other.visit('GITHUB'), account));
    expect(data).toMatchObject({ endVisit: { signIn: { user: null, secondFactor: ['TOTP', 'RECOVERY_CODE'] } } });
    expect(await dataOf(other, '{ me { id } }')).toEqual({ me: null });
    const finish = 'mutation { finishLogin(proof: { method: TOTP, value: "000000" }) { user { id } } }';
    expect(await other.refusal(finish)).toBe('second-factor-wrong');
    expect(await gateway.application.queries.ownFactors({ id: id as UserId } as never)).toMatchObject({
      secondFactor: true,
    });
  });
});

describe('the last sign-in method', () => {
  interface OwnPasskey {
    readonly id: string;
    /** Shows the passkey for an order. */
    readonly prove: (purpose: string) => Promise<{ stepUp: string }>;
  }
  const withPasskey = async (visitor: Visitor): Promise<OwnPasskey> => {
    const authenticator = new Authenticator(gateway.url);
    const { beginPasskey } = await dataOf<{ beginPasskey: string }>(visitor, 'mutation { beginPasskey }');
    const add = `mutation ($response: String!) {
      addPasskey(name: "phone", response: $response) { passkeys { id } }
    }`;
    const response = authenticator.create(beginPasskey);
    const { addPasskey } = await dataOf<{ addPasskey: { passkeys: { id: string }[] } }>(visitor, add, { response });
    const prove: OwnPasskey['prove'] = async (purpose) => {
      const ask = 'mutation ($purpose: StepUpPurpose!) { askStepUpPasskey(purpose: $purpose) }';
      const { askStepUpPasskey } = await dataOf<{ askStepUpPasskey: string }>(visitor, ask, { purpose });
      const show = `mutation ($purpose: StepUpPurpose!, $value: String!) {
        stepUp(purpose: $purpose, proof: { method: PASSKEY, value: $value })
      }`;
      return dataOf(visitor, show, { purpose, value: authenticator.get(askStepUpPasskey) });
    };
    return { id: addPasskey.passkeys[0]?.id ?? '', prove };
  };
  const removePasskey =
    'mutation ($id: ID!, $stepUp: String) { removePasskey(id: $id, stepUp: $stepUp) { passkeys { id } } }';

  test('is kept: the identity is unlinked while there is a passkey, which then cannot be removed', async () => {
    const { visitor } = await newcomer();
    expect(await visitor.refusal(unbind)).toBe('last-door');
    const { id, prove } = await withPasskey(visitor);
    expect(await visitor.refusal(unbind)).toBe('step-up-needed');
    expect(await dataOf(visitor, unbind, await prove('BINDINGS'))).toEqual({ unbind: { identities: [] } });
    expect(await visitor.refusal(removePasskey, { id, ...(await prove('PASSKEYS')) })).toBe('last-door');
  });

  test('is kept: the passkey is removed while there is an identity, which then cannot be unlinked', async () => {
    const { visitor } = await newcomer();
    const { id, prove } = await withPasskey(visitor);
    expect(await dataOf(visitor, removePasskey, { id, ...(await prove('PASSKEYS')) })).toEqual({
      removePasskey: { passkeys: [] },
    });
    expect(await visitor.refusal(unbind)).toBe('last-door');
  });

  test('is a password, with which both can be removed', async () => {
    const { visitor } = await newcomer();
    const { id, prove } = await withPasskey(visitor);
    const choose = `mutation ($stepUp: String) {
      changeOwnProfile(patch: { password: "correct-horse" }, stepUp: $stepUp) { id }
    }`;
    await dataOf(visitor, choose, await prove('PASSWORD'));
    expect(await dataOf(visitor, unbind, await prove('BINDINGS'))).toEqual({ unbind: { identities: [] } });
    expect(await dataOf(visitor, removePasskey, { id, ...(await prove('PASSKEYS')) })).toEqual({
      removePasskey: { passkeys: [] },
    });
  });
});

describe('a user that registers by an identity provider', () => {
  test('gets the initial quota, and more by an invitation', async () => {
    await gateway.setOption('QuotaForInvitee', '700');
    const inviter = await signedIn();
    const { issueInviteCode } = await dataOf<{ issueInviteCode: string }>(inviter, 'mutation { issueInviteCode }');
    const alone = await newcomer();
    expect(await gateway.application.gate.available(alone.id as UserId)).toBe(5000);
    const unknownCode = await newcomer('????');
    expect(await gateway.application.gate.available(unknownCode.id as UserId)).toBe(5000);
    const invited = await newcomer(issueInviteCode);
    expect(await gateway.application.gate.available(invited.id as UserId)).toBe(5700);
    const { inviter_id } = await gateway.application.queries.user(gateway.root, invited.id as UserId);
    expect(inviter_id).toBe(inviter.userId);
    await gateway.setOption('QuotaForInvitee', '0');
  });
});
