import type { Translation } from '../kit/words/i18n.js';
import type { walletZh } from './wallet.zh.js';

export const walletEn: Translation<typeof walletZh> = {
  title: 'Wallet',
  'balance.title': 'Balance',
  'balance.available': 'Balance',
  'balance.used': 'Used so far',
  'balance.requests': 'Requests',
  'redeem.title': 'Redeem a code',
  'redeem.code': 'Code',
  'redeem.hint': '32 characters; each code can be used once',
  'redeem.submit': 'Redeem',
  'redeem.done': 'Redeemed: your balance has grown by {{quota}}',
  'redeem.missing': 'Enter a code',
  'redeem.link': 'Buy a code',
};
