import { untilVisible } from '../../../src/application/until-visible.js';
import { startGateway } from '../../../src/bootstrap/gateway.js';
import type { Config } from '../../../src/config.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import { quickPasswords } from '../gateway/quick-passwords.js';
import { signIn } from '../gateway/sign-in.js';
import { apiKeyTerms } from '../given/api-key-terms.js';
import { channelSettings } from '../given/channel-settings.js';
import { quietLog } from '../quiet-log.js';

export interface CallerData {
  readonly userId: UserId;
  /** With `sk-`. */
  readonly apiKey: string;
}

interface CallerDataOptions {
  readonly upstreamUrl: string;
  readonly models: readonly string[];
  readonly quota: number;
  /** Left out: the usual one. */
  readonly channelType?: number;
}

/**
 * What an operator does first, done in this process on the data that gateways started later as processes inherit: one
 * channel, one user with so much quota, one API key without a limit.
 */
export async function prepareCallerData(config: Config, options: CallerDataOptions): Promise<CallerData> {
  const gateway = await startGateway(config, quietLog, { passwords: quickPasswords });
  try {
    const { application } = gateway;
    const password = 'root-password-1';
    await untilVisible(
      application,
      // Self-use: every model has a price, whatever its name.
      await application.setup.complete({ username: 'root', password, confirmPassword: password, mode: 'self' }),
    );
    const { user: root } = await signIn(application.identity, 'root', password);
    await application.channels.add(root, {
      settings: channelSettings({
        baseUrl: options.upstreamUrl,
        models: options.models,
        ...(options.channelType !== undefined && { type: options.channelType }),
      }),
      key: 'sk-upstream-key',
      proxy: '',
      enabled: true,
    });
    const { id: userId } = await application.users.create(root, { username: 'caller', password, displayName: '' });
    await untilVisible(application, await application.users.adjustQuota(root, userId, { delta: options.quota }));
    const terms = apiKeyTerms({ unlimited: true });
    const { key } = await application.apiKeys.issue({ id: userId, role: 'ordinary' }, { quota: 0, terms });
    return { userId, apiKey: `sk-${key}` };
  } finally {
    await gateway.stop();
  }
}
