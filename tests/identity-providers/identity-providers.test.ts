import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway/test-gateway.js';
import type { OidcProvider } from './oidc-provider.js';
import { type ProviderSetting, startProviderSetting } from './setting.js';
import type { OAuthStandIn } from './stand-ins.js';
import { Visitor } from './visitor.js';

/* Each door that browsers leave by and come back through, against providers that check what they are sent. */

let setting: ProviderSetting;
let github: OAuthStandIn;
let linuxdo: OAuthStandIn;
let oidc: OidcProvider;
let gateway: TestGateway;
let pool: pg.Pool;

beforeAll(async () => {
  setting = await startProviderSetting();
  ({ gateway, github, linuxdo, oidc } = setting);
  pool = new pg.Pool({ connectionString: gateway.config.database.url ?? '' });
});
afterAll(async () => {
  await pool?.end();
  await setting?.stop();
});

let accounts = 1000;

/** Each provider's way of vouching for somebody new, and what it makes of them here. */
interface TestedProvider {
  readonly name: 'GITHUB' | 'LINUXDO' | 'OIDC';
  readonly provider: string;
  somebody(): string;
  /** Somebody agrees at the provider. */
  agree(address: string, account: string): Promise<{ code: string; state: string }>;
  shown(account: string): string;
  username(id: string): string;
}

const testedProviders: readonly TestedProvider[] = [
  {
    name: 'GITHUB',
    provider: 'github',
    somebody: () => String(++accounts),
    agree: async (address, account) =>
      github.agree(address, { id: Number(account), login: `octo-${account}`, name: 'Octo Cat' }),
    shown: (account) => `octo-${account}`,
    username: (id) => `github_${id}`,
  },
  {
    name: 'LINUXDO',
    provider: 'linuxdo',
    somebody: () => String(++accounts),
    agree: async (address, account) => linuxdo.agree(address, { id: Number(account), username: 'neo', name: 'Neo' }),
    shown: (account) => account,
    username: (id) => `linuxdo_${id}`,
  },
  {
    name: 'OIDC',
    provider: 'oidc',
    somebody: () => `sub-${++accounts}`,
    agree: async (address, account) => {
      if (!oidc.accounts.has(account)) oidc.accounts.set(account, { email: `${account}@example.org`, name: 'Ada' });
      const back = await oidc.agree(address, account);
      return { code: back.searchParams.get('code') ?? '', state: back.searchParams.get('state') ?? '' };
    },
    shown: (account) => account,
    username: (id) => `oidc_${id}`,
  },
];

interface SignedIn {
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly email: string;
  readonly identities: readonly { readonly provider: string; readonly name: string }[];
}

const userIn = (answer: Awaited<ReturnType<Visitor['graphql']>>): SignedIn => {
  const end = (answer.data as { endVisit?: { signIn?: { user?: SignedIn } } } | undefined)?.endVisit;
  if (end?.signIn?.user === undefined) throw new Error(JSON.stringify(answer));
  return end.signIn.user;
};

const codeIn = ({ errors }: Awaited<ReturnType<Visitor['graphql']>>): string | undefined =>
  errors?.[0]?.extensions.code;

const enter = async (tested: TestedProvider, account: string, visitor = new Visitor(gateway)) =>
  visitor.end(tested.name, await tested.agree(await visitor.visit(tested.name), account));

const me = '{ me { id username } }';

