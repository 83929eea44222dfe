import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { defaultLanguage } from '../../domain/kernel/language.js';
import { readSettings } from '../../domain/options/stored-settings.js';
import { asMail, isSealHead, type Notification } from '../../domain/user/notification.js';
import type { ReadModels } from '../../projections/database.js';
import { userById } from '../../projections/models/user-queries.js';
import type { Mailer } from '../ports/outbound-ports.js';
import type { PersonalData, Sessions, Vault } from '../ports/storage-ports.js';
import { deliverSealHead } from './deliver-seal-head.js';
import { postWebhook, type WebhookOutcome, type WebhookPorts } from './webhook.js';

interface DeliveryPorts extends WebhookPorts {
  readonly db: ReadModels;
  readonly personal: Pick<PersonalData, 'open'>;
  readonly vault: Pick<Vault, 'get'>;
  readonly mailer: Mailer;
  readonly sessions: Pick<Sessions, 'languageOf'>;
}

/** `skipped`: there is no way to reach the user, and trying again will not help. */
export type NotificationOutcome = WebhookOutcome | { readonly ok: 'skipped'; readonly reason: string };

const skipped = (reason: string): NotificationOutcome => ({ ok: 'skipped', reason });

/** By mail or webhook, as the user's settings are now; heads of seals as the options are. */
export async function deliverNotification(
  ports: DeliveryPorts,
  id: UserId,
  notification: Notification,
): Promise<NotificationOutcome> {
  if (isSealHead(notification)) return deliverSealHead(ports, notification);
  const { db, personal, vault, mailer, settings } = ports;
  const user = await userById(db, id);
  if (user === undefined || user.deleted_at !== null) return skipped('the user is gone');
  const text = user.settings === null ? '' : await personal.open(id, user.settings);
  const { notifyType, webhookUrl, notificationEmail } = readSettings(text ?? '');
  const { to: addressed, aboutSecurity = false } = notification;
  if (notifyType === 'webhook' && !aboutSecurity) {
    const secret = user.webhook_secret === null ? null : await vault.get(user.webhook_secret);
    return postWebhook(ports, { url: webhookUrl, secret: secret ?? '' }, notification);
  }
  const own = user.email === null ? null : await personal.open(id, user.email);
  const to = addressed ?? ((aboutSecurity ? '' : notificationEmail) || (own ?? ''));
  if (to === '') return skipped('the user has no address');
  if (settings().mail === null) return skipped('no mail server is configured');
  try {
    await mailer.send({ to, ...asMail(notification, (await ports.sessions.languageOf(id)) ?? defaultLanguage) });
    return { ok: true };
  } catch (error) {
    if (error instanceof Failure && error.code === 'mail-failed')
      return { ok: false, reason: String(error.details.reason) };
    throw error;
  }
}
