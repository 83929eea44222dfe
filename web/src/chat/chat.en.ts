import type { Translation } from '../kit/words/i18n.js';
import type { chatZh } from './chat.zh.js';

export const chatEn: Translation<typeof chatZh> = {
  title: 'Chat',
  none: 'Please contact the administrator to configure chat links',
  broken: 'Chat link configuration error, contact the administrator',
  noToken: 'There is currently no enabled token: make sure a token is enabled',
  app: '{{name}} opens in an app of your device, and is given your token.',
  window:
    '{{name}} is not encrypted and cannot be shown in this page. Opened, it is given your token, which may cross the network in the clear.',
  open: 'Open {{name}}',
};
