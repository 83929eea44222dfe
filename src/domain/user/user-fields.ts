import { urlIn } from '../kernel/address.js';
import { checkText, checkWellFormed, isLonger, type TextBound } from '../kernel/bounds.js';
import { Failure, invalidField } from '../kernel/failure.js';
import { checkLegible } from '../kernel/look-alike.js';

/* What somebody says about a user, and how much of it there may be. Most of it is sealed before it gets into an event. */

const maxUsernameLength = 12;

export function checkUsername(username: string): void {
  if (username.trim() === '') throw new Failure('username-blank', { field: 'username' });
  if (isLonger(username, maxUsernameLength))
    throw new Failure('username-too-long', { field: 'username', max: maxUsernameLength });
  checkText('username', username, { max: maxUsernameLength });
  checkLegible('username', username);
}

export function checkPassword(password: string): void {
  if (isLonger(password, 20) || !isLonger(password, 7))
    throw new Failure('password-length', { field: 'password', min: 8, max: 20 });
  checkWellFormed('password', password);
}

export function checkDisplayName(displayName: string): void {
  if (isLonger(displayName, 20)) throw new Failure('display-name-too-long', { field: 'displayName', max: 20 });
  checkText('displayName', displayName, { max: 20 });
}

/** As addresses are compared: nobody gives two people addresses that differ in case only. */
export const normalEmail = (email: string): string => email.trim().toLowerCase();

/** What is typed to sign in: longer than any name, address or password can be, and short enough to be hashed. */
const typedText: TextBound = { max: 256 };

export function checkTyped(field: 'username' | 'password', text: string): void {
  if (text.length > typedText.max) throw invalidField(field, `at most ${typedText.max} characters`);
  checkWellFormed(field, text);
}

export interface UserSettings {
  readonly notifyType: 'email' | 'webhook';
  readonly quotaWarningThreshold: number;
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  readonly notificationEmail: string;
  readonly acceptUnpricedModels: boolean;
}

/** `allowHttp`: webhooks need no encryption. */
export function checkUserSettings(settings: UserSettings, allowHttp: boolean): void {
  const { notifyType, quotaWarningThreshold, webhookUrl, webhookSecret, notificationEmail } = settings;
  if (!(quotaWarningThreshold > 0))
    throw new Failure('warning-threshold-invalid', { field: 'quotaWarningThreshold', allowed: 'a number above 0' });
  if (quotaWarningThreshold > Number.MAX_SAFE_INTEGER)
    throw invalidField('quotaWarningThreshold', `a number up to ${Number.MAX_SAFE_INTEGER}`);
  checkText('webhookUrl', webhookUrl, { max: 1024 });
  checkText('webhookSecret', webhookSecret, { max: 256 });
  checkText('notificationEmail', notificationEmail, { max: 254 });
  if (notifyType === 'webhook') {
    if (webhookUrl === '') throw new Failure('webhook-url-missing', { field: 'webhookUrl' });
    const schemes = allowHttp ? ['https:', 'http:'] : ['https:'];
    if (!schemes.includes(urlIn(webhookUrl)?.protocol ?? ''))
      throw new Failure('webhook-url-invalid', { field: 'webhookUrl', allowed: 'an https:// address' });
  }
  if (notifyType === 'email' && notificationEmail !== '' && !notificationEmail.includes('@'))
    throw new Failure('notification-email-invalid', { field: 'notificationEmail', allowed: 'an e-mail address' });
}
