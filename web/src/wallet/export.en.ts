import type { Translation } from '../kit/words/i18n.js';
import type { exportZh } from './export.zh.js';

export const exportEn: Translation<typeof exportZh> = {
  title: 'Export',
  note: 'Times are those of {{zone}}. A statement leads from the balance at the beginning of the month, by every change, to the one at its end, or now.',
  month: 'Month',
  'month.current': '{{month}} (so far)',
  usage: 'Usage (CSV)',
  statement: 'Statement (CSV)',
};
