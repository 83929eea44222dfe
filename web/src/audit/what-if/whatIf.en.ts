import type { Translation } from '../../kit/words/i18n.js';
import type { whatIfZh } from './whatIf.zh.js';

export const whatIfEn: Translation<typeof whatIfZh> = {
  title: 'What if',
  help: 'What the requests of a period would have cost by another price table or other ratios of groups, beside what they did cost. Nothing is changed.',
  question: 'Other prices',
  ask: 'Work it out',
  stop: 'Stop',
  progress: '{{percent}}% of the log has been read',
  'problem.TOO_MANY_ROWS': 'The period has too many users and models. Choose a shorter one.',
  'problem.UNAVAILABLE': 'The log cannot be read now. Try again later.',
  result: 'Result',
  calls: 'Requests',
  actual: 'Actual',
  hypothetical: 'Hypothetical',
  difference: 'Difference',
  dearer: 'Users who would pay more',
  'dearer.of': '{{dearer}} of {{users}}',
  unpriced: '{{count}} requests have no price by the file, and count with what they cost.',
  'by.user': 'By user',
  'by.model': 'By user and model',
  user: 'User',
  erased: 'Erased user {{id}}',
  model: 'Model',
  none: 'No requests in this period',
  more: 'The first {{shown}} of {{count}} rows are shown. The file has the first 10,000; all are for the command.',
  csv: 'Download CSV',
};
