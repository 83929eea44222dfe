import type { Translation } from '../kit/words/i18n.js';
import type { ordersZh } from './orders.zh.js';

export const ordersEn: Translation<typeof ordersZh> = {
  title: 'Payments',
  'filter.status': 'Status',
  'filter.id': 'Order',
  'filter.idHint': 'The whole trade number',
  empty: 'No quota has been ordered yet',
  'empty.search': 'No order fits the filter',
  refused: '{{count}} notices of payments have not been believed since the gateway was started; its log says more',
  'column.order': 'Order',
  'column.user': 'User',
  'column.learned': 'Learned by',
  'column.createdAt': 'Ordered',
  'column.changedAt': 'Changed',
  'learned.NOTICE': 'Notice',
  'learned.POLL': 'Asking',
  'learned.HAND': 'By hand',
  'learned.hand': 'Completed by {{name}}: {{reason}}',
  'action.recheck': 'Ask whether order {{id}} was paid',
  'action.complete': 'Complete order {{id}} by hand',
  'recheck.open': 'Whoever takes the money has none for this order yet',
  'recheck.done': 'The order was paid, and is credited',
  'complete.title': 'Complete order {{id}} by hand',
  'complete.body':
    'Make sure that the money has come. The quota is credited at once; who did it, and why, is kept for ever.',
  'complete.reason': 'Reason',
  'complete.missing': 'Say why',
  'complete.submit': 'Credit it',
  'complete.done': 'The order is completed',
};
