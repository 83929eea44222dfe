import { untilVisible } from '../../../src/application/until-visible.js';
import { startGateway } from '../../../src/bootstrap/gateway.js';
import type { Config } from '../../../src/config.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';
import { apiKeyTerms } from '../given/api-key-terms.js';
import { channelSettings } from '../given/channel-settings.js';
import { quietLog } from '../quiet-log.js';
import { quickPasswords } from './quick-passwords.js';
import { signIn } from './sign-in.js';

/* Data as an operator leaves it who has set up a gateway, for a process of its own to serve. */

export const rootPassword = 'root-password-1';

export interface ChannelToServe {
  readonly models: readonly string[];
  readonly baseUrl: string;
  readonly proxy?: string;
}

/** Resolves with an API key of root's, who is rich. `prices`: records, by model. */
export async function setUpData(
  config: Config,
  channels: readonly ChannelToServe[],
  prices: Readonly<Record<string, ModelPrice>> = {},
): Promise<string> {
  const gateway = await startGateway(config, quietLog, { passwords: quickPasswords });
  const { application } = gateway;
  await untilVisible(
    application,
    await application.setup.complete({
      username: 'root',
      password: rootPassword,
      confirmPassword: rootPassword,
      mode: 'self',
    }),
  );
  const { user: root } = await signIn(application.identity, 'root', rootPassword);
  for (const { proxy = '', ...settings } of channels)
    await application.channels.add(root, {
      settings: channelSettings(settings),
      key: 'sk-upstream-key',
      proxy,
      enabled: true,
    });
  const orders = Object.entries(prices).map(([model, price]) => ({ model, periods: [price], seenAt: null }));
  if (orders.length > 0) await application.prices.changePrices(root, orders, { kind: 'editor' });
  await untilVisible(application, await application.users.adjustQuota(root, root.id, { delta: 1_000_000_000 }));
  const issued = await application.apiKeys.issue(root, {
    quota: 0,
    terms: apiKeyTerms({ unlimited: true }),
  });
  await gateway.stop();
  return `sk-${issued.key}`;
}
