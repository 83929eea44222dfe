import { ClientSecretPost, type Configuration } from 'openid-client';
import { z } from 'zod';
import { Failure } from '../domain/kernel/failure.js';
import { accessToken, authoriseAddress, configuration, guardedFetch, resource, step } from './code-exchange.js';
import { type IdentityProviderPorts, neededSecret, type OAuthProvider } from './identity-provider.js';
import { displayNameOf, shownName } from './profile-text.js';

/** Where GitHub is: github.com, or a server of one's own. */
export interface GithubUrls {
  readonly url: string;
  readonly apiUrl: string;
}

/** Names change hands; the number does not. */
const profileShape = z.object({
  id: z.number().int().positive(),
  login: z.string().min(1),
  name: z.string().nullish(),
});

const emailsShape = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

export function github(ports: IdentityProviderPorts, { url, apiUrl }: GithubUrls): OAuthProvider {
  const provider = 'github';
  const scope = 'user:email';
  const fetch = guardedFetch(ports.outbound);

  const config = async (): Promise<Configuration> => {
    const secret = await neededSecret(ports, provider, 'GitHubClientSecret');
    const server = {
      issuer: url,
      authorization_endpoint: `${url}/login/oauth/authorize`,
      token_endpoint: `${url}/login/oauth/access_token`,
    };
    return configuration(server, { id: ports.text('GitHubClientId'), auth: ClientSecretPost(secret) }, fetch);
  };

  /** The address GitHub has made sure of. Who does not let us see it comes in without. */
  const emailOf = async (configured: Configuration, token: string): Promise<string | null> => {
    const answer = await resource(configured, token, `${apiUrl}/user/emails`).catch(() => null);
    const listed = emailsShape.safeParse(answer).data ?? [];
    return listed.find(({ primary, verified }) => primary && verified)?.email ?? null;
  };

  return {
    authoriseAddress: async (state, trip) => authoriseAddress(await config(), state, scope, trip),

    async identify(code, trip) {
      const configured = await config();
      const token = await step(ports, { provider, name: 'token', refused: 'provider-token-refused' }, () =>
        accessToken(configured, code, trip),
      );
      const answer = await step(ports, { provider, name: 'profile', refused: 'provider-profile-refused' }, () =>
        resource(configured, token, `${apiUrl}/user`),
      );
      const profile = profileShape.safeParse(answer).data;
      if (profile === undefined) throw new Failure('provider-profile-empty', { provider });
      return {
        subject: String(profile.id),
        shown: shownName(profile.login),
        username: null,
        displayName: displayNameOf(profile.name, 'GitHub User'),
        email: await emailOf(configured, token),
      };
    },
  };
}