describe.each(testedProviders)('the sign-in by $provider', (tested) => {
  test('registers a new user, and later signs in the same one', async () => {
    const account = tested.somebody();
    const visitor = new Visitor(gateway);
    const user = userIn(await enter(tested, account, visitor));
    expect(user).toMatchObject({
      username: tested.username(user.id),
      identities: [{ provider: tested.name, name: tested.shown(account) }],
    });
    expect((await visitor.graphql(me)).data).toEqual({ me: { id: user.id, username: user.username } });
    expect(await gateway.application.gate.available(Number(user.id) as never)).toBe(5000);
    expect(userIn(await enter(tested, account)).id).toBe(user.id);
  });

  test('accepts a state once', async () => {
    const account = tested.somebody();
    const visitor = new Visitor(gateway);
    const back = await tested.agree(await visitor.visit(tested.name), account);
    userIn(await visitor.end(tested.name, back));
    expect(codeIn(await visitor.end(tested.name, back))).toBe('sign-in-state-wrong');
  });

  test('accepts a state from its own browser only, and consumes it when another sends it', async () => {
    const visitor = new Visitor(gateway);
    const back = await tested.agree(await visitor.visit(tested.name), tested.somebody());
    const other = new Visitor(gateway);
    await other.visit(tested.name);
    expect(codeIn(await other.end(tested.name, back))).toBe('sign-in-state-wrong');
    expect(codeIn(await visitor.end(tested.name, back))).toBe('sign-in-state-wrong');
    expect(codeIn(await new Visitor(gateway).end(tested.name, back))).toBe('sign-in-state-wrong');
  });

  test('accepts a state for its own provider only', async () => {
    const visitor = new Visitor(gateway);
    const back = await tested.agree(await visitor.visit(tested.name), tested.somebody());
    const elsewhere = testedProviders.find(({ name }) => name !== tested.name)?.name ?? '';
    expect(codeIn(await visitor.end(elsewhere, back))).toBe('sign-in-state-wrong');
  });

  test('refuses an expired state', async () => {
    const visitor = new Visitor(gateway);
    const back = await tested.agree(await visitor.visit(tested.name), tested.somebody());
    await pool.query("UPDATE tickets SET expires_at = 1 WHERE kind = 'oauth-state'");
    expect(codeIn(await visitor.end(tested.name, back))).toBe('sign-in-state-wrong');
  });

  test('refuses a code that the provider did not issue', async () => {
    const visitor = new Visitor(gateway);
    const { state } = await tested.agree(await visitor.visit(tested.name), tested.somebody());
    expect(codeIn(await visitor.end(tested.name, { code: 'made-up', state }))).toBe('provider-token-refused');
    const without = await tested.agree(await visitor.visit(tested.name), tested.somebody());
    expect(codeIn(await visitor.end(tested.name, { ...without, code: '' }))).toBe('sign-in-code-missing');
    expect((await visitor.graphql(me)).data).toEqual({ me: null });
  });

  test('links an account to the user that requested it, and to no other', async () => {
    const account = tested.somebody();
    const { actor, username, password } = await gateway.addUser(0);
    const visitor = new Visitor(gateway);
    await visitor.signIn(username, password);
    const back = await tested.agree(await visitor.visit(tested.name, true), account);
    const { data } = await visitor.end(tested.name, back);
    expect(data).toEqual({
      endVisit: {
        bound: { id: String(actor.id), identities: [{ provider: tested.name, name: tested.shown(account) }] },
        signIn: null,
      },
    });
    expect(userIn(await enter(tested, account)).id).toBe(String(actor.id));

    const second = await gateway.addUser(0);
    const other = new Visitor(gateway);
    await other.signIn(second.username, second.password);
    const again = await tested.agree(await other.visit(tested.name, true), account);
    expect(codeIn(await other.end(tested.name, again))).toBe('identity-taken');
  });

  test('links nothing to another user that is signed in by then, and signs in no user by it', async () => {
    const [first, second] = [await gateway.addUser(0), await gateway.addUser(0)];
    const visitor = new Visitor(gateway);
    await visitor.signIn(first.username, first.password);
    const back = await tested.agree(await visitor.visit(tested.name, true), tested.somebody());
    await visitor.signIn(second.username, second.password);
    expect(codeIn(await visitor.end(tested.name, back))).toBe('sign-in-state-wrong');

    const left = await tested.agree(await visitor.visit(tested.name, true), tested.somebody());
    await visitor.graphql('mutation { logout }');
    expect(codeIn(await visitor.end(tested.name, left))).toBe('sign-in-state-wrong');
  });

  test('links one account of the provider to a user, not two', async () => {
    const { username, password } = await gateway.addUser(0);
    const visitor = new Visitor(gateway);
    await visitor.signIn(username, password);
    await visitor.end(tested.name, await tested.agree(await visitor.visit(tested.name, true), tested.somebody()));
    const second = await tested.agree(await visitor.visit(tested.name, true), tested.somebody());
    expect(codeIn(await visitor.end(tested.name, second))).toBe('other-identity-bound');
  });

  test('is unlinked by its user, unless it is the only sign-in method', async () => {
    const account = tested.somebody();
    const { username, password } = await gateway.addUser(0);
    const visitor = new Visitor(gateway);
    await visitor.signIn(username, password);
    await visitor.end(tested.name, await tested.agree(await visitor.visit(tested.name, true), account));
    const unbind = `mutation ($stepUp: String) { unbind(provider: ${tested.name}, stepUp: $stepUp) { identities { name } } }`;
    expect((await visitor.graphql(unbind, { stepUp: await visitor.proven('BINDINGS') })).data).toEqual({
      unbind: { identities: [] },
    });

    const newcomer = new Visitor(gateway);
    userIn(await enter(tested, account, newcomer));
    expect(await newcomer.refusal(unbind)).toBe('last-door');
  });

  test('is refused to disabled and deleted users, and registers an erased one as a new user', async () => {
    const account = tested.somebody();
    const { id } = userIn(await enter(tested, account));
    const manage = async (action: 'disable' | 'enable' | 'delete') =>
      gateway.application.visible(await gateway.application.users.manage(gateway.root, Number(id) as never, action));
    await manage('disable');
    expect(codeIn(await enter(tested, account))).toBe('user-disabled');
    await manage('enable');
    expect(userIn(await enter(tested, account)).id).toBe(id);
    await manage('delete');
    expect(codeIn(await enter(tested, account))).toBe('user-deleted');
    await gateway.application.visible(await gateway.application.users.erase(gateway.root, Number(id) as never));
    expect(userIn(await enter(tested, account)).id).not.toBe(id);
  });

  test('refuses new users while registration is off, and accepts existing ones', async () => {
    const account = tested.somebody();
    userIn(await enter(tested, account));
    await gateway.setOption('RegisterEnabled', 'false');
    try {
      expect(codeIn(await enter(tested, tested.somebody()))).toBe('registration-closed');
      userIn(await enter(tested, account));
    } finally {
      await gateway.setOption('RegisterEnabled', 'true');
    }
  });

  test('registers one user in several concurrent attempts', async () => {
    const account = tested.somebody();
    const comings = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const visitor = new Visitor(gateway);
        return { visitor, back: await tested.agree(await visitor.visit(tested.name), account) };
      }),
    );
    const users = await Promise.all(comings.map(({ visitor, back }) => visitor.end(tested.name, back)));
    expect(new Set(users.map((answer) => userIn(answer).id)).size).toBe(1);
  });

  test('is absent while it is switched off', async () => {
    const option =
      { github: 'GitHubOAuthEnabled', linuxdo: 'LinuxDOOAuthEnabled', oidc: 'oidc.enabled' }[tested.provider] ?? '';
    const visitor = new Visitor(gateway);
    const back = await tested.agree(await visitor.visit(tested.name), tested.somebody());
    await gateway.setOption(option, 'false');
    try {
      expect(codeIn(await visitor.end(tested.name, back))).toBe('provider-off');
      expect(await visitor.refusal(`mutation { visitProvider(provider: ${tested.name}) }`)).toBe('provider-off');
    } finally {
      await gateway.setOption(option, 'true');
    }
  });
});
