import type { Translation } from '../words/i18n.js';
import type { exportZh } from './export.zh.js';

export const exportEn: Translation<typeof exportZh> = {
  saved: '{{name}} has been downloaded',
  'failed.busy': 'Too many files at once: wait until others are there, and try again',
  'failed.tooLarge': 'More than {{max}} lines match: choose a shorter time, or filter for less',
  'failed.rebuilding': 'The figures are not ready, try again later',
  'failed.broken': 'The download broke off, and nothing was saved: try again',
  'failed.unreadable': 'Cannot be downloaded: the answer of the server cannot be read ({{status}})',
  'failed.other': 'Cannot be downloaded: {{reason}}',
};
