import type { Translation } from '../kit/words/i18n.js';
import type { setupZh } from './setup.zh.js';

export const setupEn: Translation<typeof setupZh> = {
  'field.code': 'Set-up code',
  'field.codeHint': 'In the log of the gateway, and in the link there that opens this page: it shows that you run it',
  'field.confirm': 'Confirm password',
  'field.password': 'Password',
  'field.passwordHint': 'At least 8 characters',
  'field.username': 'Administrator user name',
  lead: 'Create the super administrator and choose what this gateway is used for. This is done once.',
  mode: 'Usage mode',
  'mode.demo': 'Demo site',
  'mode.demo.short': 'Lets others look at the features',
  'mode.demo.text':
    'For showing what the system can do. A badge in the top bar says so. Do not keep real keys in such a site.',
  'mode.explain': 'How the modes differ',
  'mode.external': 'External',
  'mode.external.short': 'Serves many users (default)',
  'mode.external.text':
    'For gateways that serve many users. They are charged by quota, and models without a price cannot be called.',
  'mode.self': 'Self-use',
  'mode.self.short': 'For yourself only',
  'mode.self.text': 'For personal use. The top bar offers no registration, and models without a price can be called.',
  submit: 'Set up the system',
  succeeded: 'The system is set up, opening the console…',
  title: 'Set up the system',
  'wrong.code': 'Enter the code from the log of the gateway',
  'wrong.mismatch': 'The two passwords do not match',
  'wrong.short': 'The password must have at least 8 characters',
  'wrong.username': 'Enter the administrator user name',
};
