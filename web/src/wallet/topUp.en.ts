import type { Translation } from '../kit/words/i18n.js';
import type { topUpZh } from './topUp.zh.js';

export const topUpEn: Translation<typeof topUpZh> = {
  title: 'Buy quota',
  'amount.dollars': 'Amount (dollars of quota)',
  'amount.quota': 'Amount (quota)',
  'amount.least': 'At least {{minimum}}',
  method: 'Pay by',
  'method.missing': 'Choose how to pay',
  price: 'To be paid',
  'price.unknown': '—',
  pay: 'Go and pay',
  leaving: 'Going to the payment page…',
  'orders.title': 'Orders',
  'orders.empty': 'No quota has been ordered yet',
  'column.order': 'Order',
  'column.createdAt': 'Ordered',
  'order.look': 'Ask whether order {{id}} was paid',
  'return.waiting': 'Waiting to hear of the payment…',
  'return.completed': 'Paid: {{quota}} have been added',
  'return.expired': 'Order {{id}} has expired, nothing was bought',
  'return.late':
    'Nothing has been heard of the payment yet. When it comes it is credited by itself; the order below says so',
};
