import { useStatus } from '../SessionProvider.js';

/** Providers a browser is sent to. */
export type VisitedProvider = 'GITHUB' | 'OIDC' | 'LINUXDO';
export type Provider = VisitedProvider | 'WECHAT' | 'TELEGRAM';

export const isVisited = (provider: Provider): provider is VisitedProvider =>
  provider !== 'WECHAT' && provider !== 'TELEGRAM';

/** The identity providers that are open now, in the order they are shown. */
export function useOpenProviders(): readonly Provider[] {
  const { githubClientId, oidcClientId, linuxdoClientId, wechatLogin, telegramBotName } = useStatus();
  const isOpen: Readonly<Record<Provider, boolean>> = {
    GITHUB: githubClientId !== null,
    OIDC: oidcClientId !== null,
    LINUXDO: linuxdoClientId !== null,
    WECHAT: wechatLogin,
    TELEGRAM: telegramBotName !== null,
  };
  return (['GITHUB', 'OIDC', 'LINUXDO', 'WECHAT', 'TELEGRAM'] as const).filter((provider) => isOpen[provider]);
}
