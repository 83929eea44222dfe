import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { TelegramSignIn } from '../application/ports/identity-provider-ports.js';
import type { Instant } from '../domain/kernel/instant.js';

/*
 * What Telegram's widget hands over, signed with the bot's token:
 * https://core.telegram.org/widgets/login#checking-authorization
 */

/** What the widget signs, in the order it signs it. What clients add is neither signed nor looked at. */
const signed = ['auth_date', 'first_name', 'id', 'last_name', 'photo_url', 'username'] as const;

const telegramLifetimeMs = 10 * 60_000;
/** How far Telegram's clock may be ahead of ours. */
const maxAheadMs = 60_000;

/** Whether Telegram has signed it for the bot, not long ago. */
export function isSignedByTelegram(botToken: string, given: TelegramSignIn, now: Instant): boolean {
  const lines = signed.flatMap((name) => (given[name] === undefined ? [] : [`${name}=${given[name]}`]));
  const key = createHash('sha256').update(botToken, 'utf8').digest();
  const expected = createHmac('sha256', key).update(lines.join('\n'), 'utf8').digest();
  if (!/^[0-9a-f]{64}$/.test(given.hash) || !timingSafeEqual(Buffer.from(given.hash, 'hex'), expected)) return false;
  if (!/^[1-9]\d{0,15}$/.test(given.id) || !/^\d{1,12}$/.test(given.auth_date)) return false;
  const age = now - Number(given.auth_date) * 1000;
  return age >= -maxAheadMs && age <= telegramLifetimeMs;
}
