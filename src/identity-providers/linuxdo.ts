import { ClientSecretBasic, type Configuration } from 'openid-client';
import { z } from 'zod';
import { Failure } from '../domain/kernel/failure.js';
import { accessToken, authoriseAddress, configuration, guardedFetch, resource, step } from './code-exchange.js';
import { type IdentityProviderPorts, neededSecret, type OAuthProvider } from './identity-provider.js';
import { displayNameOf } from './profile-text.js';

const profileShape = z.object({ id: z.number().int().positive(), name: z.string().nullish() });

/** `url`: where LinuxDO's sign-in is. */
export function linuxdo(ports: IdentityProviderPorts, url: string): OAuthProvider {
  const provider = 'linuxdo';
  const fetch = guardedFetch(ports.outbound);

  const config = async (): Promise<Configuration> => {
    const secret = await neededSecret(ports, provider, 'LinuxDOClientSecret');
    const server = {
      issuer: url,
      authorization_endpoint: `${url}/oauth2/authorize`,
      token_endpoint: `${url}/oauth2/token`,
    };
    return configuration(server, { id: ports.text('LinuxDOClientId'), auth: ClientSecretBasic(secret) }, fetch);
  };

  return {
    authoriseAddress: async (state, trip) => authoriseAddress(await config(), state, null, trip),

    async identify(code, trip) {
      const configured = await config();
      const token = await step(ports, { provider, name: 'token', refused: 'provider-token-refused' }, () =>
        accessToken(configured, code, trip),
      );
      const answer = await step(ports, { provider, name: 'profile', refused: 'provider-profile-refused' }, () =>
        resource(configured, token, `${url}/api/user`),
      );
      const profile = profileShape.safeParse(answer).data;
      if (profile === undefined) throw new Failure('provider-profile-empty', { provider });
      const subject = String(profile.id);
      return {
        subject,
        shown: subject,
        username: null,
        displayName: displayNameOf(profile.name, 'Linux DO User'),
        email: null,
      };
    },
  };
}
