import type { UserSettings } from '../user/user-fields.js';

/* What the legacy contract keeps of a user's settings: JSON text. */

type StoredSettings = Pick<UserSettings, 'notifyType' | 'webhookUrl' | 'notificationEmail'>;

/** Without the webhook's secret, which is in no text. */
export function settingsText(settings: UserSettings): string {
  const { notifyType, quotaWarningThreshold, webhookUrl, notificationEmail } = settings;
  return JSON.stringify({
    notify_type: notifyType,
    quota_warning_threshold: quotaWarningThreshold,
    accept_unset_model_ratio_model: settings.acceptUnpricedModels,
    ...(notifyType === 'webhook' ? { webhook_url: webhookUrl } : {}),
    ...(notifyType === 'email' && notificationEmail !== '' ? { notification_email: notificationEmail } : {}),
  });
}

/** `text`: '' until the user has chosen. */
export function readSettings(text: string): StoredSettings {
  const stored = (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>;
  const member = (name: string): string => {
    const value = stored[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    notifyType: member('notify_type') === 'webhook' ? 'webhook' : 'email',
    webhookUrl: member('webhook_url'),
    notificationEmail: member('notification_email'),
  };
}
