import type { errorsZh } from './errors.zh.js';
import type { Translation } from './i18n.js';

export const errorsEn: Translation<typeof errorsZh> = {
  demoOnly: 'This site is for demonstration only, there is no server',
  internal: 'Internal server error, please contact the administrator',
  other: 'Error: {{message}}',
  tooMany: 'Too many requests, try again later',
  unreachable: 'Unable to connect to server',
  unreadable: 'The answer of the server cannot be read',
};
