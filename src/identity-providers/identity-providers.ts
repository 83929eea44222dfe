import type { IdentityProviders } from '../application/ports/identity-provider-ports.js';
import type { Clock } from '../application/ports/storage-ports.js';
import type { VisitedProvider } from '../domain/kernel/claim.js';
import { Failure } from '../domain/kernel/failure.js';
import { type GithubUrls, github } from './github.js';
import { type IdentityProviderPorts, neededSecret, type OAuthProvider } from './identity-provider.js';
import { linuxdo } from './linuxdo.js';
import { oidc } from './oidc.js';
import { isSignedByTelegram } from './telegram.js';
import { identifyByWeChat } from './wechat.js';

/* The identity providers, as the application wants them. */

interface IdentityProviderUrls {
  readonly github: GithubUrls;
  readonly linuxdoUrl: string;
}

export function openIdentityProviders(
  ports: IdentityProviderPorts & { readonly clock: Clock },
  urls: IdentityProviderUrls,
): IdentityProviders {
  const { clock } = ports;
  const visited: Readonly<Record<VisitedProvider, OAuthProvider>> = {
    github: github(ports, urls.github),
    oidc: oidc(ports, clock),
    linuxdo: linuxdo(ports, urls.linuxdoUrl),
  };
  return {
    authoriseAddress: (provider, state, trip) => visited[provider].authoriseAddress(state, trip),
    byCode: (provider, code, trip) => visited[provider].identify(code, trip),
    byWeChat: (code) => identifyByWeChat(ports, code),
    async byTelegram(given) {
      const token = await neededSecret(ports, 'telegram', 'TelegramBotToken');
      if (!isSignedByTelegram(token, given, clock.now())) throw new Failure('telegram-signature-wrong');
      return { subject: given.id, shown: given.id };
    },
  };
}
