import type { Translation } from '../kit/words/i18n.js';
import type { exportZh } from './export.zh.js';

export const exportEn: Translation<typeof exportZh> = {
  title: 'Export',
  note: 'Times are those of {{zone}}. A statement leads from the balance at the beginning of the month, by every change, to the one at its end, or now.',
  month: 'Month',
  'month.current': '{{month}} (so far)',
  usage: 'Usage (CSV)',
  statement: 'Statement (CSV)',
  saved: '{{name}} has been downloaded',
  'failed.busy': 'Too many files at once: wait until others are there, and try again',
  'failed.rebuilding': 'The figures of statements are not ready, try again later',
  'failed.broken': 'The download broke off, and nothing was saved: try again',
  'failed.unreadable': 'Cannot be downloaded: the answer of the server cannot be read ({{status}})',
  'failed.other': 'Cannot be downloaded: {{reason}}',
};
