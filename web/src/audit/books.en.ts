import type { Translation } from '../kit/words/i18n.js';
import type { booksZh } from './books.zh.js';

export const booksEn: Translation<typeof booksZh> = {
  title: 'Closed periods',
  help: 'When a period is closed, what every account held at its end is recorded, with the seal over it. Verification holds each closing against the log.',
  table: 'Closed periods',
  empty: 'No period has been closed yet',
  'column.period': 'Period',
  'column.until': 'Over at',
  'column.position': 'Position',
  'column.entries': 'Balances',
  'column.seal': 'Seal',
  'column.archive': 'Archive',
  archived: '{{events}} events',
  copy: 'Copy the seal',
  'balances.title': 'Balances at the end of {{period}}',
  'balances.table': 'Closing balances',
  'balances.empty': 'There are no accounts',
  'column.account': 'Account',
  'column.amount': 'Balance',
};
