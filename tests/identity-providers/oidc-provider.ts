import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { client, inMood, type Mood } from './stand-ins.js';

/* A real provider of OpenID Connect on loopback, which demands PKCE. Whoever signs in there types an account's name. */

interface OidcAccount {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly preferred_username?: string;
  readonly name?: string;
}

export interface OidcProvider {
  readonly url: string;
  readonly wellKnown: string;
  readonly accounts: Map<string, OidcAccount>;
  mood: Mood;
  /** Somebody signs in and agrees, as a browser would; the address it is sent back to. */
  agree(authoriseAddress: string, account: string): Promise<URL>;
  stop(): Promise<void>;
}

/** `redirectUris`: of our site; `pkce`: whether a code without is refused. */
export async function startOidcProvider(redirectUris: readonly string[], pkce = true): Promise<OidcProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, OidcAccount>();
  const provider = new Provider(url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [...redirectUris],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    pkce: { methods: ['S256'], required: () => pkce },
    claims: { email: ['email', 'email_verified'], profile: ['name', 'preferred_username'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...accounts.get(sub) }) }),
    cookies: { keys: ['only for tests'] },
  });
  const started: OidcProvider = {
    url,
    mood: 'up',
    wellKnown: `${url}/.well-known/openid-configuration`,
    accounts,
    async agree(authoriseAddress, account) {
      const jar = new Map<string, string>();
      const visit = async (address: string, form?: Record<string, string>): Promise<Response> => {
        const answer = await fetch(address, {
          method: form === undefined ? 'GET' : 'POST',
          redirect: 'manual',
          headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
          ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
        });
        for (const cookie of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
          jar.set(name, value);
        }
        return answer;
      };
      let answer = await visit(authoriseAddress);
      for (let steps = 0; steps < 12; steps++) {
        const location = answer.headers.get('location');
        if (location !== null) {
          const next = new URL(location, url);
          if (next.origin !== url) return next;
          answer = await visit(next.href);
          continue;
        }
        const page = await answer.text();
        const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
        if (action === '') throw new Error(`the provider answered ${answer.status}: ${page.slice(0, 400)}`);
        const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? 'login';
        answer = await visit(new URL(action, url).href, { prompt, login: account, password: 'any' });
      }
      throw new Error('the provider has not come to an end');
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('request', inMood(started, provider.callback()));
  return started;
}
