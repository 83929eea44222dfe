import type { Translation } from '../kit/words/i18n.js';
import type { bindingsZh } from './bindings.zh.js';

export const bindingsEn: Translation<typeof bindingsZh> = {
  bind: 'Bind',
  'bind.label': 'Bind {{provider}}',
  bound: 'Bound',
  change: 'Change',
  email: 'E-mail',
  'email.address': 'New e-mail address',
  'email.bind': 'Bind an e-mail address',
  'email.change': 'Change the e-mail address',
  'email.code': 'Code from the mail',
  'email.missing': 'Enter the address and the code',
  'email.remove': 'Remove the e-mail address',
  'email.removeConfirm':
    'This account will have no address: a forgotten password cannot be replaced by mail then, and no notices come by mail.',
  'email.removed': 'The e-mail address has been removed',
  'email.unavailable': 'No mail is sent from here, so no address can be bound.',
  note: 'You can log in by the accounts that are bound.',
  notBound: 'Not bound',
  remove: 'Remove',
  title: 'Bound accounts',
  unbind: 'Unbind',
  'unbind.confirm': 'This {{provider}} account can no longer be used to sign in.',
  'unbind.label': 'Unbind {{provider}}',
  unbound: 'Unbound',
};
