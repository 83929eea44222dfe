import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { settingsText } from '../../domain/options/stored-settings.js';
import { trial } from '../../domain/user/notification.js';
import { type Actor, userDecider } from '../../domain/user/user.js';
import { checkUserSettings, type UserSettings } from '../../domain/user/user-fields.js';
import { recentAttempts } from '../../rate-limit/recent-attempts.js';
import type { Handle } from '../handle.js';
import { postWebhook, type WebhookPorts } from '../notifications/webhook.js';
import type { PersonalData, Vault } from '../ports/storage-ports.js';

interface UserSettingsPorts extends Omit<WebhookPorts, 'settings'> {
  readonly handle: Handle;
  readonly vault: Vault;
  readonly personal: PersonalData;
  readonly directory: { settings: WebhookPorts['settings'] };
  /** Webhooks may have addresses that begin with http. */
  readonly allowHttp: boolean;
}

/** Trials of webhooks for each user: every one is a request to an address that somebody typed. */
const maxTrials = { max: 5, withinMs: 60_000 };

export function userSettingsCommands(ports: UserSettingsPorts) {
  const { handle, vault, personal, directory, clock, allowHttp } = ports;
  const trials = recentAttempts(maxTrials, clock);

  /** Throws `webhook-failed` where the webhook does not take a notification. */
  const tryWebhook = async (actor: Actor, { webhookUrl, webhookSecret }: UserSettings): Promise<void> => {
    trials.count(actor.id);
    const webhook = { url: webhookUrl, secret: webhookSecret };
    const sent = await postWebhook({ ...ports, settings: () => directory.settings() }, webhook, trial);
    if (!sent.ok) throw new Failure('webhook-failed', { field: 'webhookUrl', reason: sent.reason });
  };

  return {
    /** Replaces all settings. A webhook is stored once it has taken a notification. */
    async changeSettings(actor: Actor, settings: UserSettings): Promise<Position> {
      checkUserSettings(settings, allowHttp);
      const { notifyType, quotaWarningThreshold, webhookSecret } = settings;
      const usesWebhook = notifyType === 'webhook';
      if (usesWebhook) await tryWebhook(actor, settings);
      const { position } = await handle.by(actor)(userDecider, streams.user(actor.id), {
        type: 'ChangeSettings',
        settings: await personal.seal(actor.id, settingsText(settings)),
        webhookSecret: usesWebhook && webhookSecret !== '' ? await vault.put(webhookSecret) : null,
        acceptUnpricedModels: settings.acceptUnpricedModels,
        quotaWarningThreshold,
      });
      return position;
    },
  };
}
