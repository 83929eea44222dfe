import type { Translation } from '../words/i18n.js';
import type { proofZh } from './proof.zh.js';

export const proofEn: Translation<typeof proofZh> = {
  code: 'Code',
  'code.hint': 'The six digits your authenticator app shows, or a recovery code',
  'code.missing': 'Please enter a code',
  passkey: 'Use a passkey',
  mailCode: 'Code from the mail',
  'mailCode.hint': 'The eight digits sent to your e-mail address',
  'mailCode.send': 'Send a code',
  'mailCode.sent': 'The code was sent; look into your mail',
  password: 'Current password',
  'password.missing': 'Please enter your current password',
  'stepUp.explain': 'Before this is done, show once more that it is you.',
  'stepUp.submit': 'Confirm',
  'stepUp.title': 'Is it you?',
};
