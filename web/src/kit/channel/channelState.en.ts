import type { Translation } from '../words/i18n.js';
import type { channelStateZh } from './channelState.zh.js';

export const channelStateEn: Translation<typeof channelStateZh> = {
  'status.ENABLED': 'Enabled',
  'status.DISABLED': 'Disabled',
  'status.AUTO_DISABLED': 'Auto-disabled',
  'status.reason': '{{time}}: {{reason}}',
  'speed.untested': 'Untested',
  'speed.testedAt': 'Tested at {{time}}',
};
