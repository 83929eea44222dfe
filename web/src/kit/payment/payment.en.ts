import type { Translation } from '../words/i18n.js';
import type { paymentZh } from './payment.zh.js';

export const paymentEn: Translation<typeof paymentZh> = {
  'column.status': 'Status',
  'column.quota': 'Quota',
  'column.money': 'Money',
  'column.method': 'Paid by',
  'status.OPEN': 'Waiting for payment',
  'status.COMPLETED': 'Completed',
  'status.EXPIRED': 'Expired',
  'status.REFUNDED': 'Refunded',
  'status.DISPUTED': 'Disputed',
  refunded: '{{money}} {{currency}} were refunded',
  disputed: 'The payer’s bank has the money back, unless the dispute is won',
  late: 'Paid after it had expired, and credited',
  'method.alipay': 'Alipay',
  'method.wxpay': 'WeChat Pay',
  'method.stripe': 'Stripe',
};
