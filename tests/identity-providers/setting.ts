import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { type OidcProvider, startOidcProvider } from './oidc-provider.js';
import {
  botToken,
  client,
  type OAuthStandIn,
  relayToken,
  startGithub,
  startLinuxdo,
  startWeChatRelay,
  type WeChatRelay,
} from './stand-ins.js';

/* A gateway with every identity provider open, and those who vouch for people behind them. */

export interface ProviderSetting {
  readonly gateway: TestGateway;
  readonly github: OAuthStandIn;
  readonly linuxdo: OAuthStandIn;
  readonly relay: WeChatRelay;
  readonly oidc: OidcProvider;
  stop(): Promise<void>;
}

export async function startProviderSetting(): Promise<ProviderSetting> {
  const [github, linuxdo, relay] = await Promise.all([startGithub(), startLinuxdo(), startWeChatRelay()]);
  const gateway = await startTestGateway({
    GITHUB_URL: github.url,
    GITHUB_API_URL: github.url,
    LINUXDO_URL: linuxdo.url,
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
    GRAPHQL_COST_PER_MINUTE: '100000000',
  });
  const oidc = await startOidcProvider([`${gateway.url}/oauth/oidc`]);
  for (const [key, value] of Object.entries({
    GitHubClientId: client.id,
    GitHubClientSecret: client.secret,
    GitHubOAuthEnabled: 'true',
    LinuxDOClientId: client.id,
    LinuxDOClientSecret: client.secret,
    LinuxDOOAuthEnabled: 'true',
    'oidc.client_id': client.id,
    'oidc.client_secret': client.secret,
    'oidc.well_known': oidc.wellKnown,
    'oidc.enabled': 'true',
    WeChatServerAddress: relay.url,
    WeChatServerToken: relayToken,
    WeChatAuthEnabled: 'true',
    TelegramBotToken: botToken,
    TelegramBotName: 'our_bot',
    TelegramOAuthEnabled: 'true',
    QuotaForNewUser: '5000',
  }))
    await gateway.setOption(key, value);
  return {
    gateway,
    github,
    linuxdo,
    relay,
    oidc,
    async stop() {
      await gateway.stop();
      await Promise.all([github, linuxdo, relay, oidc].map((standIn) => standIn.stop()));
    },
  };
}
