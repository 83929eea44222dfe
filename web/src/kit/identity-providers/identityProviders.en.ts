import type { Translation } from '../words/i18n.js';
import type { identityProvidersZh } from './identityProviders.zh.js';

export const identityProvidersEn: Translation<typeof identityProvidersZh> = {
  or: 'or',
  signIn: 'Log in with {{provider}}',
  'telegram.failed': 'The button of Telegram could not be loaded.',
  'telegram.loading': 'The button of Telegram is on its way',
  'telegram.title': 'Log in with Telegram',
  'wechat.code': 'Code',
  'wechat.hint':
    'Scan the picture with WeChat, follow the account and ask it for a code. It is good for three minutes.',
  'wechat.missing': 'Please enter the code',
  'wechat.picture': 'QR code of the account',
  'wechat.title': 'Log in with WeChat',
};
