import { Failure } from '../../domain/kernel/failure.js';
import { asMail, type Notification } from '../../domain/user/notification.js';
import type { Mailer } from '../ports/outbound-ports.js';
import type { NotificationOutcome } from './deliver-notification.js';
import { postWebhook, type WebhookPorts } from './webhook.js';

interface SealHeadDelivery extends WebhookPorts {
  readonly mailer: Mailer;
}

const skipped = (reason: string): NotificationOutcome => ({ ok: 'skipped', reason });

/** To where the options say now: its address is nobody's settings. */
export async function deliverSealHead(
  ports: SealHeadDelivery,
  notification: Notification,
): Promise<NotificationOutcome> {
  const { mailer, secretOf, settings } = ports;
  const { text, mail } = settings();
  const way = text('general_setting.seal_head_delivery');
  const address = text('general_setting.seal_head_address').trim();
  if (way !== 'webhook' && way !== 'mail') return skipped('the head of the seals is not sent any more');
  if (address === '') return skipped('the head of the seals has no address');
  if (way === 'webhook') {
    const secret = await secretOf('general_setting.seal_head_secret');
    return postWebhook(ports, { url: address, secret: secret ?? '' }, notification);
  }
  if (mail === null) return skipped('no mail server is configured');
  try {
    await mailer.send({ to: address, ...asMail(notification, 'en') });
    return { ok: true };
  } catch (error) {
    if (error instanceof Failure && error.code === 'mail-failed')
      return { ok: false, reason: String(error.details.reason) };
    throw error;
  }
}
