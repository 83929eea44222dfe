import type { Translation } from '../words/i18n.js';
import type { checksZh } from './checks.zh.js';

export const checksEn: Translation<typeof checksZh> = {
  'code.again': 'Again in {{seconds}} s',
  'code.send': 'Send code',
  'code.sent': 'The code has been sent',
  'human.again': 'Try again',
  'human.loading': 'The check that you are human is on its way',
  'human.unavailable': 'The check that you are human could not be loaded.',
  'human.wait': 'Wait until the check that you are human is done',
};
